"""Bootstrap intervals of one system's score and of the difference of two, over clusters of queries."""

from __future__ import annotations

import numpy as np

from karat._util import renamed_keywords
from karat.measures import MEAN, Aggregate
from karat.stats.estimate import Estimate
from karat.stats.intervals import Intervals, Resampling, drawn
from karat.stats.paired_tests import PairedTest, check_finite, paired_values, subtract
from karat.stats.samples import Sample, Samples


@renamed_keywords(pool="aggregate")
def bootstrap_interval(
    values: np.ndarray,
    clusters: np.ndarray | None = None,
    aggregate: Aggregate = MEAN,
    method: str = "percentile",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """Return a score with its bootstrap interval.

    Clusters are drawn with replacement, as many as there are, and the score is aggregated anew: what
    would it be on other queries of the same kind, over the same gallery?

    Parameters
    ----------
    values
        One per query; NaN is left out.
    clusters
        Per query, what it belongs to; queries of one cluster are drawn together. Every query is its
        own cluster by default.
    aggregate
        `karat.measures.MEAN` or `MEDIAN`, or any other.
    method
        "percentile", or "bca" (bias-corrected and accelerated).
    level, resamples, seed
        How often the interval should hold, how many draws, and their seed.

    Examples
    --------
    >>> hits = np.repeat([1.0, 0.0], [30, 70])
    >>> bootstrap_interval(hits)
    0.3 (0.21 to 0.39, 95% percentile, n = 100)
    """
    intervals = Intervals(method, level, resamples, seed)
    values, _, cluster = paired_values(values, values, clusters)
    check_finite(aggregate, values)
    column = Samples([Sample(values, cluster, aggregate=aggregate)], int(cluster.max()) + 1)
    value = column.values()
    low, high = intervals.ends(value, *intervals.draw(column.resampled, column.clusters))
    point, low_end, high_end = (float(number[0]) for number in (value, low, high))
    return Estimate(point, low_end, high_end, level, intervals.shown, len(values), column.clusters)


@renamed_keywords(pool="aggregate")
def paired_bootstrap(
    first: np.ndarray,
    second: np.ndarray,
    clusters: np.ndarray | None = None,
    aggregate: Aggregate = MEAN,
    resamples: int = 10_000,
    seed: int = 0,
) -> PairedTest:
    """Test whether two systems differ, by resampling the queries of both together.

    p = 2 (1 + min(b₋, b₊)) / (B + 1), with b₋ and b₊ the resamples whose difference is ≤ 0 and
    ≥ 0: the level at which the percentile interval of the difference just touches 0.

    Parameters
    ----------
    first, second, clusters, aggregate
        As `randomisation_test` takes them.
    resamples, seed
        How many draws, and their seed.

    Examples
    --------
    >>> paired_bootstrap(np.repeat([1.0, 0.0], [40, 60]), np.repeat([1.0, 0.0], [20, 80]))
    difference +0.2, p = 0.0002 (bootstrap, n = 100)
    """
    first, second, cluster = paired_values(first, second, clusters)
    check_finite(aggregate, first, second)
    count = int(cluster.max()) + 1
    both = Samples([Sample(values, cluster, aggregate=aggregate) for values in (first, second)], count)
    draws = drawn(both.resampled, Resampling(count, resamples, seed).blocks())
    values = both.values()
    p = float(sign_p(subtract(draws[0], draws[1])))
    return PairedTest(float(subtract(values[0], values[1])), p, "bootstrap", len(first), count)


def sign_p(differences: np.ndarray) -> np.ndarray:
    """Return the two-sided p-value of resampled differences, over the last axis; NaN is left out.

    >>> sign_p(np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]])).tolist()
    [0.5, 1.0]
    """
    with np.errstate(invalid="ignore"):
        low, high = (differences <= 0).sum(axis=-1), (differences >= 0).sum(axis=-1)
    known = (~np.isnan(differences)).sum(axis=-1)
    return np.minimum(1.0, 2 * (1 + np.minimum(low, high)) / (known + 1))
