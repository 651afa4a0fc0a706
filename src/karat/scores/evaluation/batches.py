"""Batches of queries with their values, and what follows: aggregates, their bounds, the report on ties.

One value per query, measure and reading is all that is kept of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat._util import plural
from karat.benchmarks import Benchmark, Direction, JudgedItems
from karat.measures import (
    Measure,
    TiePolicy,
    in_percent,
    is_share,
    leave_out_unjudged,
    parse_measure,
    resolve,
    show_value,
)
from karat.runs import Run
from karat.scores.evaluation.options import ScoringOptions
from karat.scores.scorecard import TieReport

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
        The same if every unjudged pair is relevant; empty when no bounds were requested.
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


def read(items: JudgedItems, options: ScoringOptions) -> JudgedItems:
    """Return what is ranked under the chosen reading: everything, or the judged items alone."""
    leave_out = options.unjudged == "left_out" and not items.nothing_unjudged
    return leave_out_unjudged(items) if leave_out else items


def score_batch(items: JudgedItems, fold: int, measures: Sequence[Measure], options: ScoringOptions) -> Batch:
    """Compute every measure of some queries, under the chosen reading and tie policy."""
    seen = read(items, options)
    ranked = resolve(seen, options.ties)
    values = {measure: measure(ranked) for measure in measures}
    upper, upper_unanswered = {}, {}
    if options.unjudged == "bounds":
        filled = resolve(items, options.ties, unjudged_relevant=not items.nothing_unjudged)
        bounded = [measure for measure in measures if measure.bounded]
        upper = {measure: measure(filled) for measure in bounded}
        upper_unanswered = {measure: measure.unanswered(filled) for measure in bounded}
    tied = (seen.tied > 0) & (seen.grade > 0) & (seen.above >= 0)

    def under(policy: TiePolicy) -> Values:
        # Without ties every policy gives the same, and the chosen one is computed already.
        if policy == options.ties or not tied.any():
            return values
        resolved = resolve(seen, policy)
        return {measure: measure(resolved) for measure in measures}

    return Batch(
        items.queries,
        fold,
        ranked.depth,
        values,
        {measure: measure.unanswered(ranked) for measure in measures},
        upper,
        upper_unanswered,
        under("pessimistic"),
        under("optimistic"),
        len(np.unique(seen.number[tied])),
        int(seen.tied[tied].max(initial=0)) + 1,
    )


def aggregate_folds(measure: Measure, values: np.ndarray, folds: np.ndarray) -> float | None:
    """Return the mean over folds of each fold's aggregate; None when no query has a value."""
    per_fold = [measure.aggregate(values[folds == fold])[0] for fold in np.unique(folds)]
    known = [value for value in per_fold if not np.isnan(value)]
    return float(np.mean(known)) if known else None


def folds_of(batches: Sequence[Batch]) -> np.ndarray:
    """Return the number of each query's fold."""
    return np.repeat([batch.fold for batch in batches], [len(batch.queries) for batch in batches])


def aggregate(
    measure: Measure, batches: Sequence[Batch], benchmark: Benchmark, direction: Direction
) -> tuple[float | None, str | None]:
    """Return the aggregate, or why there is none."""
    unanswered = np.concatenate([batch.unanswered[measure] for batch in batches])
    if unanswered.any():
        first = int(np.flatnonzero(unanswered)[0])
        query = np.concatenate([batch.queries for batch in batches])[first]
        depth = int(np.concatenate([batch.depth for batch in batches])[first])
        queries = plural(int(unanswered.sum()), "image" if direction == "i2t" else "caption")
        return None, (
            f"the ranking of {queries} ends too early, "
            f"first {benchmark.queries(direction)[query]} with {plural(depth, 'known place')}"
        )
    values = np.concatenate([batch.values[measure] for batch in batches])
    value = aggregate_folds(measure, values, folds_of(batches))
    if value is None:
        return None, f"no query has {measure.wants}"
    if not np.isfinite(value):
        return None, "the rankings end before the first relevant item of too many queries"
    return value, None


def bounds_of(
    measure: Measure, value: float | None, batches: Sequence[Batch]
) -> tuple[float | None, float | None]:
    """Return the bounds: the score itself, and what it is if every unjudged pair is relevant.

    Over the queries that have a value; for these the normaliser is fixed.
    """
    if value is None or any(
        measure not in batch.upper or batch.upper_unanswered[measure].any() for batch in batches
    ):
        return None, None
    ends = [np.where(np.isnan(batch.values[measure]), np.nan, batch.upper[measure]) for batch in batches]
    bound = aggregate_folds(measure, np.concatenate(ends), folds_of(batches))
    if bound is None or not np.isfinite(bound):
        return None, None
    return (value, bound) if measure.better == "high" else (bound, value)


def tie_report(
    run: Run,
    truth: str,
    direction: str,
    batches: Sequence[Batch],
    measures: Sequence[Measure],
) -> TieReport | None:
    """Return how many queries have a tied relevant item, and the range that ties leave."""
    tied_queries = sum(batch.tied_queries for batch in batches)
    if not tied_queries:
        return None
    ranges = {}
    folds = folds_of(batches)
    for measure in measures:
        worst, best = (
            aggregate_folds(measure, np.concatenate([values[measure] for values in side]), folds)
            for side in ([batch.worst for batch in batches], [batch.best for batch in batches])
        )
        if worst is not None and best is not None and np.isfinite(worst) and np.isfinite(best):
            ranges[str(measure)] = (worst, best)
    largest = max(batch.largest for batch in batches)
    return TieReport(run.name, truth, direction, tied_queries, len(folds), largest, ranges)


def merged(reports: Sequence[TieReport]) -> list[TieReport]:
    """Return the reports of one run, truth and direction as one: the first, with every measure's range."""
    if not reports:
        return []
    ranges = {name: ends for report in reports for name, ends in report.range.items()}
    return [replace(reports[0], range=ranges)]


def tie_notes(reports: Sequence[TieReport]) -> list[str]:
    """Return one sentence on the ties of a run: how many, and what they change at most."""
    if not reports:
        return []
    most = max(reports, key=lambda report: report.tied_queries / report.queries)
    note = (
        f"{most.run}: ties: {most.tied_queries:,} of {most.queries:,} queries of {most.truth} "
        f"({most.direction}) have a relevant item that shares its score with others, "
        f"up to {max(report.largest for report in reports):,} at once"
    )
    changes = [
        (is_share(parse_measure(name)), abs(ends[1] - ends[0]), name, where)
        for where in reports
        for name, ends in where.range.items()
    ]
    if not changes:
        return [note]
    # The widest range of a fraction, or of a rank where there are only ranks.
    _, change, name, where = max(changes, key=lambda entry: entry[:2])
    measure = parse_measure(name)
    if change < (0.0005 if in_percent(measure) else 0.5):
        return [f"{note}; their order changes nothing that matters"]
    low, high = (show_value(measure, end) for end in sorted(where.range[name]))
    return [
        f"{note}; by their order, {name} on {where.truth} ({where.direction}) lies between {low} and {high}"
    ]
