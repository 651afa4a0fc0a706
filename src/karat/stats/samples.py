"""Samples: columns of values per query, aggregated again and again under resampled or swapped clusters.

How that is done depends on the aggregate: means need one matrix product for all columns together, medians a
compiled walk each; any other aggregate is called as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from karat._util import threads
from karat.measures import MEAN, MEDIAN, Aggregate

Pair = tuple[int, int]


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
        The number of its fold: each is aggregated separately, and the column is the mean over folds.
    aggregate
        How values become one number.
    """

    values: np.ndarray
    cluster: np.ndarray
    fold: np.ndarray | None = None
    aggregate: Aggregate = MEAN

    def parts(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the defined values and their clusters, fold by fold; a fold may have none."""
        defined = ~np.isnan(self.values)
        fold = np.zeros(len(self.values), np.int64) if self.fold is None else self.fold
        folds = [defined & (fold == number) for number in np.unique(fold)]
        return [(self.values[rows], self.cluster[rows]) for rows in folds]

    def sums(self, clusters: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sum and the number of each cluster's defined values, fold by fold, each [F, C].

        >>> sums, counts = Sample(np.array([1.0, 0.5, 1.0]), np.array([0, 1, 1])).sums(2)
        >>> sums.tolist(), counts.tolist()
        ([[1.0, 1.5]], [[1, 2]])
        """
        values, defined = self.values, ~np.isnan(self.values)
        at, size = self.cluster, np.array([len(values)])
        if self.fold is not None:
            at, size = self.fold * clusters + at, np.bincount(self.fold)
        if not defined.all():
            values, at = values[defined], at[defined]
        sums = np.bincount(at, values, len(size) * clusters).reshape(-1, clusters)
        counts = np.bincount(at, minlength=len(size) * clusters).reshape(-1, clusters)
        return sums[size > 0], counts[size > 0]

    def shares(self, clusters: int) -> tuple[np.ndarray, float]:
        """Return what each cluster adds to the column, if the aggregate is the mean: numbers and their unit.

        The numbers are whole where the values are and all folds have one size; numbers times unit add up to
        the column.

        >>> added, unit = Sample(np.array([1.0, 0.0, 1.0]), np.array([0, 1, 1])).shares(2)
        >>> added.tolist(), round(1 / unit)
        ([1.0, 1.0], 3)
        """
        sums, counts = self.sums(clusters)
        sizes = counts.sum(axis=1)
        known = sizes > 0
        scale = sizes.max(initial=0) / sizes[known]
        return (sums[known] * scale[:, None]).sum(axis=0), 1 / (sizes.max(initial=0) * known.sum())


class Samples:
    """Columns of values per query that share their clusters.

    Parameters
    ----------
    samples
        The columns.
    clusters
        How many clusters there are.

    Examples
    --------
    Two systems, three queries, of which the last two belong to one image:

    >>> cluster = np.array([0, 1, 1])
    >>> both = Samples([Sample(np.array([1.0, 0.0, 1.0]), cluster), Sample(np.zeros(3), cluster)], 2)
    >>> both.values().round(3).tolist()
    [0.667, 0.0]
    >>> both.resampled(np.array([[2.0, 0.0], [0.0, 2.0]])).tolist()
    [[1.0, 0.5], [0.0, 0.0]]
    >>> both.swapped([(0, 1)], np.array([[1, 0]], np.uint8)).round(3).tolist()
    [[[0.333]], [[0.333]]]
    """

    def __init__(self, samples: Sequence[Sample], clusters: int) -> None:
        self.clusters = clusters
        self.size = len(samples)
        groups: dict[type[Backend], list[int]] = {}
        for number, sample in enumerate(samples):
            groups.setdefault(BACKENDS.get(sample.aggregate, OtherAggregates), []).append(number)
        self._backends = [
            (backend([samples[number] for number in numbers], clusters), numbers)
            for backend, numbers in groups.items()
        ]

    def values(self) -> np.ndarray:
        """Return every column as it is, [S]."""
        return self.resampled(np.ones((1, self.clusters)))[:, 0]

    def resampled(self, weights: np.ndarray) -> np.ndarray:
        """Return every column under weights [B, C]: [S, B]; NaN where nothing of it was drawn."""
        out = np.empty((self.size, len(weights)))
        for backend, numbers in self._backends:
            out[numbers] = backend.resampled(weights)
        return out

    def swapped(self, pairs: Sequence[Pair], flips: np.ndarray) -> np.ndarray:
        """Return both columns of each pair when flipped clusters [B, C] change hands: [2, P, B]."""
        out = np.empty((2, len(pairs), len(flips)))
        for backend, numbers in self._backends:
            at = {number: place for place, number in enumerate(numbers)}
            mine = [p for p, (first, _) in enumerate(pairs) if first in at]
            if mine:
                out[:, mine] = backend.swapped([(at[pairs[p][0]], at[pairs[p][1]]) for p in mine], flips)
        return out


class Backend(Protocol):
    """How columns with one kind of aggregate are aggregated."""

    def __init__(self, samples: Sequence[Sample], clusters: int) -> None: ...

    def resampled(self, weights: np.ndarray) -> np.ndarray:
        """Return the columns under weights [B, C]: [S, B]."""
        ...

    def swapped(self, pairs: Sequence[Pair], flips: np.ndarray) -> np.ndarray:
        """Return both columns of each pair after swapping flipped clusters [B, C]: [2, P, B]."""
        ...


class Means:
    """Σ w s / Σ w n with s and n the sum and the number of a cluster's values: few products for all."""

    def __init__(self, samples: Sequence[Sample], clusters: int) -> None:
        self.count_of: list[int] = []
        self.columns_of: list[np.ndarray] = []
        known: dict[bytes, int] = {}
        columns: list[np.ndarray] = []
        counts: list[np.ndarray] = []
        for sample in samples:
            sums, numbers = sample.sums(clusters)
            self.columns_of.append(len(columns) + np.arange(len(sums)))
            columns += list(sums)
            for count in numbers:
                # Columns of one truth are defined for the same queries: counted once.
                self.count_of.append(known.setdefault(count.tobytes(), len(known)))
                if len(known) > len(counts):
                    counts.append(count.astype(np.float64))
        inside = [count > 0 for count in counts]
        self.sums = WeightedSums(
            [*columns, *counts], [*(inside[number] for number in self.count_of), *inside], clusters
        )

    def resampled(self, weights: np.ndarray) -> np.ndarray:
        """Return the columns under weights."""
        sums, counts = np.split(self.sums.under(weights), [len(self.count_of)], axis=1)
        means = divide(sums, counts[:, self.count_of])
        return mean_over_folds(means, np.cumsum([0, *map(len, self.columns_of)]))

    def swapped(self, pairs: Sequence[Pair], flips: np.ndarray) -> np.ndarray:
        """Return both columns of each pair after swapping."""
        moved = flips.astype(np.float64)
        gone = self.sums.under(moved)
        sums, counts = np.split(gone, [len(self.count_of)], axis=1)
        kept_sums, kept_counts = np.split(self.sums.total - gone, [len(self.count_of)], axis=1)
        count_of = np.array(self.count_of)
        own, other = (np.concatenate([self.columns_of[pair[side]] for pair in pairs]) for side in range(2))
        ptr = np.cumsum([0, *(len(self.columns_of[first]) for first, _ in pairs)])
        out = []
        for mine, theirs in ((own, other), (other, own)):
            n = kept_counts[:, count_of[mine]] + counts[:, count_of[theirs]]
            means = divide(kept_sums[:, mine] + sums[:, theirs], n)
            out.append(mean_over_folds(means, ptr))
        return np.stack(out)


class WeightedSums:
    """Weighted sums over clusters of several columns; columns that lie in the same few clusters go together.

    Of a fold, or a truth that covers a part of the images, most clusters have nothing to add.

    Parameters
    ----------
    columns
        What each cluster adds, per column.
    inside
        Per column, which clusters have something to add.
    clusters
        How many there are.

    Examples
    --------
    >>> columns = [np.array([1.0, 2.0, 0.0]), np.array([0.0, 0.0, 5.0])]
    >>> sums = WeightedSums(columns, [column > 0 for column in columns], 3)
    >>> sums.under(np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 1.0]])).tolist()
    [[3.0, 5.0], [4.0, 5.0]]
    """

    def __init__(self, columns: Sequence[np.ndarray], inside: Sequence[np.ndarray], clusters: int) -> None:
        self.size = len(columns)
        self.total = np.array([column.sum() for column in columns])
        groups: dict[bytes, list[int]] = {}
        for number, here in enumerate(inside):
            groups.setdefault(here.tobytes(), []).append(number)
        everywhere: list[int] = []
        self._blocks: list[tuple[list[int], slice | np.ndarray, np.ndarray]] = []
        for numbers in groups.values():
            rows = np.flatnonzero(inside[numbers[0]])
            # Taking their weights out costs as much as a product with a dozen columns.
            if len(numbers) * (clusters - len(rows)) > 12 * len(rows):
                self._add([columns[number] for number in numbers], numbers, rows)
            else:
                everywhere += numbers
        if everywhere:
            self._add([columns[number] for number in everywhere], everywhere, np.arange(clusters))

    def _add(self, columns: list[np.ndarray], numbers: list[int], rows: np.ndarray) -> None:
        """Add a block of columns that have nothing outside some rows."""
        together = len(rows) and rows[-1] - rows[0] + 1 == len(rows)
        chosen = slice(rows[0], rows[-1] + 1) if together else rows
        self._blocks.append((numbers, chosen, np.stack([column[chosen] for column in columns], axis=1)))

    def under(self, weights: np.ndarray) -> np.ndarray:
        """Return the sums under weights [B, C]: [B, columns]."""
        out = np.empty((len(weights), self.size))
        for numbers, rows, columns in self._blocks:
            out[:, numbers] = weights[:, rows] @ columns
        return out


class Medians:
    """Sorted once; each resample or swap is then a short search for the middle."""

    def __init__(self, samples: Sequence[Sample], clusters: int) -> None:
        self.clusters = clusters
        self.parts = [sample.parts() for sample in samples]
        self._sorted: list[list[SortedValues]] = []
        self._merged: dict[Pair, list[SortedValues]] = {}

    def resampled(self, weights: np.ndarray) -> np.ndarray:
        """Return the columns under weights."""
        from karat.stats.kernels import weighted_medians

        if not self._sorted:
            self._sorted = [
                [SortedValues(self.clusters, values, cluster) for values, cluster in parts]
                for parts in self.parts
            ]
        out = np.empty((len(self.parts), len(weights)))
        for s, folds in enumerate(self._sorted):
            medians = np.empty((len(weights), len(folds)))
            for k, fold in enumerate(folds):
                constant = (fold.cluster, fold.values, fold.checkpoint)
                in_threads(weighted_medians, (weights, weights @ fold.before), constant, medians[:, k])
            out[s] = mean_over_folds(medians)[0]
        return out

    def swapped(self, pairs: Sequence[Pair], flips: np.ndarray) -> np.ndarray:
        """Return both columns of each pair after swapping."""
        from karat.stats.kernels import swapped_medians

        moved = flips.astype(np.float64)
        out = np.empty((2, len(pairs), len(flips)))
        for p, pair in enumerate(pairs):
            folds = self._of_both(pair)
            medians = np.empty((2, len(flips), len(folds)))
            for k, fold in enumerate(folds):
                seen = (fold.before.sum(axis=0) - moved @ (fold.before - fold.before_second)).astype(np.int64)
                constant = (fold.cluster, fold.second, fold.values, fold.checkpoint)
                in_threads(swapped_medians, (flips, seen), constant, medians[..., k])
            out[:, p] = [mean_over_folds(side)[0] for side in medians]
        return out

    def _of_both(self, pair: Pair) -> list[SortedValues]:
        """Return the values of two columns in one sorted list, per fold."""
        if pair not in self._merged:
            self._merged[pair] = [
                SortedValues(self.clusters, np.r_[a, b], np.r_[cluster_a, cluster_b], len(a))
                for (a, cluster_a), (b, cluster_b) in zip(*(self.parts[column] for column in pair))
            ]
        return self._merged[pair]


class SortedValues:
    """Values of one or two systems in rising order, with checkpoints around the middle.

    Parameters
    ----------
    clusters
        How many there are.
    values, cluster
        Of the first system, followed by those of the second.
    first
        How many are the first system's; all by default.
    """

    def __init__(
        self, clusters: int, values: np.ndarray, cluster: np.ndarray, first: int | None = None
    ) -> None:
        order = np.argsort(values, kind="stable")
        self.values, self.cluster = values[order], cluster[order]
        self.second = (order >= (len(values) if first is None else first)).astype(np.uint8)
        # Chance moves the middle by about 1 / sqrt(clusters) of the list; what leaves the window
        # of checkpoints costs a longer walk, nothing else.
        reach = min(0.5, 3 / np.sqrt(clusters))
        window = len(values) * np.linspace(0.5 - reach, 0.5 + reach, 24)
        self.checkpoint = np.unique(np.r_[0, window.astype(np.int64), len(values)])
        self.before = self._counts(clusters, self.second == 0)
        self.before_second = self._counts(clusters, self.second == 1)

    def _counts(self, clusters: int, chosen: np.ndarray) -> np.ndarray:
        """Return how many of the chosen values of each cluster lie before each checkpoint, [C, K]."""
        stretch = np.searchsorted(self.checkpoint, np.arange(len(self.values)), side="right")
        kinds = len(self.checkpoint) + 1
        at = self.cluster[chosen] * kinds + stretch[chosen]
        counts = np.bincount(at, minlength=clusters * kinds).reshape(clusters, kinds)
        return counts.cumsum(axis=1)[:, :-1].astype(np.float64)


def in_threads(
    kernel: Callable[..., object], rows: Sequence[np.ndarray], constant: tuple[Any, ...], out: np.ndarray
) -> None:
    """Call a kernel on disjoint parts of the rows; `out` has the rows on its last axis."""
    with threads() as loop:
        loop(
            lambda begin, end: kernel(*(r[begin:end] for r in rows), *constant, out[..., begin:end]),
            0,
            len(rows[0]),
        )


class OtherAggregates:
    """Any other aggregate: called with a weight per query, or with the swapped values, row by row."""

    def __init__(self, samples: Sequence[Sample], clusters: int) -> None:
        self.samples = list(samples)
        self.parts = [sample.parts() for sample in samples]

    def resampled(self, weights: np.ndarray) -> np.ndarray:
        """Return the columns under weights."""
        out = np.empty((len(self.samples), len(weights)))
        for s, (sample, parts) in enumerate(zip(self.samples, self.parts)):
            folds = [sample.aggregate(values, weights[:, cluster]) for values, cluster in parts]
            out[s] = mean_over_folds(np.stack(folds, axis=1))[0]
        return out

    def swapped(self, pairs: Sequence[Pair], flips: np.ndarray) -> np.ndarray:
        """Return both columns of each pair after swapping."""
        out = np.empty((2, len(pairs), len(flips)))
        for p, (first, second) in enumerate(pairs):
            aggregate = self.samples[first].aggregate
            for side in range(2):
                folds = []
                for (a, cluster_a), (b, cluster_b) in zip(self.parts[first], self.parts[second]):
                    values = np.r_[a, b]
                    theirs = np.c_[flips[:, cluster_a] == side, flips[:, cluster_b] != side]
                    folds.append(aggregate(values, theirs.astype(np.float64)))
                out[side, p] = mean_over_folds(np.stack(folds, axis=1))[0]
        return out


BACKENDS: dict[Aggregate, type[Backend]] = {MEAN: Means, MEDIAN: Medians}
"""Aggregates that can be computed faster than by calling them."""


def mean_over_folds(folds: np.ndarray, ptr: np.ndarray | None = None) -> np.ndarray:
    """Return the mean over folds; a fold of which nothing was drawn is left out.

    Parameters
    ----------
    folds
        Per resample, every fold of every column, [B, K].
    ptr
        Column s has the folds ptr[s] to ptr[s + 1]; all belong to one column by default.

    Examples
    --------
    >>> mean_over_folds(np.array([[1.0, 3.0, 7.0], [2.0, np.nan, 8.0]]), np.array([0, 2, 3])).tolist()
    [[2.0, 2.0], [7.0, 8.0]]
    """
    if ptr is None:
        ptr = np.array([0, folds.shape[1]])
    if len(ptr) == folds.shape[1] + 1:
        return folds.T
    known = ~np.isnan(folds)
    total = np.add.reduceat(np.where(known, folds, 0.0), ptr[:-1], axis=1)
    return divide(total, np.add.reduceat(known, ptr[:-1], axis=1, dtype=np.float64)).T


def divide(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return total / count, NaN where nothing was counted."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)
