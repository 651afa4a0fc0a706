"""Values as people read them, for everything that prints or draws a value: a measure declares its unit."""

from __future__ import annotations

from karat._util import MISSING
from karat.measures.measure import Named


def show_value(measure: Named, value: float | None, digits: int = 2, mark: bool = False) -> str:
    """Return a value as people read it.

    Fractions are in percent. Sums of fractions are sums of percentages, as papers print RSUM, never with a
    percent sign. Ranks are as they are.

    Parameters
    ----------
    measure
        Whose value it is.
    value
        As the measure returns it; None where there is none.
    digits
        How many digits a percentage has after the point.
    mark
        Whether a fraction gets its percent sign, for readers who may know nothing of the measure.

    Examples
    --------
    >>> from karat.measures import parse_measure
    >>> show_value(parse_measure("R@1"), 0.41236), show_value(parse_measure("R@1"), 0.41236, 1, mark=True)
    ('41.24', '41.2%')
    >>> show_value(parse_measure("RSUM"), 5.173), show_value(parse_measure("RSUM"), 5.173, 1, mark=True)
    ('517.30', '517.3')
    >>> show_value(parse_measure("MedR"), 3.0), show_value(parse_measure("MeanR"), 4.14375)
    ('3', '4.14')
    """
    if value is None:
        return MISSING
    if not is_in_percent(measure):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{scale_value(measure, value):.{digits}f}" + ("%" if mark and is_share(measure) else "")


def scale_value(measure: Named, value: float) -> float:
    """Return a value on the scale that people read: percent, or a rank.

    >>> from karat.measures import parse_measure
    >>> scale_value(parse_measure("R@1"), 0.25), scale_value(parse_measure("MedR"), 3.0)
    (25.0, 3.0)
    """
    return 100 * value if is_in_percent(measure) else value


def is_in_percent(measure: Named) -> bool:
    """Whether values are read in percent: fractions, and sums of them.

    >>> from karat.measures import parse_measure
    >>> [is_in_percent(parse_measure(name)) for name in ("R@1", "RSUM", "MedR")]
    [True, True, False]
    """
    return measure.unit != "rank"


def is_share(measure: Named) -> bool:
    """Whether a value lies between 0 and 1: not a rank, and not a sum of fractions.

    >>> from karat.measures import parse_measure
    >>> [is_share(parse_measure(name)) for name in ("R@1", "RSUM", "NSUM(cider)", "MedR")]
    [True, False, False, False]
    """
    return measure.unit == "fraction"
