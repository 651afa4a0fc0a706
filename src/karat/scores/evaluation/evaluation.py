"""Evaluation: score runs on the truths of a benchmark.

Each run is asked once where all labelled items are (`labels`), or for its first items where a truth is a rule
or a measure looks at similarities (`first_items`). From these counts every measure is computed, batch of
queries by batch (`batches`); the values per query are aggregated to columns, and columns to combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction, load_benchmark
from karat.errors import InputError
from karat.measures import (
    ColumnKey,
    Combined,
    Counts,
    MeanOfBoth,
    Measure,
    Named,
    Reading,
    Semantic,
    TiePolicy,
)
from karat.runs import Run, load_run
from karat.scores.evaluation.batches import (
    Batch,
    aggregate,
    bounds_of,
    merged,
    score_batch,
    tie_notes,
    tie_report,
)
from karat.scores.evaluation.first_items import implicit_counts, semantic_counts
from karat.scores.evaluation.labels import Labels, SharedRequests, labels_of
from karat.scores.evaluation.plan import MeasurePlan, ScoringOptions, make_plan, reading_notes
from karat.scores.evaluation.similarity import Similarities
from karat.scores.intervals import as_intervals, with_intervals
from karat.scores.scorecard import Column, Scorecard, TieReport
from karat.stats import Intervals


def evaluate(
    runs: Run | Sequence[Run] | Any,
    benchmark: Benchmark | str,
    measures: Iterable[str | Named] | str | None = None,
    *,
    truths: Iterable[str] | str | None = None,
    directions: Sequence[Direction] = DIRECTIONS,
    ties: TiePolicy = "pessimistic",
    unjudged: Reading = "misses",
    intervals: Intervals | str | bool | None = None,
    similarities: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Callable[[str], object] | None = None,
) -> Scorecard:
    """Score one or several runs on a benchmark's truths.

    Parameters
    ----------
    runs
        A run or what `karat.load_run` takes: a path, an array, a dictionary of ranked lists, a
        tuple of two embedding tables; or a list of these.
    benchmark
        A benchmark or its name.
    measures
        Names such as "R@1" or "mAP@R"; by default the benchmark's own choice for each truth.
    truths
        Which truths; all by default.
    directions
        "i2t", "t2i" or both; with both, their mean is added.
    ties
        What happens to equal scores: "pessimistic", "optimistic", "expected" or "stable".
    unjudged
        What unjudged pairs count as: "misses"; "left_out", which ranks the judged items alone; or
        "bounds", which counts them as misses and adds bounds over everything they could be.
    intervals
        True for 95% bootstrap intervals, "bca" for another method, or `karat.stats.Intervals`.
    similarities
        For NCS and SR: φ of every image with every caption by name, each a table or what
        `karat.load_run` takes. "cider", "spice" and the other caption metrics need not be given:
        they are computed from the benchmark's captions.
    threads
        How many; all by default. Results do not depend on it.
    progress
        Called with each run's name before it is scored.

    Returns
    -------
    Scorecard

    Examples
    --------
    >>> import karat
    >>> import numpy as np
    >>> coco = karat.load_benchmark("coco")

    A system that knows which image each caption was written for, and nothing else, is perfect by
    the original labels, but misses most of what people judged relevant:

    >>> scores = np.zeros((5000, 25000), np.float32)
    >>> scores[coco.caption_image, np.arange(25000)] = 1
    >>> card = karat.evaluate(karat.load_run(scores), coco, ["R@1", "mAP@R"], truths=["coco-5k", "eccv"])
    >>> card.value("R@1", truth="coco-5k"), round(card.value("mAP@R", truth="eccv"), 3)
    (1.0, 0.224)
    """
    bench = load_benchmark(benchmark) if isinstance(benchmark, str) else benchmark
    plan, options = make_plan(bench, measures, truths, directions, ties, unjudged, threads)
    phi = Similarities(bench, similarities, threads)
    phi.check(named for group in plan.measures.values() for named in group)
    interval_options = as_intervals(intervals)
    columns: list[Column] = []
    reports: list[TieReport] = []
    notes: list[str] = []
    for run in named_apart(as_runs(runs, bench)):
        if progress is not None:
            progress(run.name)
        run_columns, run_reports, run_notes = score_run(run.align(bench), plan, options, phi)
        columns += run_columns
        reports += run_reports
        notes += run_notes
    notes += reading_notes(plan, options)
    card = Scorecard(columns, bench, options.ties, options.unjudged, reports, list(dict.fromkeys(notes)))
    return card if interval_options is None else with_intervals(card, interval_options)


def as_runs(runs: Any, benchmark: Benchmark) -> list[Run]:
    """Return a list of runs from whatever was given."""
    sources = runs if isinstance(runs, list) else [runs]
    if not sources:
        raise InputError("no run was given", fix="give at least one")
    return [
        source
        if isinstance(source, Run)
        else load_run(*(source if isinstance(source, tuple) else (source,)), benchmark=benchmark)
        for source in sources
    ]


def named_apart(runs: list[Run]) -> list[Run]:
    """Raise when two runs have the same name: their columns could not be told apart."""
    names = [run.name for run in runs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(
            f"two runs are called {twice[0]!r}", fix="name them: --names A B, or name= in Python"
        )
    return runs


def score_run(
    run: Run, plan: MeasurePlan, options: ScoringOptions, phi: Similarities
) -> tuple[list[Column], list[TieReport], list[str]]:
    """Score one run: one pass over its scores, then every measure from the counts."""
    directions = tuple(direction for direction in plan.directions if direction in run.directions)
    if not directions:
        raise InputError(
            f"has rankings for {' and '.join(run.directions)} only",
            where=run.where or run.name,
            fix="ask for that direction",
        )
    needed = plan.needed()
    label_sets = {
        (truth, direction): labels_of(plan.benchmark, plan.benchmark.truth(truth), direction)
        for truth in needed
        for direction in directions
    }
    shared = SharedRequests(
        [labels for key, group in label_sets.items() if labelled(needed[key[0]]) for labels in group]
    )
    counts = shared.counts(run, options.threads)
    parts: dict[ColumnKey, Column] = {}
    reports: list[TieReport] = []
    for (truth, direction), group in label_sets.items():
        group_reports = []
        for measures, batches in passes(run, group, counts, phi, needed[truth], options):
            columns, report = score_direction(run, plan, group, batches, measures)
            parts.update(
                {ColumnKey(measure, truth, direction): column for measure, column in zip(measures, columns)}
            )
            group_reports += [report] if report else []
        reports += merged(group_reports)
    columns = []
    for truth, asked_measures in plan.measures.items():
        for named in asked_measures:
            columns += assemble(named, truth, run, parts, directions)
    notes = [
        f"{run.name}: {c.measure} on {c.truth} ({c.direction}) has no value: {c.note}"
        for c in columns
        if c.note
    ]
    missing = [direction for direction in plan.directions if direction not in directions]
    notes += [f"{run.name} has no {direction} rankings" for direction in missing]
    return columns, reports, [*notes, *tie_notes(reports)]


def score_direction(
    run: Run,
    plan: MeasurePlan,
    label_sets: Sequence[Labels],
    batches: Sequence[Batch],
    measures: list[Measure],
) -> tuple[list[Column], TieReport | None]:
    """Aggregate every measure of one truth in one direction, over its folds."""
    truth, direction = label_sets[0].truth.name, label_sets[0].direction
    queries = np.concatenate([batch.queries for batch in batches])
    folds = np.repeat([batch.fold for batch in batches], [len(batch.queries) for batch in batches])
    clusters = plan.benchmark.clusters(direction, queries)
    columns = []
    for measure in measures:
        value, note = aggregate(measure, batches, folds, plan.benchmark, direction)
        lower, upper = bounds_of(measure, value, batches, folds)
        values = np.concatenate([batch.values[measure] for batch in batches])
        columns.append(
            Column(
                run.name,
                truth,
                direction,
                measure,
                value,
                int((~np.isnan(values)).sum()),
                values,
                queries,
                folds,
                clusters,
                lower_bound=lower,
                upper_bound=upper,
                note=note,
            )
        )
    return columns, tie_report(run, truth, direction, batches, folds, measures)


Pass = tuple[list[Measure], list[Batch]]
"""Measures, and their scores of every query."""


def passes(
    run: Run,
    label_sets: Sequence[Labels],
    counts: Mapping[Labels, Counts],
    phi: Similarities,
    measures: Sequence[Measure],
    options: ScoringOptions,
) -> Iterator[Pass]:
    """Yield groups of measures that see the same rows, with their scores over all folds."""
    if by_labels := labelled(measures):
        yield by_labels, list(batches_of(run, label_sets, counts, by_labels, options))
    by_meaning: dict[tuple[str, bool], list[Semantic]] = {}
    for measure in measures:
        if isinstance(measure, Semantic):
            by_meaning.setdefault((measure.phi, measure.gt), []).append(measure)
    for group in by_meaning.values():
        yield from semantic_passes(run, label_sets, phi, group, options)


def labelled(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that look at the truth's labels."""
    return [measure for measure in measures if not isinstance(measure, Semantic)]


def batches_of(
    run: Run,
    label_sets: Sequence[Labels],
    counts: Mapping[Labels, Counts],
    measures: list[Measure],
    options: ScoringOptions,
) -> Iterator[Batch]:
    """Yield the scores of each fold; of a rule's folds in batches, since nobody listed its positives."""
    for fold, labels in enumerate(label_sets):
        if not labels.truth.implicit:
            yield score_batch(labels.queries, fold, counts[labels], measures, options)
            continue
        for queries, counted in implicit_counts(run, labels, measures):
            yield score_batch(queries, fold, counted, measures, options)


def semantic_passes(
    run: Run,
    label_sets: Sequence[Labels],
    phi: Similarities,
    group: Sequence[Semantic],
    options: ScoringOptions,
) -> Iterator[Pass]:
    """Yield the measures of one similarity by how many of the most similar items they take as relevant."""
    by_m: dict[int | None, list[Measure]] = {}
    for measure in group:
        by_m.setdefault(measure.m, []).append(measure)
    batches: dict[int | None, list[Batch]] = {m: [] for m in by_m}
    for fold, labels in enumerate(label_sets):
        deepest = max(measure.k for measure in group)
        similarity, gt = phi[group[0].phi], group[0].gt
        for queries, counted in semantic_counts(run, similarity, labels, gt, deepest, list(by_m), phi.ideal):
            for m, counts in counted.items():
                batches[m].append(score_batch(queries, fold, counts, by_m[m], options))
    yield from ((by_m[m], batches[m]) for m in by_m)


def assemble(
    named: Named, truth: str, run: Run, parts: dict[ColumnKey, Column], directions: tuple[Direction, ...]
) -> list[Column]:
    """Return the columns of one measure: both directions and their mean, or a combination."""
    if isinstance(named, Combined):
        return [combined(named, truth, run, parts)]
    assert isinstance(named, Measure)
    columns = [parts[ColumnKey(named, truth, direction)] for direction in directions]
    return [*columns, combined(MeanOfBoth(named), truth, run, parts)] if len(directions) == 2 else columns


def combined(named: Combined, truth: str, run: Run, parts: dict[ColumnKey, Column]) -> Column:
    """Combine aggregated columns, and their bounds where all have some."""
    keys = named.parts(truth)
    columns = [parts[key] for key in keys if key in parts]

    def together(field: str) -> float | None:
        values = [getattr(column, field) for column in columns]
        if len(columns) < len(keys) or None in values:
            return None
        return float(named.combine([np.atleast_1d(value) for value in values])[0])

    per_direction = {column.direction: column.n for column in columns}
    note = None
    if together("value") is None:
        # The parts say why themselves when they are shown; a lone combination has to.
        reasons = [column.note for column in columns if column.note] or ["it needs both directions"]
        note = reasons[0] if named.direction == "both" else None
    return Column(
        run.name,
        truth,
        named.direction,
        named,
        together("value"),
        sum(per_direction.values()),
        lower_bound=together("lower_bound"),
        upper_bound=together("upper_bound"),
        parts=tuple(columns),
        note=note,
    )
