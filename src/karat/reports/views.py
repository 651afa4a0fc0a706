"""One section, many views of it: the reader chooses labels, direction and measure.

A view is a dictionary with `key` (one value per axis), a `table` that says everything in text, and whatever
its plot needs. The first view is what the page shows before anything is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from karat.measures import Named
from karat.scores.tables import MISSING, show_value

AXES = ("Labels", "Direction", "Measure")
DIRECTIONS = {
    "mean": "both directions, mean",
    "both": "sum of both directions",
    "i2t": "image → text",
    "t2i": "text → image",
}
SUMS = ("RSUM",)
Cell = str | dict[str, str]


def cell(text: str, below: str = "", kind: str = "") -> Cell:
    """Return a cell of a table: its text, a smaller line below it, and its look.

    >>> cell("41.2"), cell("41.2", "40.1 to 42.0", "first")
    ('41.2', {'t': '41.2', 's': '40.1 to 42.0', 'c': 'first'})
    """
    if not below and not kind:
        return text
    return {"t": text, **({"s": below} if below else {}), **({"c": kind} if kind else {})}


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> dict[str, Any]:
    """Return a table as plain data; the first cell of each row is its heading."""
    return {"caption": caption, "head": list(head), "rows": [list(row) for row in rows]}


def is_share(measure: Named) -> bool:
    """Whether a value lies between 0 and 1: not a rank, and not a sum of shares such as RSUM.

    >>> from karat.measures import parse_measure
    >>> is_share(parse_measure("R@1")), is_share(parse_measure("RSUM")), is_share(parse_measure("MedR"))
    (True, False, False)
    """
    return measure.unit == "fraction" and measure.name not in SUMS


def shown(measure: Named, value: float | None) -> str:
    """Return a value for people: with its unit, since readers may know nothing of it.

    >>> from karat.measures import parse_measure
    >>> shown(parse_measure("R@1"), 0.41236), shown(parse_measure("MedR"), 3.0)
    ('41.2%', '3')
    """
    if value is None:
        return MISSING
    if measure.unit == "rank":
        return show_value(measure, value)
    return f"{100 * value:.1f}{'%' if is_share(measure) else ''}"


def interval(measure: Named, low: float | None, high: float | None) -> str:
    """Return an interval for people, or nothing.

    >>> from karat.measures import parse_measure
    >>> interval(parse_measure("R@1"), 0.402, 0.4217)
    '40.2–42.2'
    """
    if low is None or high is None:
        return ""
    if measure.unit == "rank":
        return f"{show_value(measure, low)}–{show_value(measure, high)}"
    return f"{100 * low:.1f}–{100 * high:.1f}"


def scaled(measure: Named, value: float | None) -> float | None:
    """Return a value as plots draw it: percent, or a rank.

    >>> from karat.measures import parse_measure
    >>> scaled(parse_measure("R@1"), 0.41236)
    41.236
    """
    if value is None:
        return None
    return float(f"{value if measure.unit == 'rank' else 100 * value:.10g}")
