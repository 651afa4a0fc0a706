"""Leave one system out: would a system that had not contributed to the pool be treated fairly?

A new system is scored on labels that others suggested. What it alone finds is unjudged and counts as a miss.
How much that costs is measured on the systems of the pool: each in turn is taken out together with the pairs
that nobody else suggested, and scored as the outsider that it then is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.benchmarks import Direction
from karat.judging.bias.subset_scores import SubsetScorer
from karat.measures import Measure
from karat.scores import ValueSamples
from karat.stats import Estimate, Intervals


@dataclass(frozen=True)
class LeftOut:
    """What changes for a system when it does not contribute.

    Parameters
    ----------
    system, direction, measure
        Which.
    unique, unique_positives
        How many judged pairs only this system suggested, and how many relevant ones among them were not
        known beforehand.
    score, score_without
        On the labels of all systems, and on those of the others.
    change
        The second less the first, with its interval over images.
    others
        The mean change of the other systems: with fewer labels all scores move.
    unfairness
        `change` less `others`, with its interval: negative where the outsider loses more than those who
        stay. An interval that contains 0 says that nothing can be told.
    rank, rank_without
        Its place among the systems, 1 for the best; equal scores share the better place.
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
            plain |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        return plain


def leave_one_out(
    scorer: SubsetScorer, measures: Sequence[Measure], intervals: Intervals | None = None
) -> list[LeftOut]:
    """Return what changes for each system, measure and direction when the system does not contribute.

    Intervals come from drawing images with replacement, each with its captions. They say how much another
    sample of queries would change the numbers; that the pool has few systems is not in them.

    Parameters
    ----------
    scorer
        Labels and runs.
    measures
        What `bias_measures` returned.
    intervals
        How to make them; 95% percentile intervals from 10,000 resamples by default.
    """
    chosen = Intervals() if intervals is None else intervals
    n = len(scorer.labels.systems)
    if n < 2:
        return []
    out = []
    for direction in scorer.directions:
        queries = scorer.queries(direction)
        # One set of draws for all measures: [measures, 1 + systems, systems, Q].
        values = np.stack([values_without(scorer, direction, measure) for measure in measures])
        columns = [(queries, row) for row in values.reshape(-1, len(queries))]
        drawn = ValueSamples(scorer.benchmark, direction, columns, chosen)
        for number, measure in enumerate(measures):
            for system in range(n):
                tell = Outsider(number, system, n)
                out.append(summarise(scorer, direction, measure, tell, drawn))
    return out


def values_without(scorer: SubsetScorer, direction: Direction, measure: Measure) -> np.ndarray:
    """Return the values on the labels of all systems, then of all but each: [1 + systems, systems, Q]."""
    n = len(scorer.labels.systems)
    inside = np.concatenate([np.ones((1, n), bool), ~np.eye(n, dtype=bool)])
    return np.stack([scorer.values(inside, one, direction, measure) for one in range(n)], axis=1)


@dataclass(frozen=True)
class Outsider:
    """Picks the scores of one measure with and without one system, and tells what changed."""

    measure: int
    system: int
    systems: int

    def scores(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all systems' scores on all labels, and on those without the system: [systems, B] each."""
        table = columns.reshape(-1, 1 + self.systems, self.systems, columns.shape[-1])[self.measure]
        return table[0], table[1 + self.system]

    def changes(self, columns: np.ndarray) -> np.ndarray:
        """Return the system's change, and that less the others' mean change: [2, B]."""
        before, after = self.scores(columns)
        moved = after - before
        others = np.delete(moved, self.system, axis=0).mean(axis=0)
        return np.stack([moved[self.system], moved[self.system] - others])

    def places(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return its place among the systems with and without it: [B] each."""
        before, after = self.scores(columns)
        return places(before)[self.system], places(after)[self.system]


def places(scores: np.ndarray) -> np.ndarray:
    """Return the place of each system, 1 for the best; equal scores share the better place.

    >>> places(np.array([[0.5], [0.7], [0.5]])).ravel().tolist()
    [2, 1, 2]
    """
    # Sums in another order must not tell apart what is equal.
    return 1 + (scores[None] > scores[:, None] + 1e-12).sum(axis=1)


def summarise(
    scorer: SubsetScorer, direction: Direction, measure: Measure, tell: Outsider, drawn: ValueSamples
) -> LeftOut:
    """Put the numbers of one left-out system together."""
    change, unfairness = drawn.estimates(tell.changes)
    before, after = (float(part[tell.system, 0]) for part in tell.scores(drawn.values[:, None]))
    rank, rank_without = (int(part[0]) for part in tell.places(drawn.values[:, None]))
    first, second = tell.places(drawn.draws)
    return LeftOut(
        scorer.labels.systems[tell.system],
        direction,
        str(measure),
        *scorer.labels.unique(tell.system),
        before,
        after,
        change,
        change.value - unfairness.value,
        unfairness,
        rank,
        rank_without,
        float((second > first).mean()),
    )
