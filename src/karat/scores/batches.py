"""Every measure of a batch of queries: one value per query is all that is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.measures import Measure
from karat.measures.ties import Counts, TiePolicy, leave_out_unjudged, resolve
from karat.scores.plan import Choices

Values = dict[Measure, np.ndarray]


@dataclass(frozen=True, eq=False)
class Batch:
    """Scores of some queries of one fold.

    Parameters
    ----------
    queries, fold, depth
        The queries, the number of their fold, and how many places of each ranking are known.
    values, unanswered
        Per measure and query: the value, and whether it depends on places that are not known.
    upper, upper_unanswered
        The same if every unjudged pair is relevant; empty when no bounds were asked for.
    worst, best
        The values under the pessimistic and the optimistic policy.
    tied_queries, largest
        How many queries have a relevant item that ties, and with how many items at most.
    """

    queries: np.ndarray
    fold: int
    depth: np.ndarray
    values: Values
    unanswered: Values
    upper: Values
    upper_unanswered: Values
    worst: Values
    best: Values
    tied_queries: int
    largest: int


def score_batch(
    queries: np.ndarray, fold: int, counts: Counts, measures: Sequence[Measure], choices: Choices
) -> Batch:
    """Compute every measure of some queries, under the chosen reading and tie policy."""
    leave_out = choices.unjudged == "left_out" and not counts.nothing_unjudged
    read = leave_out_unjudged(counts) if leave_out else counts
    ranked = resolve(read, choices.ties)
    values = {measure: measure(ranked) for measure in measures}
    upper, upper_unanswered = {}, {}
    if choices.unjudged == "bounds":
        other = resolve(counts, choices.ties, unjudged_relevant=not counts.nothing_unjudged)
        bounded = [measure for measure in measures if measure.bounded]
        upper = {measure: measure(other) for measure in bounded}
        upper_unanswered = {measure: measure.unanswered(other) for measure in bounded}
    tied = (read.tied > 0) & (read.grade > 0) & (read.above >= 0)

    def under(policy: TiePolicy) -> Values:
        # Without ties every policy gives the same, and the chosen one is computed already.
        if policy == choices.ties or not tied.any():
            return values
        other = resolve(read, policy)
        return {measure: measure(other) for measure in measures}

    return Batch(
        queries,
        fold,
        ranked.depth,
        values,
        {measure: measure.unanswered(ranked) for measure in measures},
        upper,
        upper_unanswered,
        under("pessimistic"),
        under("optimistic"),
        len(np.unique(read.query[tied])),
        int(read.tied[tied].max(initial=0)) + 1,
    )
