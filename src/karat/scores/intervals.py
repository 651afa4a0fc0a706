"""Intervals: every column of a scorecard under other draws of its queries.

Images are drawn with their captions, once for all columns. Columns that are combinations (RSUM, the mean of
both directions) are put together again from their parts in every draw, so medians, sums and means over folds
go through one code path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from karat.benchmarks import Benchmark, Direction
from karat.measures import MEAN, Combined, Measure
from karat.scores.scorecard import Column, Scorecard
from karat.stats import Estimate, Intervals, Sample, Samples, subtract


def as_intervals(intervals: Intervals | str | bool | None) -> Intervals | None:
    """Return the choices behind intervals: None for none, True for the usual ones, or a method's name.

    >>> as_intervals("bca").resamples, as_intervals(False)
    (10000, None)
    """
    if intervals is None or intervals is False:
        return None
    if intervals is True:
        return Intervals()
    return intervals if isinstance(intervals, Intervals) else Intervals(intervals)


def with_intervals(card: Scorecard, intervals: Intervals | str | bool = True) -> Scorecard:
    """Return the scorecard with an interval for every column that has a value.

    Images are drawn with replacement, and with each its captions: what would the score be on other
    queries of the same kind, over the same gallery? All columns of all runs see the same draws.
    """
    options = as_intervals(intervals)
    if options is None or all(column.value is None for column in card):
        return card
    column_samples = ColumnSamples(card.columns)
    draws, jackknife = options.draw(column_samples.resampled, column_samples.clusters)
    low, high = options.ends(column_samples.values(), draws, jackknife)
    return with_ends(card, column_samples, low, high, options)


def with_ends(
    card: Scorecard, column_samples: ColumnSamples, low: np.ndarray, high: np.ndarray, intervals: Intervals
) -> Scorecard:
    """Return the scorecard with these ends; an end that is not a number is left out, with a note."""
    ends = {
        column: tuple(float(end) if np.isfinite(end) else None for end in pair)
        for column, *pair in zip(column_samples.columns, low, high)
    }
    columns = [
        replace(column, low=ends[column][0], high=ends[column][1]) if column in ends else column
        for column in card.columns
    ]
    notes = [
        f"{c.run}: the interval of {c.measure} on {c.truth} ({c.direction}) has no upper end: "
        "too many rankings end before the first relevant item"
        for c in columns
        if c.low is not None and c.high is None
    ]
    return replace(card, columns=columns, intervals=intervals, notes=[*card.notes, *notes, *alone(card)])


def alone(card: Scorecard) -> list[str]:
    """Return the note on captions that are drawn one by one, since nobody knows which share an image."""
    of_captions = any(column.direction != "i2t" for column in card if column.value is not None)
    if not of_captions or card.benchmark.caption_image is not None:
        return []
    return [
        f"{card.benchmark.name} does not say which captions share an image: each is drawn by itself, "
        "and intervals and p-values of text→image are too small if some do"
    ]


def units_drawn(card: Scorecard) -> str:
    """Say what is resampled."""
    return "queries" if alone(card) else "images with their captions"


class ColumnSamples:
    """Columns with a value, resampled or swapped together.

    Parameters
    ----------
    columns
        Of any runs, truths and directions of one benchmark; those without a value are left out.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = [column for column in columns if column.value is not None]
        leaves: dict[Column, int] = {}
        self._leaves_of = [
            [leaves.setdefault(leaf, len(leaves)) for leaf in leaves_of(column)] for column in self.columns
        ]
        # A query's image, or the query itself: the same number means the same thing in all columns.
        labels = [leaf.cluster for leaf in leaves if leaf.cluster is not None]
        known, number = np.unique(np.concatenate([*labels, np.zeros(0, np.int64)]), return_inverse=True)
        numbers = np.split(number, np.cumsum([len(label) for label in labels])[:-1])
        self.clusters = len(known)
        self._samples = [sample_of(leaf, cluster) for leaf, cluster in zip(leaves, numbers)]
        self._leaves = Samples(self._samples, self.clusters)

    def values(self) -> np.ndarray:
        """Return every column as it is, [T]."""
        return self._combine(self._leaves.values())

    def resampled(self, weights: np.ndarray) -> np.ndarray:
        """Return every column under weights [B, C]: [T, B]."""
        return self._combine(self._leaves.resampled(weights))

    def swapped_differences(self, pairs: Sequence[tuple[int, int]], flips: np.ndarray) -> np.ndarray:
        """Return the difference of each pair of columns when flipped clusters change hands: [P, B]."""
        leaf_pairs: dict[tuple[int, int], int] = {}
        places = [
            [
                leaf_pairs.setdefault(leaf_pair, len(leaf_pairs))
                for leaf_pair in zip(self._leaves_of[first], self._leaves_of[second])
            ]
            for first, second in pairs
        ]
        swapped = self._leaves.swapped(list(leaf_pairs), flips)
        out = np.empty((len(pairs), len(flips)))
        for p, ((first, _), at) in enumerate(zip(pairs, places)):
            ours, theirs = (combine(self.columns[first], swapped[side][at]) for side in range(2))
            out[p] = subtract(ours, theirs)
        return out

    def shares(self) -> tuple[np.ndarray, list[bytes | None]]:
        """Return what each cluster adds to each column, [C, T], and a key of how many values it has there.

        The key is None, and the shares are 0, for columns that are not sums over clusters: medians, and
        combinations that are not linear.
        """
        shares = np.zeros((self.clusters, len(self.columns)))
        keys: list[bytes | None] = [None] * len(self.columns)
        leaf_shares: dict[int, np.ndarray] = {}
        leaf_keys: dict[int, bytes] = {}
        for t, (column, leaves) in enumerate(zip(self.columns, self._leaves_of)):
            linear = not isinstance(column.measure, Combined) or column.measure.linear
            if not linear or any(self._samples[leaf].aggregate is not MEAN for leaf in leaves):
                continue
            for leaf in leaves:
                if leaf not in leaf_shares:
                    leaf_shares[leaf] = self._samples[leaf].shares(self.clusters)
                    counts = np.array(self._samples[leaf].counts(self.clusters))
                    leaf_keys[leaf] = hashlib.sha256(counts.tobytes()).digest()
            shares[:, t] = combine(column, np.stack([leaf_shares[leaf] for leaf in leaves]))
            keys[t] = b"".join(leaf_keys[leaf] for leaf in leaves)
        return shares, keys

    def _combine(self, leaves: np.ndarray) -> np.ndarray:
        return np.stack([combine(column, leaves[at]) for column, at in zip(self.columns, self._leaves_of)])


def leaves_of(column: Column) -> tuple[Column, ...]:
    """Return the columns with values per query that a column is made of."""
    return column.parts if isinstance(column.measure, Combined) else (column,)


def combine(column: Column, leaves: np.ndarray) -> np.ndarray:
    """Return a column from its aggregated leaves, [L, ...]."""
    return column.measure.combine(list(leaves)) if isinstance(column.measure, Combined) else leaves[0]


def sample_of(leaf: Column, cluster: np.ndarray) -> Sample:
    """Return a column's values as the statistics take them."""
    assert isinstance(leaf.measure, Measure)
    assert leaf.values is not None
    return Sample(leaf.values, cluster, leaf.fold, leaf.measure.aggregate)


Statistic = Callable[[np.ndarray], np.ndarray]
"""What is told of the scores of all columns, [columns, B]: [statistics, B]."""


class ValueSamples:
    """Columns of values per query whose clusters, images with their captions, are drawn together.

    Parameters
    ----------
    benchmark, direction
        What says which image a query belongs to.
    columns
        Per column its queries and their values; NaN is left out.
    intervals
        How intervals are made.

    Examples
    --------
    >>> from karat.world import make_world
    >>> queries, values = np.arange(10), np.arange(10) % 2.0
    >>> both = ValueSamples(make_world(images=10, captions=1).benchmark(), "i2t",
    ...     [(queries, values), (queries, 0 * values)], Intervals(resamples=200))
    >>> both.estimates(lambda scores: scores[:1] - scores[1:])
    [0.5 (0.2 to 0.8, 95% percentile, n = 10)]
    """

    def __init__(
        self,
        benchmark: Benchmark,
        direction: Direction,
        columns: Sequence[tuple[np.ndarray, np.ndarray]],
        intervals: Intervals,
    ) -> None:
        clusters = [benchmark.clusters(direction, queries) for queries, _ in columns]
        known = np.unique(np.concatenate(clusters))
        samples = Samples(
            [
                Sample(values, np.searchsorted(known, cluster))
                for (_, values), cluster in zip(columns, clusters)
            ],
            len(known),
        )
        self.intervals, self.clusters = intervals, len(known)
        self.n = max(len(queries) for queries, _ in columns)
        self.values = samples.values()
        self.draws, self.jackknife = intervals.draw(samples.resampled, len(known))

    def estimates(self, statistic: Statistic) -> list[Estimate]:
        """Return numbers told of the scores, each with its interval."""
        value = statistic(self.values[:, None])[:, 0]
        jackknife = None if self.jackknife is None else statistic(self.jackknife)
        ends = self.intervals.ends(value, statistic(self.draws), jackknife)
        method = self.intervals.level, self.intervals.shown, self.n, self.clusters
        return [
            Estimate(float(point), float(low), float(high), *method) for point, low, high in zip(value, *ends)
        ]
