"""What every estimate has: its interval, how that was computed, and from how many values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from karat._util import ends, or_none, signed


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Parameters
    ----------
    value
        The point estimate; NaN where the data do not determine it.
    low, high
        The ends of the interval; NaN where there are too few values for one.
    level
        How often such an interval is meant to hold: 0.95.
    method
        How it was made: "percentile", "BCa".
    n
        How many values it was made of.
    effective
        How many of them move independently: the clusters that were resampled.

    Examples
    --------
    >>> Estimate(0.4123, 0.3807, 0.4441, 0.95, "percentile", 1000, 200)
    0.4123 (0.3807 to 0.4441, 95% percentile, n = 1,000 in 200 clusters)
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: int
    effective: int

    def __repr__(self) -> str:
        size = how_many(self.n, self.effective)
        if self.low != self.low and self.value == self.value:
            return f"{self.value:.4g} (no interval, {size})"
        made = f"{100 * self.level:g}% {self.method}, {size}"
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g}, {made})"


def how_many(n: int, effective: int) -> str:
    """Return how many values something was made of, and in how many clusters where that is fewer.

    >>> how_many(1000, 1000), how_many(1000, 200)
    ('n = 1,000', 'n = 1,000 in 200 clusters')
    """
    return f"n = {n:,}" if effective == n else f"n = {n:,} in {effective:,} clusters"


def estimate_record(estimate: Estimate) -> dict[str, Any]:
    """Return the keys of an estimate in a record; None where it is not defined."""
    return {**{key: or_none(getattr(estimate, key)) for key in ("value", "low", "high")}, "n": estimate.n}


def with_interval(estimate: Estimate, digits: int = 2) -> str:
    """Return a number and its interval as people read them.

    >>> with_interval(Estimate(0.517, 0.502, 0.531, 0.95, "percentile", 10, 10))
    '0.52 (0.50–0.53)'
    >>> with_interval(Estimate(1.0, float("nan"), float("nan"), 0.95, "percentile", 3, 3))
    '1.00 (no interval)'
    """
    if estimate.value != estimate.value:
        return "not defined"
    if estimate.low != estimate.low:
        return f"{signed(estimate.value, digits)} (no interval)"
    return f"{signed(estimate.value, digits)} ({ends(estimate.low, estimate.high, digits)})"


def percent(estimate: Estimate) -> str:
    """Return a share and its interval in percent.

    >>> percent(Estimate(0.8604, 0.8571, 0.8636, 0.95, "percentile", 10, 10))
    '86.0% (85.7–86.4)'
    """
    if estimate.value != estimate.value:
        return "not defined"
    if estimate.low != estimate.low:
        return f"{100 * estimate.value:.1f}% (no interval)"
    return f"{100 * estimate.value:.1f}% ({ends(100 * estimate.low, 100 * estimate.high, 1)})"
