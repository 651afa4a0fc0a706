"""Value samples: columns of values resampled together, and any statistics of their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from karat.stats.estimate import Estimate
from karat.stats.few_clusters import FEWEST_OTHER, means_ends
from karat.stats.resampling import Intervals
from karat.stats.samples import Sample, Samples

Statistic = Callable[[np.ndarray], np.ndarray]
"""Statistics of the scores of all columns, [columns, B]: [statistics, B]."""


class ValueSamples:
    """Columns of values whose clusters, such as images with their captions, are drawn together.

    Parameters
    ----------
    columns
        Per column its values, NaN where undefined, and what each of them belongs to: the same label is the
        same cluster in all columns.
    intervals
        How intervals are made.

    Examples
    --------
    >>> values, image = np.arange(10) % 2.0, np.arange(10)
    >>> both = ValueSamples([(values, image), (0 * values, image)], Intervals(resamples=200))
    >>> both.means()[0]
    0.5 (0.1871 to 0.8129, 95% percentile, n = 10)
    >>> both.estimates(lambda scores: scores[:1] - scores[1:])
    [0.5 (0.2 to 0.8, 95% percentile, n = 10)]
    """

    def __init__(self, columns: Sequence[tuple[np.ndarray, np.ndarray]], intervals: Intervals) -> None:
        # Many columns share one array of labels, which is numbered once.
        distinct = {id(labels): labels for _, labels in columns}
        known = np.unique(np.concatenate(list(distinct.values())))
        place = {key: np.searchsorted(known, labels) for key, labels in distinct.items()}
        self._samples = [Sample(values, place[id(labels)]) for values, labels in columns]
        samples = Samples(self._samples, len(known))
        self.intervals, self.clusters = intervals, len(known)
        self.n = max(len(values) for values, _ in columns)
        self.values = samples.values()
        self.draws, self.jackknife = intervals.draw(samples.resampled, len(known))

    def means(self) -> list[Estimate]:
        """Return the mean of every column with its interval."""
        ends = self.intervals.ends(self.values, self.draws, self.jackknife)
        ends = means_ends(self._samples, self.clusters, self.values, ends, self.intervals.level)
        return [
            replace(mean, n=int(known.sum()), effective=len(np.unique(sample.cluster[known])))
            for mean, sample in zip(self._with_ends(self.values, *ends), self._samples)
            for known in [~np.isnan(sample.values)]
        ]

    def estimates(self, statistic: Statistic) -> list[Estimate]:
        """Return statistics of the scores, each with its interval; with few clusters there is none."""
        value = statistic(self.values[:, None])[:, 0]
        jackknife = None if self.jackknife is None else statistic(self.jackknife)
        low, high = self.intervals.ends(value, statistic(self.draws), jackknife)
        if self.clusters < FEWEST_OTHER:
            low, high = np.full_like(low, np.nan), np.full_like(high, np.nan)
        return self._with_ends(value, low, high)

    def _with_ends(self, value: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[Estimate]:
        method = self.intervals.level, self.intervals.shown, self.n, self.clusters
        return [
            Estimate(float(point), float(begin), float(end), *method)
            for point, begin, end in zip(value, low, high)
        ]
