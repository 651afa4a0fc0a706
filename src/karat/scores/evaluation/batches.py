"""Batches of queries with their values, and what follows: aggregates, their bounds, the report on ties.

One value per query, measure and reading is all that is kept of a batch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat._util import plural
from karat.benchmarks import Benchmark, Direction, JudgedItems
from karat.measures import (
    MEAN,
    Aggregate,
    Measure,
    Ranked,
    TiePolicy,
    is_share,
    leave_out_unjudged,
    parse_measure,
    resolve,
    show_value,
    trec_eval_name,
)
from karat.runs import Run
from karat.scores.column import Column
from karat.scores.evaluation.options import ScoringOptions
from karat.scores.scorecard import TieReport
from karat.scores.trec_eval import counted

Values = dict[Measure, np.ndarray]


@dataclass(frozen=True, eq=False)
class Batch:
    """Scores of some queries of one fold.

    Parameters
    ----------
    queries, fold, depth, size
        The queries, the number of their fold, how many places of each ranking are known, and of how many.
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
    size: np.ndarray
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
    values = values_like(ranked, measures, options)
    upper, upper_unanswered = {}, {}
    bounded = [m for m in measures if m.bounded and (m.residual or options.unjudged == "bounds")]
    if bounded:
        filled = resolve(seen, options.ties, unjudged_relevant=not seen.nothing_unjudged)
        upper = {measure: measure.upper(filled) for measure in bounded}
        upper_unanswered = {measure: measure.unanswered(filled) for measure in bounded}
    tied = (seen.tied > 0) & (seen.grade > 0) & (seen.above >= 0)

    def under(policy: TiePolicy) -> Values:
        # Without ties every policy gives the same, and the chosen one is computed already.
        if policy == options.ties or not tied.any():
            return values
        return values_like(resolve(seen, policy), measures, options)

    return Batch(
        items.queries,
        fold,
        ranked.depth,
        items.size,
        values,
        # trec_eval takes a list as all that was retrieved.
        {
            m: m.unanswered(ranked) if options.like is None else np.zeros(len(ranked.depth), bool)
            for m in measures
        },
        upper,
        upper_unanswered,
        under("pessimistic"),
        under("optimistic"),
        len(np.unique(seen.number[tied])),
        int(seen.tied[tied].max(initial=0)) + 1,
    )


def values_like(ranked: Ranked, measures: Sequence[Measure], options: ScoringOptions) -> Values:
    """Return every measure of some queries, as they count in the mean."""
    return {m: counted(m, m(ranked), ranked.depth > 0, options.like) for m in measures}


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
        queries = benchmark.query_side(direction).counted(int(unanswered.sum()))
        return None, (
            f"the ranking of {queries} ends too early, "
            f"first {benchmark.queries(direction)[query]} with {plural(depth, 'known place')}"
            + ("; --like trec_eval takes it as not retrieved" if benchmark.queries(direction).open else "")
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
    """Return the bounds: the lowest and the highest score over everything that unjudged pairs could be.

    Of queries that have a value the normaliser is fixed: one end is the value itself, the other what it is
    if every unjudged pair is relevant. A query without a relevant item may turn out to have some, and then
    counts, anywhere from the worst value of the measure to the best that its ranking allows; or it may not.
    So each bound takes in those of these queries that move it.
    """
    if value is None or any(
        measure not in batch.upper or batch.upper_unanswered[measure].any() for batch in batches
    ):
        return None, None
    own, best = (
        np.concatenate([side[measure] for side in sides])
        for sides in ([batch.values for batch in batches], [batch.upper for batch in batches])
    )
    rising = measure.better == "high"
    worst = np.zeros(len(own)) if rising else np.concatenate([batch.size for batch in batches])
    # Where everything is judged, and nothing relevant, there is no best value either.
    without = np.isnan(own) & ~np.isnan(best)
    folds, known = folds_of(batches), ~np.isnan(own)
    ends = [
        extreme_score(measure.aggregate, side, optional, known, without, folds, lowest)
        for side, optional, lowest in ((own, worst, rising), (best, best, not rising))
    ]
    if not all(np.isfinite(end) for end in ends):
        return None, None
    return (ends[0], ends[1]) if rising else (ends[1], ends[0])


def extreme_score(
    aggregate: Aggregate,
    values: np.ndarray,
    optional: np.ndarray,
    known: np.ndarray,
    without: np.ndarray,
    folds: np.ndarray,
    lowest: bool,
) -> float:
    """Return the lowest or highest mean over folds, where queries `without` a value may count or not."""
    sure: list[float] = []
    open_folds: list[float] = []
    for fold in np.unique(folds):
        here = folds == fold
        has = bool((known & here).any())
        end = extreme(aggregate, values[known & here], optional[without & here], lowest)
        (sure if has else open_folds).append(end)
    maybe = np.array([end for end in open_folds if not np.isnan(end)])
    return extreme(MEAN, np.array(sure), maybe, lowest)


def extreme(aggregate: Aggregate, values: np.ndarray, optional: np.ndarray, lowest: bool) -> float:
    """Return the lowest, or highest, aggregate of values and any of some others.

    >>> extreme(MEAN, np.array([0.5, 1.0]), np.array([0.0, 0.25, 0.9]), lowest=True)
    0.4375
    >>> round(extreme(MEAN, np.array([0.5, 1.0]), np.array([0.0, 0.25, 0.9]), lowest=False), 9)
    0.8
    """
    sign = 1.0 if lowest else -1.0
    others = np.sort(sign * optional)
    if not len(values):
        return float(sign * others[0]) if len(others) else np.nan

    def under(count: int) -> float:
        return float(sign * aggregate(np.r_[values, sign * others[:count]])[0])

    # Each one, in rising order, lowers the aggregate as long as it lies below it.
    low, high = 0, len(others)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if others[middle] >= under(middle) else (middle + 1, high)
    return sign * under(low)


def bound_notes(columns: Sequence[Column]) -> list[str]:
    """Return how many queries of a truth and direction have no value, which its bounds have to allow for."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for leaf in (leaf for column in columns for leaf in column.parts or (column,)):
        if leaf.lower_bound is not None and leaf.values is not None and leaf.n < len(leaf.values):
            where, size = (leaf.truth, leaf.direction), len(leaf.values)
            counts[where] = max(counts.get(where, (0, 0)), (size - leaf.n, size))
    return [
        f"{truth} ({direction}): {without:,} of {size:,} queries have no relevant item that is known, and so "
        "no score; the bounds hold whatever they turn out to be"
        for (truth, direction), (without, size) in counts.items()
    ]


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
    """Return a sentence for each run whose values, as they are printed, depend on the order of ties."""
    by_run: dict[str, list[TieReport]] = {}
    for report in reports:
        by_run.setdefault(report.run, []).append(report)
    return [note for own in by_run.values() for note in tie_note(own)]


def tie_note(reports: Sequence[TieReport]) -> list[str]:
    """Return one sentence on the ties of a run: how many, and what they change most; none if nothing."""
    changes = []
    for where in reports:
        for name, ends in where.range.items():
            measure = parse_measure(name)
            low, high = (show_value(measure, end) for end in sorted(ends))
            if low != high:
                size = (is_share(measure), abs(ends[1] - ends[0]))
                changes.append((size, f"{name} on {where.truth} ({where.direction})", low, high))
    if not changes:
        return []
    # The widest range of a fraction, or of a rank where there are only ranks.
    _, what, low, high = max(changes, key=lambda change: change[0])
    most = max(reports, key=lambda report: report.tied_queries / report.queries)
    return [
        f"{most.run}: ties: {most.tied_queries:,} of {most.queries:,} queries of {most.truth} "
        f"({most.direction}) have a relevant item that shares its score with others, "
        f"up to {max(report.largest for report in reports):,} at once; "
        f"by their order, {what} lies between {low} and {high}"
    ]


def mistaken_for(measures: Sequence[Measure]) -> dict[Measure, Measure]:
    """Return, for those measures that are mistaken for another, the other with the same parameters.

    >>> mistaken_for([parse_measure("Recall(rel=0.5)@5"), parse_measure("RP")])
    {Recall(rel=0.5)@5: R(rel=0.5)@5}
    """
    return {
        measure: parse_measure(str(measure).replace(measure.name, measure.mistaken_for, 1))  # type: ignore[misc]
        for measure in measures
        # Who writes trec_eval's recall_10 knows which one it is.
        if measure.mistaken_for and trec_eval_name(measure) == str(measure)
    }


def reading_notes(pairs: Sequence[tuple[Column, Column]]) -> list[str]:
    """Return one sentence on a measure and the one that it is mistaken for, where they differ most."""

    def words(column: Column) -> str:
        meaning = column.measure.plain.format(**vars(column.measure))
        return re.sub(r"among the first 1$", "in first place", meaning)

    apart = [
        (abs(own.value - other.value), own, other)
        for own, other in pairs
        if own.value is not None and other.value is not None and shown(own) != shown(other)
    ]
    if not apart:
        return []
    _, own, other = max(apart, key=lambda pair: pair[0])
    run = f"for {own.run} " if len({column.run for column, _ in pairs}) > 1 else ""
    return [
        f"{own.measure} and {other.measure} differ: {run}on {own.truth} ({own.direction}) {own.measure}, "
        f"{words(own)}, is {shown(own)}, and {other.measure}, {words(other)}, is {shown(other)}; "
        f"papers on image–text retrieval print {other.measure}"
    ]


def shown(column: Column) -> str:
    """Return the value of a column as it is printed."""
    return show_value(column.measure, column.value)
