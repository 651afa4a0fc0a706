"""Leave one model out: would a model that had not contributed to the pool be treated fairly?

A new model is scored on labels that others suggested. What it alone finds is unjudged and counts as a miss.
How much that costs is measured on the models of the pool: each in turn is removed together with the pairs
that no other model suggested, and scored as an outsider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import Layout, grouped, in_percent, or_none, track
from karat.benchmarks import Direction, shown
from karat.judging.bias.bias import percent, with_interval
from karat.judging.bias.subsets import SubsetScorer
from karat.measures import Measure
from karat.scores import query_samples
from karat.stats import Estimate, Intervals, ValueSamples


@dataclass(frozen=True)
class LeftOut:
    """How the score of a model changes when it does not contribute to the pool.

    Parameters
    ----------
    system, direction, measure
        The model, the direction and the measure.
    unique, unique_positives
        How many judged pairs only this model suggested, and how many of them are relevant and were not known
        before.
    score, score_without
        Its score on the labels of all models, and on those of the others.
    change
        The second minus the first, with its interval over images.
    others
        The mean change of the other models: with fewer labels all scores change.
    unfairness
        `change` minus `others`, with its interval: negative where the outsider loses more than the others. If
        the interval contains 0, the difference may be chance.
    rank, rank_without
        Its place among the models, 1 for the best; equal scores share the better place.
    falls
        The share of resamples in which its place gets worse.
    """

    system: str
    direction: Direction
    measure: str
    unique: int
    unique_positives: int
    score: float
    score_without: float
    change: Estimate
    others: float
    unfairness: Estimate
    rank: int
    rank_without: int
    falls: float

    def record(self) -> dict[str, Any]:
        """Return it as plain values."""
        plain = {key: value for key, value in vars(self).items() if not isinstance(value, Estimate)}
        for name in ("change", "unfairness"):
            estimate: Estimate = getattr(self, name)
            ends = or_none(estimate.low), or_none(estimate.high)
            plain |= {name: estimate.value, f"{name}_low": ends[0], f"{name}_high": ends[1]}
        return plain


def leave_one_out(
    scorer: SubsetScorer, measures: Sequence[Measure], intervals: Intervals | None = None
) -> list[LeftOut]:
    """Return how the score of each model changes when it does not contribute, by direction and measure.

    Intervals come from drawing images with replacement, each with its captions. They show how much another
    sample of queries would change the numbers; they do not account for the small number of models.

    Parameters
    ----------
    scorer
        Labels and runs.
    measures
        What `bias_measures` returned.
    intervals
        How they are computed; 95% percentile intervals from 10,000 resamples by default.
    """
    chosen = Intervals() if intervals is None else intervals
    n = len(scorer.labels.systems)
    if n < 2:
        return []
    out = []
    for direction in track(scorer.directions, lambda way: f"leaving out models, {way}"):
        queries = scorer.queries(direction)
        # One set of draws for all measures: [measures, 1 + models, models, Q].
        values = np.stack([values_without(scorer, direction, measure) for measure in measures])
        columns = [(queries, row) for row in values.reshape(-1, len(queries))]
        drawn = query_samples(scorer.benchmark, direction, columns, chosen)
        for position, measure in enumerate(measures):
            for model in range(n):
                out.append(summarise(scorer, direction, measure, Outsider(position, model, n), drawn))
    return out


def values_without(scorer: SubsetScorer, direction: Direction, measure: Measure) -> np.ndarray:
    """Return the values on the labels of all models, then of all but each: [1 + models, models, Q]."""
    n = len(scorer.labels.systems)
    inside = np.concatenate([np.ones((1, n), bool), ~np.eye(n, dtype=bool)])
    models = track(range(n), "scoring without one model")
    return np.stack([scorer.values(inside, model, direction, measure) for model in models], axis=1)


@dataclass(frozen=True)
class Outsider:
    """Selects the scores of one measure with and without one model, and computes what changed."""

    measure: int
    model: int
    models: int

    def scores(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all models' scores on all labels, and on those without the model: [models, B] each."""
        table = columns.reshape(-1, 1 + self.models, self.models, columns.shape[-1])[self.measure]
        return table[0], table[1 + self.model]

    def changes(self, columns: np.ndarray) -> np.ndarray:
        """Return the model's change, and that minus the others' mean change: [2, B]."""
        before, after = self.scores(columns)
        change = after - before
        others = np.delete(change, self.model, axis=0).mean(axis=0)
        return np.stack([change[self.model], change[self.model] - others])

    def places(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return its place among the models with and without it: [B] each."""
        before, after = self.scores(columns)
        return places(before)[self.model], places(after)[self.model]


def places(scores: np.ndarray) -> np.ndarray:
    """Return the place of each model, 1 for the best; equal scores share the better place.

    >>> places(np.array([[0.5], [0.7], [0.5]])).ravel().tolist()
    [2, 1, 2]
    """
    # Sums in another order may differ in the last digits: such scores are equal.
    return 1 + (scores[None] > scores[:, None] + 1e-12).sum(axis=1)


def summarise(
    scorer: SubsetScorer, direction: Direction, measure: Measure, outsider: Outsider, drawn: ValueSamples
) -> LeftOut:
    """Return the numbers of one model that is left out."""
    change, unfairness = drawn.estimates(outsider.changes)
    before, after = (float(part[outsider.model, 0]) for part in outsider.scores(drawn.values[:, None]))
    rank, rank_without = (int(part[0]) for part in outsider.places(drawn.values[:, None]))
    first, second = outsider.places(drawn.draws)
    return LeftOut(
        scorer.labels.systems[outsider.model],
        direction,
        str(measure),
        *scorer.labels.unique(outsider.model),
        before,
        after,
        change,
        change.value - unfairness.value,
        unfairness,
        rank,
        rank_without,
        float((second > first).mean()),
    )


def left_out_layout(rows: Sequence[LeftOut]) -> Layout:
    """Return the table of models that do not contribute."""
    head = [
        "measure", "direction", "model", "score", "as outsider", "change", "more than others", "place",
        "falls",
    ]  # fmt: skip
    lines = [
        (
            (row.measure, shown(row.direction), row.system),
            [
                percent(row.score),
                percent(row.score_without),
                with_interval(row.change),
                with_interval(row.unfairness),
                f"{row.rank} → {row.rank_without}",
                in_percent(row.falls),
            ],
        )
        for row in rows
    ]
    return grouped(head, lines, title="A model that does not contribute to the pool")
