"""Kinds of items: those that look alike to a statistic are counted once, in every resample too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from karat._util import stage
from karat.errors import InputError
from karat.stats.estimate import Estimate
from karat.stats.few_clusters import NO_ENDS, Ends, unseen_share
from karat.stats.resampling import BLOCK, Intervals, Resampling, Score, drawn, leave_one_out


@dataclass(frozen=True, eq=False)
class Kinds:
    """Items grouped by what a statistic sees of them.

    Two raters with four categories leave 16 kinds of items however many items there are, and drawing
    n items with replacement is drawing the numbers of each kind from a multinomial distribution. So
    10,000 resamples of 50,000 items cost 160,000 random numbers instead of 500 million.

    Parameters
    ----------
    kind
        For each item, the number of its kind, from 0.
    size
        How many kinds there are.
    cluster
        For each item, the number of its cluster; None when every item is drawn by itself.

    Examples
    --------
    >>> kinds = Kinds(np.array([0, 0, 1]), 2)
    >>> weights = np.concatenate(list(kinds.draws(resamples=4, seed=0)))
    >>> weights.shape, weights.sum(axis=1).tolist()
    ((4, 2), [3.0, 3.0, 3.0, 3.0])
    """

    kind: np.ndarray
    size: int
    cluster: np.ndarray | None = None

    @property
    def counts(self) -> np.ndarray:
        """How many items there are of each kind: the weights of the data themselves."""
        return np.bincount(self.kind, minlength=self.size).astype(np.float64)

    @property
    def clusters(self) -> int:
        """How many clusters, or single items, are drawn."""
        return len(self.kind) if self.cluster is None else int(self.cluster.max(initial=-1)) + 1

    def draws(self, resamples: int, seed: int) -> Iterator[np.ndarray]:
        """Yield the weights of the resamples, float64 [some, kinds], in bounded memory."""
        resampling = Resampling(self.clusters, resamples, seed)
        if self.cluster is None and 4 * self.size <= len(self.kind):
            rng = np.random.default_rng(seed)
            shares = self.counts / len(self.kind)
            rows = max(1, BLOCK // self.size)
            with stage("resamples", resamples) as drawn:
                for begin in range(0, resamples, rows):
                    count = min(rows, resamples - begin)
                    yield rng.multinomial(len(self.kind), shares, size=count).astype(np.float64)
                    drawn.advance(count)
            return
        for block in resampling.blocks():
            yield self._by_kind(block)

    def without_one(self) -> Iterator[np.ndarray]:
        """Yield the weights with each cluster, or item, left out once."""
        for block in leave_one_out(self.clusters):
            yield self._by_kind(block)

    def _by_kind(self, block: np.ndarray) -> np.ndarray:
        return np.asarray(block @ self._members)

    @cached_property
    def _members(self) -> Any:
        """How many items of each kind a cluster has, sparse [clusters, kinds]."""
        # Imported late: the core stays light.
        from scipy.sparse import csr_array

        cluster = np.arange(len(self.kind)) if self.cluster is None else self.cluster
        ones, shape = np.ones(len(cluster)), (self.clusters, self.size)
        return csr_array((ones, (cluster, self.kind)), shape=shape)

    def estimates(self, statistic: Score, intervals: Intervals) -> np.ndarray:
        """Return an array of `Estimate`, one for every number of a statistic, all from the same draws.

        The statistic goes from weights over kinds, [b, kinds], to numbers [..., b].
        """
        value = statistic(self.counts[None])[..., 0]
        draws = drawn(statistic, self.draws(intervals.resamples, intervals.seed))
        left = drawn(statistic, self.without_one()) if intervals.method == "bca" else None
        low, high = intervals.ends(value, draws, left)
        estimates = np.empty(value.shape, object)
        for at in np.ndindex(value.shape):
            # Resamples may determine what the data themselves do not: that is not an interval.
            ends = NO_ENDS if np.isnan(value[at]) else (float(low[at]), float(high[at]))
            if ends[0] == ends[1]:
                ends = self._unseen(statistic, at, intervals.level)
            estimates[at] = Estimate(
                float(value[at]), *ends, intervals.level, intervals.shown, len(self.kind), self.clusters
            )
        return estimates

    def _unseen(self, statistic: Score, at: tuple[int, ...], level: float) -> Ends:
        """Return the interval of a number that all resamples agree on: by what can have gone unseen.

        As many clusters as can be there without one of them being among those seen become items of one kind;
        the ends are the lowest and the highest number over all kinds. NaN where that changes nothing.
        """
        rest = unseen_share(self.clusters, level)
        kinds = np.concatenate([
            statistic((1 - rest) * self.counts + rest * len(self.kind) * rows)[at]
            for rows in np.array_split(np.eye(self.size), max(1, self.size**2 // BLOCK))
        ])  # fmt: skip
        kinds = kinds[~np.isnan(kinds)]
        low, high = float(kinds.min(initial=np.inf)), float(kinds.max(initial=-np.inf))
        return (low, high) if high - low > 1e-9 else NO_ENDS

    def estimate(self, statistic: Score, intervals: Intervals) -> Estimate:
        """Return the `Estimate` of a statistic that is one number."""
        if not len(self.kind):
            return Estimate(np.nan, np.nan, np.nan, intervals.level, intervals.shown, 0, 0)
        return self.estimates(lambda weights: statistic(weights)[None], intervals)[0]


def number_clusters(clusters: Any, items: int, kept: np.ndarray) -> np.ndarray | None:
    """Return the numbers of the clusters of the items that are kept; None without clusters.

    >>> number_clusters(["b", "a", "b", "c"], 4, np.array([True, True, True, False])).tolist()
    [1, 0, 1]
    """
    if clusters is None:
        return None
    labels = np.asarray(clusters)
    if labels.shape != (items,):
        raise InputError(f"clusters has the shape {labels.shape}", fix=f"give one label per item, {items:,}")
    return np.unique(labels[kept], return_inverse=True)[1]


def as_numbers(values: Any, name: str) -> np.ndarray:
    """Return values as float64, or raise.

    >>> as_numbers([1, None], "x").tolist()
    [1.0, nan]
    >>> as_numbers([1, "good"], "x")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: x is not an array of numbers; give equally long rows of numbers, NaN if missing.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        fix = "give equally long rows of numbers, NaN if missing"
        raise InputError(f"{name} is not an array of numbers", fix=fix) from None
