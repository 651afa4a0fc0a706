"""Scores of several systems under several labels, resampled together over images."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from karat.benchmarks import Benchmark, Direction
from karat.stats.estimate import Estimate
from karat.stats.intervals import Intervals
from karat.stats.pooled import Pooled
from karat.stats.samples import Sample

Statistic = Callable[[np.ndarray], np.ndarray]
"""What is told of the scores of all columns, [columns, B]: [statistics, B]."""


class Resampled:
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
    >>> both = Resampled(make_world(images=10, captions=1).benchmark(), "i2t",
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
        labels = [benchmark.clusters(direction, queries) for queries, _ in columns]
        known = np.unique(np.concatenate(labels))
        samples = [
            Sample(values, np.searchsorted(known, label)) for (_, values), label in zip(columns, labels)
        ]
        pooled = Pooled(samples, len(known))
        self.intervals, self.clusters = intervals, len(known)
        self.n = max(len(queries) for queries, _ in columns)
        self.values = pooled.values()
        self.draws, self.jackknife = intervals.draw(pooled.resampled, len(known))

    def estimates(self, statistic: Statistic) -> list[Estimate]:
        """Return numbers told of the scores, each with its interval."""
        value = statistic(self.values[:, None])[:, 0]
        jackknife = None if self.jackknife is None else statistic(self.jackknife)
        ends = self.intervals.ends(value, statistic(self.draws), jackknife)
        made = self.intervals.level, self.intervals.shown, self.n, self.clusters
        return [
            Estimate(float(point), float(low), float(high), *made) for point, low, high in zip(value, *ends)
        ]
