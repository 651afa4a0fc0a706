"""Is a mean above what chance gives?"""

from __future__ import annotations

import numpy as np


def above_chance(
    values: np.ndarray, chance: np.ndarray, cluster: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return the one-sided p-value of a mean of values per example that is no higher than chance.

    Where every value is 0 or 1, it is the exact probability of as many successes or more, each example
    having its own chance of success (a binomial, or Poisson binomial, distribution). That takes examples as
    independent: where some share a cluster, or values are not 0 or 1, a t-test over the clusters' sums of
    value − chance is made, and the larger of both p-values is returned. Where these sums are all the same,
    each cluster counts as one success.

    Parameters
    ----------
    values, chance, cluster
        Per example, without NaN.
    weight
        Per example, where the mean is a weighted one.

    Examples
    --------
    >>> round(above_chance(np.ones(5), np.full(5, 0.5), np.arange(5)), 5)
    0.03125
    """
    binary = weight is None and bool(np.isin(values, (0, 1)).all())
    exact = success_tail(int(values.sum()), chance) if binary else 0.0
    _, place = np.unique(cluster, return_inverse=True)
    if binary and place.max(initial=-1) + 1 == len(values):
        return exact
    excess = (values - chance) * (1.0 if weight is None else weight)
    sums = np.bincount(place.reshape(-1), excess)
    if np.ptp(sums) == 0:
        # Without spread, each cluster is one trial that succeeded.
        return max(exact, float(chance.max()) ** len(sums)) if sums[0] > 0 else 1.0
    return max(exact, sum_tail(sums))


def success_tail(successes: int, chance: np.ndarray) -> float:
    """Return the probability of at least so many successes of independent trials, each with its own chance.

    >>> round(success_tail(2, np.array([0.5, 0.25])), 4), success_tail(0, np.array([0.5]))
    (0.125, 1.0)
    """
    from scipy.stats import binom

    counts = dict(zip(*(part.tolist() for part in np.unique(chance, return_counts=True))))
    if len(counts) == 1:
        ((probability, number),) = counts.items()
        return max(float(binom.sf(successes - 1, number, probability)), np.finfo(float).tiny)
    distribution = np.ones(1)
    for probability, number in counts.items():
        distribution = np.convolve(distribution, binom.pmf(np.arange(number + 1), number, probability))
    return min(1.0, max(float(distribution[successes:].sum()), np.finfo(float).tiny))


def sum_tail(sums: np.ndarray) -> float:
    """Return the one-sided p-value of a t-test that the mean of clusters' sums is no higher than 0."""
    from scipy.stats import t

    statistic = sums.mean() / sums.std(ddof=1) * np.sqrt(len(sums))
    return max(float(t.sf(statistic, len(sums) - 1)), np.finfo(float).tiny)
