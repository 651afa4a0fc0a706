"""What every estimate carries: its interval, how that was made, and from how much."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Parameters
    ----------
    value
        The point estimate; NaN where the data do not determine it.
    low, high
        The ends of the interval.
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
        made = f"{100 * self.level:g}% {self.method}, {how_many(self.n, self.effective)}"
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g}, {made})"


def how_many(n: int, effective: int) -> str:
    """Return how many values something was made of, and in how many clusters where that is fewer.

    >>> how_many(1000, 1000), how_many(1000, 200)
    ('n = 1,000', 'n = 1,000 in 200 clusters')
    """
    return f"n = {n:,}" if effective == n else f"n = {n:,} in {effective:,} clusters"
