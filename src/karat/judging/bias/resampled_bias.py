"""The bias B_Θ of all subsets with its intervals: how much another sample of images would change it.

Images are drawn with replacement, each with its captions, and all scores, s_All(φ) too, are computed again
from the same draws. Models and labels are not resampled.

Where a difference d of two scores is close to 0, |d| is mostly larger in resamples than in the sample, so
that an interval of the mean of |d| would lie too high. Its lower end is therefore that of the mean of
sign(d̂) d, with the signs of the sample itself: this mean is never larger than that of |d|, and equal to it
where no sign is in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from karat.benchmarks import Direction
from karat.judging.bias.bias import BiasIntervals, BiasTable, mean_values, over_models
from karat.judging.bias.subsets import Key, SubsetScorer
from karat.measures import Measure
from karat.scores import query_samples
from karat.stats import FEWEST_OTHER, Intervals, divide

BLOCK = 1 << 22
"""How many resampled scores are held at a time: 32 MB."""
ValueColumns = Sequence[tuple[np.ndarray, np.ndarray]]
"""Per model, its queries and their values."""


def bias_tables(
    scorer: SubsetScorer,
    inside: np.ndarray,
    measures: Sequence[Measure],
    intervals: Intervals | None = None,
    truth: Mapping[Key, ValueColumns] | None = None,
) -> tuple[dict[Key, BiasTable], dict[Key, BiasTable]]:
    """Return the bias against the labels of all models, and against a truth, by direction and measure.

    Parameters
    ----------
    scorer
        Labels and runs.
    inside
        The subsets, [subsets, models]; the last one is all models.
    measures
        What `bias_measures` returned.
    intervals
        How they are computed; 95% percentile intervals from 10,000 resamples of images by default.
    truth
        The values of each model on a complete truth, if there is one.
    """
    chosen = Intervals() if intervals is None else intervals
    exact = truth or {}
    every = dict[Key, np.ndarray]()
    for key, _, values in scorer.value_blocks(inside[-1:], measures):
        every[key] = values[0]
    references: dict[Key, list[ValueColumns]] = {
        key: [[(scorer.queries(key[0]), row) for row in values], *([exact[key]] if key in exact else [])]
        for key, values in every.items()
    }
    resampled = {
        key: [ResampledBias(scorer, key[0], inside, columns, chosen) for columns in some]
        for key, some in references.items()
    }
    scores: dict[Key, list[np.ndarray]] = {key: [] for key in every}
    for key, part, values in scorer.value_blocks(inside, measures):
        scores[key].append(mean_values(values))
        for each in resampled[key]:
            each.add(part, values)
    tables = {
        key: [
            BiasTable(
                scorer.labels.systems,
                inside,
                np.concatenate(scores[key]),
                np.array([mean_values(values) for _, values in columns]),
                each.intervals(),
            )
            for columns, each in zip(references[key], resampled[key])
        ]
        for key in every
    }
    return {key: some[0] for key, some in tables.items()}, {
        key: tables[key][1] for key in tables if key in exact
    }


class ResampledBias:
    """Collects the bias of all subsets under resamples of images, for one direction and measure.

    Parameters
    ----------
    scorer, direction
        Labels and runs, and the direction of the queries.
    inside
        The subsets, [subsets, models].
    reference
        Per model, the queries and values to compare with.
    intervals
        How intervals are computed.
    """

    def __init__(
        self,
        scorer: SubsetScorer,
        direction: Direction,
        inside: np.ndarray,
        reference: ValueColumns,
        intervals: Intervals,
    ) -> None:
        self._benchmark, self._direction = scorer.benchmark, direction
        self._queries, self._reference = scorer.queries(direction), list(reference)
        self._inside, self._chosen = inside, intervals
        size = inside.sum(axis=1)
        self._of_size = (size == np.unique(size)[:, None]).astype(np.float64)
        self._clusters = 0
        self._low: list[np.ndarray] = []
        self._high: list[np.ndarray] = []
        # Of the values themselves, the resamples and, for BCa, the jackknife: over the subsets of each size,
        # [ends, kinds, sizes, …].
        self._sums, self._counts = ([np.zeros(1)] * 3 for _ in range(2))

    def add(self, part: slice, values: np.ndarray) -> None:
        """Add the next subsets: their values per query, [S, models, Q]."""
        rows = max(1, BLOCK // (values.shape[1] * self._chosen.resamples))
        for begin in range(0, len(values), rows):
            some = values[begin : begin + rows]
            first = part.start + begin
            self._add(slice(first, first + len(some)), some)

    def _add(self, part: slice, values: np.ndarray) -> None:
        inside = self._inside[part]
        columns = [(self._queries, row) for row in values.reshape(-1, len(self._queries))]
        drawn = query_samples(self._benchmark, self._direction, [*self._reference, *columns], self._chosen)
        self._clusters = drawn.clusters
        own = differences(drawn.values[:, None], inside)
        value, draws = both_ends(own, own, inside), both_ends(differences(drawn.draws, inside), own, inside)
        resampled = [value, draws]
        if drawn.jackknife is not None:
            resampled.append(both_ends(differences(drawn.jackknife, inside), own, inside))
        low, high = self._ends(resampled)
        self._low.append(low)
        self._high.append(high)
        for number, each in enumerate(resampled):
            self._sums[number] = self._sums[number] + self._of_size[:, part] @ np.nan_to_num(each)
            self._counts[number] = self._counts[number] + self._of_size[:, part] @ ~np.isnan(each)

    def intervals(self) -> BiasIntervals:
        """Return the intervals of each subset, and of the mean over the subsets of each size."""
        by_size = [divide(*each) for each in zip(self._sums, self._counts)]
        low, high = (np.concatenate(parts, axis=1) for parts in (self._low, self._high))
        return BiasIntervals(low, high, *self._ends(by_size))

    def _ends(self, resampled: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends, from values, resamples and, for BCa, the jackknife of what bounds each.

        They are NaN with too few images.
        """
        value, draws = resampled[:2]
        if self._clusters < FEWEST_OTHER:
            return np.full(value.shape[1:-1], np.nan), np.full(value.shape[1:-1], np.nan)
        jackknife = resampled[2] if self._chosen.method == "bca" else None
        low, high = self._chosen.ends(value[..., 0], draws, jackknife)
        return np.maximum(low[0], 0.0), high[1]


def differences(scores: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return s_Θ(φ) minus the reference, [subsets, models, B], from the references, then all s_Θ(φ)."""
    reference, scores = np.split(scores, [inside.shape[1]])
    return scores.reshape(*inside.shape, -1) - reference


def both_ends(signed: np.ndarray, own: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return what bounds the bias from below and from above, [2, kinds, subsets, B].

    Parameters
    ----------
    signed, own
        Differences of scores, [subsets, models, …], in resamples and in the sample itself.
    inside
        Which models are in each subset.
    """
    return np.stack([over_models(each, inside) for each in (np.sign(own) * signed, np.abs(signed))])
