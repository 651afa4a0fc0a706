"""Few clusters: intervals where resampling promises more than it keeps.

Resampling five images never draws a sixth. Of a run that answers 81% of all images, the percentile interval
of five drawn ones holds the 81% in 61% of samples, and where all five are answered it has no width. So
there are other intervals for fewer than `FEW` clusters, and for shares with fewer than `BORDER` on one side:

- of a share, those of Clopper and Pearson (Biometrika 1934), with the effective number of queries of Korn and
  Graubard (Survey Methodology 1998) where values are not 0 or 1, or come in clusters;
- of a mean rank, Student's t on the logarithm; of a difference, Student's t;
- of a median, still the resampled one, from `FEWEST_OTHER` clusters on.

With fewer than `FEWEST` clusters there is no interval. `docs/how-sure.md` has the measured coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.stats.resampling import check_level

if TYPE_CHECKING:
    from karat.stats.samples import Sample

FEWEST = 5
"""Fewer clusters have no interval."""
FEWEST_OTHER = 10
"""Nor have medians, correlations and other numbers that are not means, of fewer than these."""
FEW = 30
"""From this many clusters on, resampling is good enough for most numbers."""
BORDER = 10
"""A share needs so many clusters' worth of hits, and of misses, to be resampled."""
EXACT, STUDENT = "Clopper–Pearson", "Student's t"
"""The methods that replace resampling, as people write them."""

Ends = tuple[float, float]
NO_ENDS: Ends = (float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class Spread:
    """How a mean over clusters spreads.

    Parameters
    ----------
    moves
        By how much each cluster moves the mean away from what the others say; they add up to 0. What has no
        value in a cluster has 0 there.
    clusters
        How many clusters have a value.
    top
        The largest value of a mean whose smallest is 0; None where there is no such limit.
    hits
        Whether every query succeeds or fails, instead of having values between.
    single
        Whether every cluster is one such query: then the number of hits is binomial.

    Examples
    --------
    >>> round(Spread(np.array([0.125, 0.125, -0.25]), 3, top=1.0).error, 4)
    0.375
    """

    moves: np.ndarray
    clusters: int
    top: float | None = None
    hits: bool = False
    single: bool = False

    @property
    def error(self) -> float:
        """The standard error of the mean, clusters drawn independently."""
        return float(np.sqrt((self.moves**2).sum() * self.clusters / max(1, self.clusters - 1)))

    def less(self, other: Spread) -> Spread:
        """Return how the difference of two means on the same clusters spreads."""
        top = None if self.top is None or other.top is None else max(self.top, other.top)
        return Spread(self.moves - other.moves, max(self.clusters, other.clusters), top)

    def on_one_side(self, value: float) -> float:
        """Return how many clusters' worth of hits, or of misses, there are: the smaller of both.

        Many small values between 0 and 1 are not few hits: their effective number counts instead.
        """
        assert self.top is not None
        share = value / self.top
        size = float(self.clusters)
        if not self.hits and self.error > 0:
            size = max(size, share * (1 - share) / (self.error / self.top) ** 2)
        return size * min(share, 1 - share)

    @property
    def long_tailed(self) -> bool:
        """Whether a few clusters decide the mean: there are fewer than 25 times its skewness squared."""
        # Cochran, Sampling Techniques, 1977, §2.15.
        size = np.sqrt((self.moves**2).sum() / self.clusters)
        if size == 0:
            return False
        skewness = (self.moves**3).sum() / self.clusters / size**3
        return bool(self.clusters < 25 * skewness**2)


def spread_of(samples: Sequence[Sample], clusters: int, weights: Sequence[float] = (1.0,)) -> Spread:
    """Return how a weighted sum of means spreads; with one weight of 1, how a mean does.

    >>> from karat.stats.samples import Sample
    >>> one = spread_of([Sample(np.array([1.0, 1.0, 0.0]), np.arange(3))], 3)
    >>> one.moves.round(3).tolist(), one.clusters, one.top, one.single
    ([0.111, 0.111, -0.222], 3, 1.0, True)
    """
    moves, there = np.zeros(clusters), np.zeros(clusters, bool)
    inside, hits, single = True, True, len(samples) == 1
    for sample, weight in zip(samples, weights, strict=True):
        sums, counts = sample.sums(clusters)
        sizes = counts.sum(axis=1)
        known = sizes > 0
        sums, counts, sizes = sums[known], counts[known], sizes[known, None]
        means = sums.sum(axis=1, keepdims=True) / sizes
        moves += weight * ((sums - means * counts) / sizes).sum(axis=0) / len(sizes)
        there |= counts.any(axis=0)
        values = sample.values[~np.isnan(sample.values)]
        inside = inside and bool(((values >= 0) & (values <= 1)).all())
        hits = hits and bool(((values == 0) | (values == 1)).all())
        single = single and hits and bool(counts.sum(axis=0).max() <= 1)
    return Spread(moves, int(there.sum()), sum(weights) if inside else None, hits, single)


def exact_share(share: float, n: float, level: float) -> Ends:
    """Return the interval of Clopper and Pearson of a share of `n` queries; `n` need not be whole.

    >>> low, high = exact_share(1.0, 5, 0.95)
    >>> round(low, 4), high
    (0.4782, 1.0)
    """
    # Imported late: the core stays light.
    from scipy.special import betaincinv

    tail, hits = (1 - level) / 2, share * n
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high


def wilson(right: np.ndarray, total: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of shares right / total; 0 and 1 where the total is 0.

    The shares p for which (p̂ − p)² ≤ z² p (1 − p) / n (Wilson, JASA 1927). It stays within 0 and 1, and
    its coverage is close to its level from a handful of answers on.

    Examples
    --------
    >>> low, high = wilson(np.array([8, 0, 0]), np.array([10, 5, 0]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.49, 0.0, 0.0], [0.943, 0.434, 1.0])
    """
    from statistics import NormalDist

    n = np.asarray(total, dtype=np.float64)
    counted = n > 0
    share = np.divide(right, n, out=np.full(n.shape, 0.5), where=counted)
    low, high = wilson_ends(share, n, NormalDist().inv_cdf((1 + check_level(level)) / 2))
    return np.where(counted, low, 0.0), np.where(counted, high, 1.0)


def wilson_ends(share: np.ndarray, n: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's interval of shares of n rows, which reaches so many standard errors to each side.

    >>> low, high = wilson_ends(np.array(0.5), np.array(100.0), 1.96)
    >>> round(float(low), 3), round(float(high), 3)
    (0.404, 0.596)
    """
    z2 = reach**2
    middle = (n * share + z2 / 2) / (n + z2)
    half = np.sqrt(z2 * (n * share * (1 - share) + z2 / 4)) / (n + z2)
    # Where all or none are counted, the end is exactly 1 or 0: rounding must not move it.
    return np.where(share > 0, middle - half, 0.0), np.where(share < 1, middle + half, 1.0)


def share_ends(value: float, spread: Spread, level: float) -> Ends:
    """Return the interval of a mean of values from 0 to `spread.top`.

    Its effective number of queries is the one that a share of independent hits needs for the same error, less
    what the unknown error costs: n = p (1 − p) / s² · (z / t)² (Korn and Graubard 1998).

    >>> five_hits = Spread(np.zeros(5), 5, top=1.0, hits=True, single=True)
    >>> tuple(round(end, 4) for end in share_ends(1.0, five_hits, 0.95))
    (0.4782, 1.0)
    """
    assert spread.top is not None
    share, n = min(1.0, max(0.0, value / spread.top)), float(spread.clusters)
    if not spread.single:
        from scipy.special import ndtri

        error = spread.error / spread.top
        if error > 0 and 0 < share < 1:
            n = share * (1 - share) / error**2
        n *= (float(ndtri((1 + level) / 2)) / student(spread.clusters, level)) ** 2
    low, high = exact_share(share, n, level)
    return spread.top * low, spread.top * high


def student(clusters: int, level: float) -> float:
    """Return the quantile of Student's t with one degree of freedom less than there are clusters."""
    from scipy.special import stdtrit

    return float(stdtrit(clusters - 1, (1 + level) / 2))


def unseen_share(clusters: int, level: float) -> float:
    """Return the largest share of a kind of cluster of which none was seen.

    >>> round(unseen_share(5, 0.95), 4), round(unseen_share(5000, 0.95), 5)
    (0.5218, 0.00074)
    """
    return float(1 - ((1 - level) / 2) ** (1 / clusters))


def mean_ends(value: float, ends: Ends, spread: Spread, level: float) -> tuple[Ends, str | None]:
    """Return the interval of a mean, given the resampled one; and the method, None where that one stays.

    The ends are NaN where there is none.
    """
    if spread.clusters < FEWEST:
        return NO_ENDS, None
    few = spread.clusters < FEW
    if spread.top is not None:
        rare = few or spread.on_one_side(value) < BORDER
        return (share_ends(value, spread, level), EXACT) if rare else (ends, None)
    if not few and ends[0] < ends[1]:
        return ends, None
    if spread.error == 0:
        return NO_ENDS, None
    reach = student(spread.clusters, level) * spread.error
    if value <= 0:
        return (value - reach, value + reach), STUDENT
    factor = float(np.exp(reach / value))
    return (value / factor, value * factor), STUDENT


def means_ends(
    samples: Sequence[Sample], clusters: int, values: np.ndarray, ends: Sequence[np.ndarray], level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the intervals of several means, given the resampled ones."""
    out = np.array(ends)
    for k, sample in enumerate(samples):
        if not np.isnan(values[k]):
            pair = float(out[0, k]), float(out[1, k])
            out[:, k], _ = mean_ends(float(values[k]), pair, spread_of([sample], clusters), level)
    return out[0], out[1]


def difference_ends(value: float, ends: Ends, spread: Spread, level: float) -> tuple[Ends, str | None]:
    """Return the same for the difference of two means on the same clusters.

    Where no two clusters differ in what they say, it holds as many others as can have gone unseen.

    >>> same = Spread(np.zeros(20), 20, top=1.0)
    >>> ends, method = difference_ends(0.0, (0.0, 0.0), same, 0.95)
    >>> tuple(round(end, 3) for end in ends), method
    ((-0.168, 0.168), 'Clopper–Pearson')
    """
    if spread.clusters < FEWEST:
        return NO_ENDS, None
    if spread.clusters >= FEW and ends[0] < ends[1]:
        return ends, None
    top = spread.top
    if spread.error <= 1e-12 * (top or abs(value)):
        if top is None:
            return NO_ENDS, None
        rest = unseen_share(spread.clusters, level)
        return (value - rest * (value + top), value + rest * (top - value)), EXACT
    reach = student(spread.clusters, level) * spread.error
    low, high = value - reach, value + reach
    return ((low, high) if top is None else (max(-top, low), min(top, high))), STUDENT


def other_ends(ends: Ends, clusters: int) -> Ends:
    """Return the resampled interval of what is not a mean, or none with too few clusters."""
    return ends if clusters >= FEWEST_OTHER else NO_ENDS
