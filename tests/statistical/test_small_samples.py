"""What karat accepts holds, from five images on; ``make test-statistical`` writes the table of the page."""

import pytest

from karat.stats.few_clusters import FEWEST_OTHER
from tests.statistical.small_samples import BEGIN, END, PAGE, markdown, table, write_page

pytestmark = pytest.mark.statistical


@pytest.fixture(scope="module")
def computed():
    return table()


def test_the_page_has_the_table(computed, capsys):
    text = markdown(*computed)
    with capsys.disabled():
        print(f"\n{text}")
    write_page(text)
    assert text in PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]


def test_intervals_hold_or_warn_or_are_refused(computed):
    covered, _ = computed
    for (name, direction, images), found in covered.items():
        where = (name, direction, images, found)
        if name == "MedR" and images < FEWEST_OTHER:
            assert found.given is None, where
            continue
        # Ranks around the median are whole numbers: nothing lies between two of them.
        whole = name == "MedR" and found.given >= 0.93
        assert 0.93 <= found.given <= 0.97 or found.noted > 0.5 or whole, where
        # What has a note holds more often than it says, but for ranks.
        assert found.given >= {"MeanR": 0.8, "MedR": 0.9}.get(name, 0.93), where


def test_tests_keep_their_level(computed):
    _, false = computed
    for where, found in false.items():
        assert found.randomisation <= 0.065, (where, found)
        assert found.bootstrap is None or found.bootstrap <= 0.075, (where, found)
        assert (found.bootstrap is None) == (where[2] < 50)
        assert found.mcnemar is None or found.mcnemar <= 0.065, (where, found)
