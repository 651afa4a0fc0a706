"""Fisher's randomisation test: would a coin toss of the systems' labels give such a difference?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from karat.measures.pools import MEAN, Pool
from karat.stats.flips import Flips
from karat.stats.paired import PairedTest
from karat.stats.pooled import Pooled
from karat.stats.samples import Sample
from karat.validation import InputError

TOLERANCE = 1e-9
"""Differences that agree to this share of the scores are the same: sums of floats depend on their order."""


def randomisation_test(
    first: np.ndarray,
    second: np.ndarray,
    clusters: np.ndarray | None = None,
    pool: Pool = MEAN,
    samples: int = 100_000,
    seed: int = 0,
) -> PairedTest:
    """Test whether two systems differ, by swapping their values at random.

    Under the null hypothesis the two values of a query could as well have been each other's. In
    each of `samples` draws every cluster's values change hands with probability 1/2 and the
    difference of the pooled scores is taken anew; p = (b + 1) / (m + 1), with b the draws whose
    difference is at least as large, in either direction. For means this equals flipping the signs
    of the differences; for medians both systems' medians are computed again (a median of
    differences is not a difference of medians). With few clusters all 2^C swaps are listed and p
    is exact. Fisher 1935; Hodosh §4.2.2 with 100,000 samples.

    Parameters
    ----------
    first, second
        Values per query of the two systems; queries where either is NaN are left out.
    clusters
        Per query, what it belongs to (the image of a caption); queries of one cluster are swapped
        together, since they are not independent. Every query is its own cluster by default.
    pool
        `karat.measures.pools.MEAN` or `MEDIAN`, or any other.
    samples, seed
        How many draws, and their seed.

    Examples
    --------
    >>> ahead, behind = np.ones(5), np.zeros(5)
    >>> randomisation_test(ahead, behind)                     # 2 of 32 swaps are as extreme
    difference +1, p = 0.0625 (randomisation, n = 5)
    """
    first, second, cluster = paired_values(first, second, clusters)
    check_finite(pool, first, second)
    samples_of = [Sample(values, cluster, pool=pool) for values in (first, second)]
    pooled = Pooled(samples_of, cluster.max() + 1)
    flips = Flips(pooled.clusters, samples, seed)
    values = pooled.values()
    difference = subtract(values[0], values[1])
    least = least_to_count(difference, finite_scale(values))
    if pool is MEAN:
        # A swap turns the sign of what a cluster adds to the difference.
        shares = np.subtract(*(sample.shares(pooled.clusters) for sample in samples_of))
        drawn: Iterable[np.ndarray] = (shares.sum() - 2 * flipped for flipped in flips.sums(shares))
    else:
        drawn = (subtract(*pooled.swapped([(0, 1)], block)[:, 0]) for block in flips.blocks())
    as_large = sum(int((np.abs(some) >= least).sum()) for some in drawn)
    p = float(flips.p_value(np.array(as_large)))
    return PairedTest(float(difference), p, "randomisation", len(first), pooled.clusters)


def subtract(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return first − second: exactly 0 where the two differ by rounding alone, or both are infinite.

    >>> float(0.1 + 0.2 - 0.3), float(subtract(np.array(0.1 + 0.2), np.array(0.3)))
    (5.551115123125783e-17, 0.0)
    >>> subtract(np.array([np.inf, np.inf]), np.array([np.inf, 5.0])).tolist()
    [0.0, inf]
    """
    with np.errstate(invalid="ignore"):
        difference = first - second
        scale = np.maximum(np.abs(first), np.abs(second))
        rounding = (np.abs(difference) <= TOLERANCE * scale) & np.isfinite(scale)
    # Two medians beyond the end of the rankings: nothing tells them apart.
    return np.where(rounding | (np.isinf(first) & (first == second)), 0.0, difference)


def least_to_count(seen: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return how large a drawn difference, in either direction, has to be to count as large as the one seen.

    `scale` is the size of the scores themselves, which rounding errors are measured by.
    """
    return np.abs(seen) - TOLERANCE * scale


def finite_scale(values: np.ndarray) -> np.ndarray:
    """Return the largest finite size of values over the last axis; 0 when all are infinite."""
    return np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=-1)


def check_finite(pool: Pool, *values: np.ndarray) -> None:
    """Raise when a mean would be infinite; a median of a few infinite ranks is not."""
    if pool is MEAN and any(np.isinf(some).any() for some in values):
        raise InputError(
            "a value is infinite, and so would the mean be", fix="use the median, or finite values"
        )


def paired_values(
    first: np.ndarray, second: np.ndarray, clusters: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of queries that both systems have, and the numbers of their clusters."""
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(
            f"the systems have {first.shape} and {second.shape} values", fix="give one per query for each"
        )
    labels = np.arange(len(first)) if clusters is None else np.asarray(clusters)
    if labels.shape != first.shape:
        raise InputError(f"{len(labels)} clusters for {len(first)} queries", fix="give one per query")
    both = ~np.isnan(first) & ~np.isnan(second)
    if not both.any():
        raise InputError("the systems have no query in common", fix="check that values are not NaN")
    return first[both], second[both], np.unique(labels[both], return_inverse=True)[1]
