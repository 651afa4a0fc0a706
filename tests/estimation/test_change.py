"""Expected changes equal vetting by hand: enumeration over all labels."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from estimation.enumeration import (
    DEFINITIONS,
    average_precision,
    changes,
    random_lists,
    ranked_of,
)
from estimation.equation_12 import ap_table
from karat.estimation import expected_change, expected_values, printed_change
from karat.estimation.change import covariances
from karat.estimation.expectation import form_of
from karat.measures import Ranked, parse_measure


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("seed", range(3))
def test_closed_forms_equal_enumeration(name, seed):
    places, p = random_lists(seed, number=4, most=7)
    by_hand = [x for query in zip(places, p) for x in changes(DEFINITIONS[name], *query)]
    change = expected_change(ranked_of(places, p), parse_measure(name))
    np.testing.assert_allclose(change, by_hand, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_ap_with_a_known_number_of_relevant_items(seed):
    places, p = random_lists(seed, number=4, most=7)
    number = np.arange(len(p))
    by_hand = [
        x
        for n, query in zip(number.tolist(), zip(places, p))
        for x in changes(average_precision(number=n), *query)
    ]
    ranked = replace(ranked_of(places, p), total=number.astype(float))
    change = expected_change(ranked, parse_measure("AP"))
    np.testing.assert_allclose(change, by_hand, rtol=0, atol=1e-12)


def test_ap_of_a_long_list_is_the_difference_of_expectations():
    rng = np.random.default_rng(0)
    p = rng.beta(0.1, 1, 400)
    p[:20] = rng.integers(0, 2, 20)
    ranked = Ranked.from_places([(np.arange(400) * 3 + 1.0).tolist()], [p.tolist()], size=1200)
    measure = parse_measure("AP")
    change = expected_change(ranked, measure)
    for row in (20, 21, 100, 399):
        ends = []
        for label in (0.0, 1.0):
            vetted = p.copy()
            vetted[row] = label
            ends.append(expected_values(replace(ranked, grade=vetted), measure)[0])
        assert change[row] == pytest.approx(
            2 * p[row] * (1 - p[row]) * abs(ends[1] - ends[0]), rel=0, abs=3e-13
        )


@pytest.mark.parametrize("name", ["AP", "R@5", "RP"])
def test_covariances_converge_to_enumeration(name):
    places, p = random_lists(8, number=4, most=7)
    ranked, draws = ranked_of(places, p), 20_000
    by_hand = np.array([x for query in zip(places, p) for x in changes(DEFINITIONS[name], *query)])
    change = 2 * np.abs(covariances(ranked, parse_measure(name), draws, 4))
    # Values lie in [0, 1], so the centred products have at most the variance of the label.
    error = 2 * np.sqrt(ranked.grade * (1 - ranked.grade) / draws)
    assert (np.abs(change - by_hand) <= 4 * error).all()


@pytest.mark.parametrize("name", ["P@3", "AP", "R@3", "RP", "nDCG@3"])
def test_certain_labels_change_nothing(name):
    ranked = ranked_of([[1, 2, 3, 4]], [[0.0, 0.4, 0.0, 1.0]])
    change = expected_change(ranked, parse_measure(name))
    assert change[[0, 2, 3]].tolist() == [0.0] * 3
    assert change[1] > 0


def test_unknown_probabilities():
    ranked = Ranked.from_places([[1, 2, 3], [1, 2, 3]], [[0.5, 0.5, np.nan], [0.5, 0.5, 0.5]], size=9)
    assert expected_change(ranked, parse_measure("P@2")).tolist() == [0.25, 0.25, 0.0, 0.25, 0.25, 0.0]
    assert np.isnan(expected_change(ranked, parse_measure("AP"))).tolist() == [True] * 3 + [False] * 3


def test_equation_12_as_printed():
    """r_j p_j (1 − p_j) / N by hand: the vetted second row counts as a place, not as unvetted."""
    ranked = Ranked.from_places([[1, 2, 3, 5]], [[0.5, 1.0, 0.2, 0.3]], size=9)
    by_hand = [0.0, 0.0, 1 / 3 * 0.16 / 2, 2 / 5 * 0.21 / 2]
    np.testing.assert_allclose(printed_change(ranked), by_hand, rtol=0, atol=1e-15)
    np.testing.assert_allclose(printed_change(ranked, np.array([4])), np.array(by_hand) / 2, atol=1e-15)


def test_the_page_shows_how_far_equation_12_is_off():
    page = (Path(__file__).parents[2] / "docs" / "estimate-formulas.md").read_text(encoding="utf-8")
    assert "\n".join(ap_table()) in page


def test_a_known_number_gives_other_signs():
    """With random N, a relevant item at the end of the list lowers AP; G_j says that it raises it."""
    ranked = Ranked.from_places([[1, 2, 50]], [[0.9, 0.8, 0.5]], size=50)
    _, random = form_of(ranked, parse_measure("AP")).expect(ranked, change=True)
    fixed = replace(ranked, total=ranked.sum(ranked.grade))
    _, known = form_of(fixed, parse_measure("AP")).expect(fixed, change=True)
    assert random[2] < 0 < known[2]
