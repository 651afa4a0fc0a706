"""Counting how long things take, in buckets."""

from __future__ import annotations

from bisect import bisect_left

SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


class Histogram:
    """How many values fell below each bound; one thread writes, any may read.

    Parameters
    ----------
    bounds
        Rising; a value on a bound counts below it.

    Examples
    --------
    >>> took = Histogram((0.1, 1.0))
    >>> took.add(0.05), took.add(0.1), took.add(7)
    (None, None, None)
    >>> took.rising(), took.count, took.sum
    ([2, 2, 3], 3, 7.15)
    """

    def __init__(self, bounds: tuple[float, ...] = SECONDS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self.counts)

    def rising(self) -> list[int]:
        """Return how many values are at most each bound; the last is how many there are."""
        total, found = 0, []
        for count in self.counts:
            total += count
            found.append(total)
        return found
