"""Means over queries: of what is defined, and their variance where some belong together."""

from __future__ import annotations

import numpy as np

from karat.benchmarks import Benchmark
from karat.estimation.candidates import Candidates


def mean_defined(values: np.ndarray) -> np.ndarray:
    """Return the mean of what is defined in each row; NaN where nothing is."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1)


def clusters_of(benchmark: Benchmark, candidates: Candidates) -> np.ndarray:
    """Return the cluster of each query: its group in the benchmark, as of the captions of one image."""
    if benchmark.grouping is None:
        return np.arange(len(candidates.queries))
    return benchmark.clusters(candidates.direction, candidates.queries)


def cluster_variance(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Return the variance of each row's mean over queries, where queries of one cluster move together.

    >>> values = np.array([[0.0, 1.0, 0.0, 1.0]])
    >>> cluster_variance(values, np.array([0, 1, 2, 3])).round(4).tolist()
    [0.0833]
    >>> cluster_variance(values, np.array([0, 0, 1, 1])).tolist()
    [0.0]
    """
    known = ~np.isnan(values)
    rest = np.where(known, values - mean_defined(values)[:, None], 0.0)
    _, number = np.unique(cluster, return_inverse=True)
    clusters = int(number.max()) + 1
    sums = np.stack([np.bincount(number, row, clusters) for row in rest])
    return (sums**2).sum(axis=1) / known.sum(axis=1) ** 2 * clusters / max(clusters - 1, 1)
