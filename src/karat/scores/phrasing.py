"""Coefficients and intervals as people read them."""

from __future__ import annotations

from karat.stats.intervals import Intervals


def signed(number: float, digits: int = 2) -> str:
    """Return a coefficient as people read it: a true minus, no minus before zero, a dash for NaN.

    >>> signed(-0.126), signed(-0.001), signed(float("nan"))
    ('−0.13', '0.00', '—')
    """
    if number != number:
        return "—"
    text = f"{number:.{digits}f}"
    return text[1:] if text.startswith("-") and float(text) == 0 else text.replace("-", "−")


def ends(low: float, high: float) -> str:
    """Return the ends of an interval, short where no minus can be mistaken for the dash.

    >>> ends(0.502, 0.531), ends(-0.2, 0.3)
    ('0.50–0.53', '−0.20 to 0.30')
    """
    dash = "–" if low >= 0 else " to "
    return f"{signed(low)}{dash}{signed(high)}"


def how_intervals(intervals: Intervals, drawn: str) -> str:
    """Return how intervals were made, as a sentence.

    >>> how_intervals(Intervals(), "systems")
    'In brackets: 95% percentile intervals, 10,000 resamples of systems.'
    """
    level = f"{100 * intervals.level:g}% {intervals.shown} intervals"
    return f"In brackets: {level}, {intervals.resamples:,} resamples of {drawn}."
