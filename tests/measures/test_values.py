"""Values as people read them: what a measure declares decides, never its name or class."""

import pytest

from karat.measures import MEASURES, Measure, is_in_percent, is_share, parse_measure, scale_value, show_value
from karat.measures.measure import Sum


@pytest.mark.parametrize(
    ("name", "value", "table", "report"),
    [
        ("R@1", 0.41236, "41.24", "41.2%"),
        ("PMRP", 0.41236, "41.24", "41.2%"),
        ("RSUM", 5.173, "517.30", "517.3"),
        ("NSUM(cider)", 3.12, "312.00", "312.0"),
        ("NSUM(spice, gt=no)", 0.4, "40.00", "40.0"),
        ("MedR", 3.0, "3", "3"),
        ("MeanR", 4.14375, "4.14", "4.14"),
    ],
)
def test_fractions_sums_and_ranks(name, value, table, report):
    measure = parse_measure(name)
    assert show_value(measure, value) == table
    assert show_value(measure, value, digits=1, mark=True) == report
    assert show_value(measure, None, mark=True) == "—"
    assert scale_value(measure, value) == pytest.approx(float(report.rstrip("%")), abs=0.05)


def test_every_measure_declares_what_it_is():
    for name in MEASURES:
        kind = MEASURES[name]
        assert kind.unit in ("fraction", "sum", "rank")
        assert (kind.unit == "sum") == issubclass(kind, Sum), name
        assert is_in_percent(kind) == (kind.unit != "rank")
        assert is_share(kind) == (kind.unit == "fraction")


def test_a_measure_of_ones_own_is_read_as_it_says():
    class Doubled(Measure):
        name = "doubled"
        unit = "sum"
        depth = values = None

    assert show_value(Doubled(), 1.5, digits=1, mark=True) == "150.0"
    assert not is_share(Doubled())
