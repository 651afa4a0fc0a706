"""The values per query of one column, as resampling and swapping see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.measures.pools import MEAN, Pool


@dataclass(frozen=True, eq=False)
class Sample:
    """The values per query of one column.

    Parameters
    ----------
    values
        One per query; NaN where undefined.
    cluster
        The number of the cluster that each query belongs to.
    fold
        The number of its fold: each is pooled by itself, and the column is the mean over folds.
    pool
        How values become one number.
    """

    values: np.ndarray
    cluster: np.ndarray
    fold: np.ndarray | None = None
    pool: Pool = MEAN

    def parts(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the defined values and their clusters, fold by fold; a fold may have none."""
        defined = ~np.isnan(self.values)
        fold = np.zeros(len(self.values), np.int64) if self.fold is None else self.fold
        kept = [defined & (fold == number) for number in np.unique(fold)]
        return [(self.values[rows], self.cluster[rows]) for rows in kept]

    def shares(self, clusters: int) -> np.ndarray:
        """Return what each cluster adds to the column, where the pool is the mean: they sum to its value.

        >>> Sample(np.array([1.0, 0.0, 1.0]), np.array([0, 1, 1])).shares(2).round(3).tolist()
        [0.333, 0.333]
        """
        parts = [part for part in self.parts() if len(part[0])]
        added = [np.bincount(cluster, values, clusters) / len(values) for values, cluster in parts]
        return np.sum(added, axis=0) / len(parts)

    def counts(self, clusters: int) -> list[np.ndarray]:
        """Return how many defined values each cluster has, fold by fold."""
        return [np.bincount(cluster, minlength=clusters) for _, cluster in self.parts()]


def mean_over_folds(pooled: np.ndarray, ptr: np.ndarray | None = None) -> np.ndarray:
    """Return the mean over folds; a fold of which nothing was drawn is left out.

    Parameters
    ----------
    pooled
        Per resample, every fold of every column, [B, K].
    ptr
        Column s has the folds ptr[s] to ptr[s + 1]; all belong to one column by default.

    Examples
    --------
    >>> mean_over_folds(np.array([[1.0, 3.0, 7.0], [2.0, np.nan, 8.0]]), np.array([0, 2, 3])).tolist()
    [[2.0, 2.0], [7.0, 8.0]]
    """
    if ptr is None:
        ptr = np.array([0, pooled.shape[1]])
    if len(ptr) == pooled.shape[1] + 1:
        return pooled.T
    known = ~np.isnan(pooled)
    total = np.add.reduceat(np.where(known, pooled, 0.0), ptr[:-1], axis=1)
    return divide(total, np.add.reduceat(known, ptr[:-1], axis=1, dtype=np.float64)).T


def divide(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return total / count, NaN where nothing was counted."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)
