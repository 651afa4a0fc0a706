"""Intervals: every column of a scorecard under other draws of its queries.

Images are drawn with their captions, once for all columns. Columns that are combinations (RSUM, the mean of
both directions) are put together again from their parts in every draw, so medians, sums and means over folds
go through one code path.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from karat._util import Workers
from karat.benchmarks import Benchmark, Direction, Side
from karat.errors import InputError
from karat.measures import MEAN, ChoiceMeasure, Combined, Measure
from karat.scores.column import Column
from karat.scores.scorecard import Scorecard, ungrouped_notes, unit_drawn
from karat.stats import (
    BORDER,
    EXACT,
    FEW,
    FEWEST,
    FEWEST_OTHER,
    Estimate,
    Flips,
    Intervals,
    Sample,
    Samples,
    Spread,
    ValueSamples,
    difference_ends,
    mean_ends,
    other_ends,
    spread_of,
    subtract,
)

WORTH_SENDING = 1 << 35
"""Values times resamples from which workers draw: means take about ten seconds here, medians a minute."""


def as_intervals(
    intervals: Intervals | str | bool | None,
    interval_method: str | None = None,
    level: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
) -> Intervals | None:
    """Return the choices behind intervals: None for none, True for the usual ones, or a method's name.

    What else is given changes these choices; a wrong value raises where there are no intervals, too.

    >>> as_intervals("bca").resamples, as_intervals(False), as_intervals(True, level=0.9).level
    (10000, None, 0.9)
    """
    if isinstance(intervals, str):
        intervals = Intervals(intervals)
    chosen = intervals if isinstance(intervals, Intervals) else Intervals()
    changes = {"method": interval_method, "level": level, "resamples": resamples, "seed": seed}
    changes = {key: value for key, value in changes.items() if value is not None}
    chosen = replace(chosen, **changes) if changes else chosen  # type: ignore[arg-type]
    return None if intervals is None or intervals is False else chosen


def comparison_intervals(
    intervals: Intervals | str | bool,
    interval_method: str | None,
    level: float | None,
    resamples: int | None,
    seed: int,
) -> Intervals:
    """Return the choices behind the intervals of a comparison; a seed of `intervals` itself stays."""
    drawn = None if isinstance(intervals, Intervals) else seed
    return as_intervals(intervals, interval_method, level, resamples, drawn) or Intervals(seed=seed)


def with_intervals(
    card: Scorecard, intervals: Intervals | str | bool = True, workers: Workers | None = None
) -> Scorecard:
    """Return the scorecard with an interval for every column that has a value.

    Images are drawn with replacement, and with each its captions: what would the score be on other
    queries of the same kind, over the same gallery? All columns of all runs see the same draws, which the
    workers of a cluster make where they are given.
    """
    options = as_intervals(intervals)
    if options is None or all(column.value is None for column in card):
        return card
    check_published_labels(card.label_versions)
    column_samples = ColumnSamples(card.columns)
    ends = column_samples.ends(options, *column_samples.draw(options, workers))
    return with_ends(card, column_samples, options, *ends)


def worth_sending(card: Scorecard, intervals: Intervals, workers: Workers | None) -> Workers | None:
    """Return the workers where there is so much to draw that it pays to send it to them."""
    numbers = sum(column.n for column in card if column.values is not None)
    return workers if numbers * intervals.resamples >= WORTH_SENDING else None


def check_published_labels(label_uncertainty: bool | int | None) -> None:
    """Raise where uncertain labels were asked for and would be forgotten: tests know the published ones."""
    if label_uncertainty:
        raise InputError(
            "differences, tests and reports of several runs do not include label uncertainty",
            fix="karat evaluate --label-uncertainty gives the intervals of the scores; compare without it",
        )


def with_ends(
    card: Scorecard,
    column_samples: ColumnSamples,
    intervals: Intervals,
    low: np.ndarray,
    high: np.ndarray,
    methods: Sequence[str | None],
) -> Scorecard:
    """Return the scorecard with what `ColumnSamples.ends` gave.

    An end that is not a number is left out; notes say why, and how sure the others are.
    """
    made: dict[Column, dict[str, Any]] = {
        column: {
            "low": float(begin) if np.isfinite(begin) else None,
            "high": float(end) if np.isfinite(end) else None,
            "interval_method": method,
        }
        for column, begin, end, method in zip(column_samples.columns, low, high, methods)
    }
    columns = [replace(column, **made[column]) if column in made else column for column in card.columns]
    notes = [
        f"{c.run}: the interval of {c.measure} on {c.truth} ({c.direction}) has no upper end: "
        "too many rankings end before the first relevant item"
        for c in columns
        if c.low is not None and c.high is None
    ]
    notes += interval_notes(column_samples, list(made.values()), intervals, card)
    return replace(
        card, columns=columns, intervals=intervals, notes=[*card.notes, *notes, *ungrouped_notes(card)]
    )


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
        self._leaf_columns = list(leaves)
        # A query's image, or the query itself: the same number means the same thing in all columns. Columns
        # of one truth and direction share the array, which is numbered once.
        labels = {id(leaf.cluster): leaf.cluster for leaf in leaves if leaf.cluster is not None}
        known = np.unique(np.concatenate([*map(np.unique, labels.values()), np.zeros(0, np.int64)]))
        numbers = {label: np.searchsorted(known, cluster) for label, cluster in labels.items()}
        self.clusters = len(known)
        self._samples = [sample_of(leaf, numbers[id(leaf.cluster)]) for leaf in leaves]
        self._leaves = Samples(self._samples, self.clusters)

    @property
    def leaves(self) -> Sequence[Column]:
        """The columns with values per query that all columns are made of, each once."""
        return self._leaf_columns

    def leaves_of(self, t: int) -> list[Column]:
        """Return the columns with values per query that column number t is made of."""
        return [self._leaf_columns[leaf] for leaf in self._leaves_of[t]]

    def with_values(self, values: Mapping[Column, np.ndarray]) -> ColumnSamples:
        """Return the same columns with other values per query of some of `leaves`."""
        other = copy(self)
        other._samples = [
            replace(sample, values=values[leaf]) if leaf in values else sample
            for leaf, sample in zip(self._leaf_columns, self._samples)
        ]
        other._leaves = Samples(other._samples, self.clusters)
        other.__dict__.pop("_leaf_kinds", None)
        return other

    def values(self) -> np.ndarray:
        """Return every column as it is, [T]."""
        return self._combine(self._leaves.values())

    def resampled(self, weights: np.ndarray) -> np.ndarray:
        """Return every column under weights [B, C]: [T, B]."""
        return self._combine(self._leaves.resampled(weights))

    def draw(
        self, intervals: Intervals, workers: Workers | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return every column under every resample, [T, B], and, where the method needs it, with each
        cluster left out, [T, C]."""
        draws, jackknife = intervals.draw(self._leaves.resampled, self.clusters, workers)
        return self._combine(draws), None if jackknife is None else self._combine(jackknife)

    def ends(
        self, intervals: Intervals, draws: np.ndarray, jackknife: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, list[str | None]]:
        """Return both ends of every column's interval, and the methods where the draws would not hold.

        Ends are NaN where there are too few clusters.
        """
        values = self.values()
        ends = np.array(intervals.ends(values, draws, jackknife))
        methods: list[str | None] = []
        for t, value in enumerate(values):
            pair, method = (float(ends[0, t]), float(ends[1, t])), None
            if self.is_mean(t):
                if not self.settled(t, value):
                    pair, method = mean_ends(float(value), pair, self.spread(t), intervals.level)
                    if self.columns[t].measure.unit == "rank":
                        pair = max(1.0, pair[0]) if pair[0] == pair[0] else pair[0], pair[1]
            else:
                pair = other_ends(pair, self.sizes[t])
            ends[:, t] = pair
            methods.append(method)
        return ends[0], ends[1], methods

    def difference_ends(
        self,
        pairs: Sequence[tuple[int, int]],
        values: np.ndarray,
        intervals: Intervals,
        draws: np.ndarray,
        jackknife: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends of the intervals of differences of columns, as `ends` does for columns."""
        first, second = np.array(pairs).T
        left_out = None if jackknife is None else jackknife[first] - jackknife[second]
        ends = np.array(intervals.ends(values, subtract(draws[first], draws[second]), left_out))
        for p, (a, b) in enumerate(pairs):
            low, high = float(ends[0, p]), float(ends[1, p])
            size = max(self.sizes[a], self.sizes[b])
            if size >= FEW and low != high:
                continue
            if self.is_mean(a):
                spread = self.spread(a).less(self.spread(b))
                (low, high), _ = difference_ends(float(values[p]), (low, high), spread, intervals.level)
            else:
                low, high = other_ends((low, high), size)
            ends[:, p] = low, high
        return ends[0], ends[1]

    def differing(self, first: int, second: int, most: int) -> int:
        """Return how many clusters differ between two columns, in any of their parts; at most `most`."""
        differ = np.zeros(self.clusters, bool)
        for a, b in zip(self._leaves_of[first], self._leaves_of[second]):
            ours, theirs = self._samples[a], self._samples[b]
            same = (ours.values == theirs.values) | (np.isnan(ours.values) & np.isnan(theirs.values))
            differ[ours.cluster[~same]] = True
            if differ.sum() >= most:
                return most
        return int(differ.sum())

    def is_mean(self, t: int) -> bool:
        """Whether a column is a mean over queries, or a weighted sum of means."""
        measure = self.columns[t].measure
        linear = not isinstance(measure, Combined) or measure.linear
        return linear and all(self._samples[leaf].aggregate is MEAN for leaf in self._leaves_of[t])

    def settled(self, t: int, value: float) -> bool:
        """Whether a mean has so many clusters, so far from both ends of its scale, that resampling holds."""
        top = largest_value(self.columns[t])
        if self.sizes[t] < FEW or top is None:
            return False
        return self.sizes[t] * min(value, top - value) / top >= BORDER

    def spread(self, t: int) -> Spread:
        """Return how a column that is a mean spreads over its clusters."""
        leaves = [self._samples[leaf] for leaf in self._leaves_of[t]]
        # What a weighted sum makes of one of its parts is that part's weight.
        weights = [float(combine(self.columns[t], row)) for row in np.eye(len(leaves))]
        spread = spread_of(leaves, self.clusters, weights)
        return spread if largest_value(self.columns[t]) is not None else replace(spread, top=None)

    @cached_property
    def sizes(self) -> list[int]:
        """How many clusters each column has values in."""
        return [column.effective for column in self.columns]

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

    def kinds(self) -> list[tuple[Hashable, ...] | None]:
        """Return what each column is the sum of, over clusters; None for medians and what is not linear.

        Two columns of one kind differ in the values alone: they have as many in every cluster.
        """
        kinds: list[tuple[Hashable, ...] | None] = []
        for column, leaves in zip(self.columns, self._leaves_of):
            linear = not isinstance(column.measure, Combined) or column.measure.linear
            kind = tuple(self._leaf_kinds[leaf] for leaf in leaves)
            kinds.append(kind if linear and None not in kind else None)
        return kinds

    def swapped_sums(self, columns: Sequence[int], flips: Flips) -> Iterator[np.ndarray]:
        """Yield columns when the signs of flipped clusters are turned, [columns, some samples].

        The difference of two columns of one kind is then what it is when these clusters change hands. Each
        column is given as what it has beyond the first one of its kind, which changes no difference and
        leaves one column less to add up.
        """
        leaves = sorted({leaf for t in columns for leaf in self._leaves_of[t]})
        shares = {leaf: self._samples[leaf].shares(self.clusters) for leaf in leaves}
        first: dict[Hashable, int] = {}
        for leaf in leaves:
            first.setdefault(self._leaf_kinds[leaf], leaf)
        others = [leaf for leaf in leaves if leaf not in first.values()]
        beyond = np.zeros((self.clusters, len(others)))
        for j, leaf in enumerate(others):
            beyond[:, j] = shares[leaf][0] - shares[first[self._leaf_kinds[leaf]]][0]
        units = np.array([[shares[leaf][1]] for leaf in others]).reshape(-1, 1)
        total = beyond.sum(axis=0)[:, None]
        for flipped in flips.sums(beyond):
            swapped = np.zeros((len(self._samples), flipped.shape[1]))
            swapped[others] = units * (total - 2 * flipped)
            yield np.stack([combine(self.columns[t], swapped[self._leaves_of[t]]) for t in columns])

    @cached_property
    def _leaf_kinds(self) -> list[Hashable]:
        """What each leaf is, but for its run, and how many values each cluster has; None if it is no mean."""
        return [
            (leaf.truth, leaf.direction, str(leaf.measure), sample.sums(self.clusters)[1].tobytes())
            if sample.aggregate is MEAN
            else None
            for leaf, sample in zip(self._leaf_columns, self._samples)
        ]

    def _combine(self, leaves: np.ndarray) -> np.ndarray:
        return np.stack([combine(column, leaves[at]) for column, at in zip(self.columns, self._leaves_of)])


def interval_notes(
    column_samples: ColumnSamples, made: Sequence[dict[str, Any]], intervals: Intervals, card: Scorecard
) -> list[str]:
    """Return where there is no interval, and where resampling did not do."""
    notes = IntervalNotes(column_samples, made, f"{100 * intervals.level:g}%", unit_drawn(card))
    return [*notes.too_few(), *notes.all_the_same(), *notes.few(), *notes.near_an_end(), *notes.long_tailed()]


class IntervalNotes:
    """What a reader should know of the intervals that `ColumnSamples.ends` made.

    Parameters
    ----------
    column_samples, made
        The columns, and the ends and the method of each.
    level
        Of the intervals, in print.
    drawn
        What was resampled, as `unit_drawn` says it.
    """

    def __init__(
        self, column_samples: ColumnSamples, made: Sequence[Mapping[str, Any]], level: str, drawn: Side
    ) -> None:
        self.samples, self.made, self.level = column_samples, made, level
        self.unit, self.units = drawn.one, drawn.many
        sizes = column_samples.sizes
        self._none = [t for t, ends in enumerate(made) if ends["low"] is None and ends["high"] is None]
        self._few = [t for t, size in enumerate(sizes) if t not in self._none and size < FEW]

    def _names(self, places: Iterable[int]) -> str:
        return names_of(self.samples.columns[t] for t in places)

    def too_few(self) -> list[str]:
        """Return which columns have too few clusters for an interval."""
        by_size: dict[int, list[int]] = {}
        for t in self._none:
            by_size.setdefault(self.samples.sizes[t], []).append(t)
        return [
            f"no interval of {self._names(places)}: an interval needs "
            f"{FEWEST} {self.units}, that of a median {FEWEST_OTHER}, and there "
            f"{'is' if size == 1 else 'are'} {size} {self.unit if size == 1 else self.units}"
            for size, places in sorted(by_size.items())
            if size < FEWEST_OTHER
        ]

    def all_the_same(self) -> list[str]:
        """Return which means have no interval because nothing varies."""
        enough = (t for t in self._none if self.samples.sizes[t] >= FEWEST)
        same = [t for t in enough if self.samples.is_mean(t)]
        return [f"no interval of {self._names(same)}: every {self.unit} has the same value"] if same else []

    def few(self) -> list[str]:
        """Return that there are few clusters."""
        if not self._few:
            return []
        return [
            f"fewer than {FEW} {self.units} ({min(self.samples.sizes[t] for t in self._few)}): "
            f"intervals of fractions are exact ones (Clopper–Pearson), wide, and hold in {self.level} or "
            "more of samples; those of ranks are rough"
        ]

    def near_an_end(self) -> list[str]:
        """Return which columns have an exact interval for being near to 0 or 100%."""
        exact = (t for t, ends in enumerate(self.made) if ends["interval_method"] == EXACT)
        border = [t for t in exact if t not in self._few]
        if not border:
            return []
        few = "queries" if self.units == "queries" else f"{self.units}' worth of queries"
        return [
            f"{self._names(border)}: so near to 0 or 100% that fewer than {BORDER} {few} "
            "lie on one side; the interval is an exact one (Clopper–Pearson), which may be wider "
            "than needed"
        ]

    def long_tailed(self) -> list[str]:
        """Return which mean ranks rest on a few long ones."""
        sure = (t for t in range(len(self.made)) if t not in self._none and t not in self._few)
        ranks = (t for t in sure if largest_value(self.samples.columns[t]) is None)
        tails = [t for t in ranks if self.samples.is_mean(t) and self.samples.spread(t).long_tailed]
        if not tails:
            return []
        return [
            f"{self._names(tails)}: a few very long ranks decide the mean, so that its interval holds in "
            f"fewer than {self.level} of samples; that of the median does not have this problem"
        ]


def names_of(columns: Iterable[Column]) -> str:
    """Return what columns are, each once whatever its run.

    >>> from karat.measures import parse_measure
    >>> two = [Column(run, "eccv", "i2t", parse_measure("R@1"), 0.5, 10) for run in "ab"]
    >>> names_of(two)
    'R@1 on eccv (i2t)'
    """
    where: dict[tuple[str, str], dict[str, None]] = {}
    for column in columns:
        where.setdefault((str(column.measure), column.truth), {})[column.direction] = None
    named = [f"{measure} on {truth} ({', '.join(d)})" for (measure, truth), d in where.items()]
    return ", ".join(named if len(named) <= 4 else [*named[:3], f"{len(named) - 3} others"])


def largest_value(column: Column) -> float | None:
    """Return the largest value that a column of fractions, or of sums of them, can have; None of ranks."""
    if column.measure.unit == "rank":
        return None
    return float(len(leaves_of(column))) if column.measure.unit == "sum" else 1.0


def leaves_of(column: Column) -> tuple[Column, ...]:
    """Return the columns with values per query that a column is made of."""
    return column.parts if isinstance(column.measure, Combined) else (column,)


def combine(column: Column, leaves: np.ndarray) -> np.ndarray:
    """Return a column from its aggregated leaves, [L, ...]."""
    return column.measure.combine(list(leaves)) if isinstance(column.measure, Combined) else leaves[0]


def sample_of(leaf: Column, cluster: np.ndarray) -> Sample:
    """Return a column's values as the statistics take them."""
    assert isinstance(leaf.measure, Measure | ChoiceMeasure)
    assert leaf.values is not None
    return Sample(leaf.values, cluster, leaf.fold, leaf.measure.aggregate)


def query_samples(
    benchmark: Benchmark,
    direction: Direction,
    columns: Sequence[tuple[np.ndarray, np.ndarray]],
    intervals: Intervals,
) -> ValueSamples:
    """Return columns (queries, values) whose images with their captions are drawn together."""
    # Many columns share one array of queries: its clusters are looked up once.
    distinct = {id(queries): queries for queries, _ in columns}
    clusters = {key: benchmark.clusters(direction, queries) for key, queries in distinct.items()}
    return ValueSamples([(values, clusters[id(queries)]) for queries, values in columns], intervals)


def paired_differences(
    pairs: Sequence[tuple[Column, Column]], intervals: Intervals
) -> list[tuple[float, float, Estimate]]:
    """Return the values of both columns of each pair, and the second less the first with its interval.

    Both columns of a pair are of the same queries; images with their captions are drawn together, once for
    all pairs.

    Parameters
    ----------
    pairs
        Columns with values per query.
    intervals
        How intervals are made.

    Examples
    --------
    >>> from karat.measures import parse_measure
    >>> queries, hits = np.arange(40), np.repeat([1.0, 0.0], 20)
    >>> first, second = (
    ...     Column(run, "own", "t2i", parse_measure("R@1"), 0.5, 40, values, queries, 0 * queries, queries)
    ...     for run, values in (("before", hits), ("after", hits * (queries < 10))))
    >>> paired_differences([(first, second)], Intervals(resamples=500))
    [(0.5, 0.25, -0.25 (-0.375 to -0.125, 95% percentile, n = 40))]
    """
    if not pairs:
        return []
    samples = ColumnSamples([column for pair in pairs for column in pair])
    draws, jackknife = samples.draw(intervals)
    values = samples.values()
    places = [(2 * number + 1, 2 * number) for number in range(len(pairs))]
    observed = subtract(values[1::2], values[::2])
    ends = samples.difference_ends(places, observed, intervals, draws, jackknife)
    made = intervals.level, intervals.shown
    return [
        (
            float(values[first]),
            float(values[second]),
            Estimate(float(value), float(low), float(high), *made, pair[0].n, samples.sizes[first]),
        )
        for pair, (second, first), value, low, high in zip(pairs, places, observed, *ends)
    ]
