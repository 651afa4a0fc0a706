"""Coefficients and intervals as people read them."""

from __future__ import annotations

from karat.scores.tables import MISSING
from karat.stats.estimate import Estimate
from karat.stats.intervals import Intervals


def signed(number: float, digits: int = 2) -> str:
    """Return a coefficient as people read it: a true minus, no minus before zero, a dash for NaN.

    >>> signed(-0.126), signed(-0.001), signed(float("nan"))
    ('−0.13', '0.00', '—')
    """
    if number != number:
        return MISSING
    text = f"{number:.{digits}f}"
    return text[1:] if text.startswith("-") and float(text) == 0 else text.replace("-", "−")


def ends(low: float, high: float, digits: int = 2) -> str:
    """Return the ends of an interval, short where no minus can be mistaken for the dash.

    >>> ends(0.502, 0.531), ends(-0.2, 0.3), ends(-0.001, 0.2)
    ('0.50–0.53', '−0.20 to 0.30', '0.00–0.20')
    """
    if low != low:
        return MISSING
    dash = " to " if signed(low, digits).startswith("−") else "–"
    return f"{signed(low, digits)}{dash}{signed(high, digits)}"


def with_interval(one: Estimate, digits: int = 2) -> str:
    """Return a number and its interval as people read them.

    >>> with_interval(Estimate(0.517, 0.502, 0.531, 0.95, "percentile", 10, 10))
    '0.52 (0.50–0.53)'
    """
    if one.value != one.value:
        return "not defined"
    return f"{signed(one.value, digits)} ({ends(one.low, one.high, digits)})"


def percent(one: Estimate, digits: int = 1) -> str:
    """Return a share and its interval in percent.

    >>> percent(Estimate(0.8604, 0.8571, 0.8636, 0.95, "percentile", 10, 10))
    '86.0% (85.7–86.4)'
    """
    if one.value != one.value:
        return "not defined"
    return f"{100 * one.value:.{digits}f}% ({ends(100 * one.low, 100 * one.high, digits)})"


def or_none(number: float) -> float | None:
    """Return a number as json holds it: None where it is not defined.

    >>> or_none(0.5), or_none(float("nan"))
    (0.5, None)
    """
    return None if number != number else number


def how_intervals(intervals: Intervals, drawn: str) -> str:
    """Return how intervals were made, as a sentence.

    >>> how_intervals(Intervals(), "systems")
    'In brackets: 95% percentile intervals, 10,000 resamples of systems.'
    """
    level = f"{100 * intervals.level:g}% {intervals.shown} intervals"
    return f"In brackets: {level}, {intervals.resamples:,} resamples of {drawn}."
