"""Score runs on a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction, load_benchmark
from karat.measures import Measure, Named
from karat.measures.measure import Part
from karat.measures.ties import Reading, TiePolicy
from karat.runs import Run, load_run
from karat.scores.batches import Batch
from karat.scores.combining import assemble
from karat.scores.intervals import as_intervals, with_intervals
from karat.scores.passes import labelled, passes
from karat.scores.plan import Choices, Plan, make_plan, reading_notes
from karat.scores.pooling import bounds_of, pooled
from karat.scores.scorecard import Column, Scorecard, TieReport
from karat.scores.similarity import Similarities
from karat.scores.tasks import SharedQuestions, Task, tasks_of
from karat.scores.tie_report import merged, tie_notes, tie_report
from karat.stats.intervals import Intervals
from karat.validation import InputError


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
    plan, choices = make_plan(bench, measures, truths, directions, ties, unjudged, threads)
    phi = Similarities(bench, similarities, threads)
    phi.check(named for wanted in plan.wanted.values() for named in wanted)
    chosen = as_intervals(intervals)
    columns: list[Column] = []
    reports: list[TieReport] = []
    notes: list[str] = []
    for run in named_apart(as_runs(runs, bench)):
        if progress is not None:
            progress(run.name)
        scored = score(run.align(bench), plan, choices, phi)
        columns += scored[0]
        reports += scored[1]
        notes += scored[2]
    notes += reading_notes(plan, choices)
    card = Scorecard(columns, bench, choices.ties, choices.unjudged, reports, list(dict.fromkeys(notes)))
    return card if chosen is None else with_intervals(card, chosen)


def as_runs(runs: Any, benchmark: Benchmark) -> list[Run]:
    """Return a list of runs from whatever was given."""
    given = runs if isinstance(runs, list) else [runs]
    if not given:
        raise InputError("no run was given", fix="give at least one")
    made = []
    for run in given:
        sources = run if isinstance(run, tuple) else (run,)
        made.append(run if isinstance(run, Run) else load_run(*sources, benchmark=benchmark))
    return made


def named_apart(runs: list[Run]) -> list[Run]:
    """Raise when two runs have the same name: their columns could not be told apart."""
    names = [run.name for run in runs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(
            f"two runs are called {twice[0]!r}", fix="name them: --names A B, or name= in Python"
        )
    return runs


def score(
    run: Run, plan: Plan, choices: Choices, phi: Similarities
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
    tasks = {
        (truth, direction): tasks_of(plan.benchmark, plan.benchmark.truth(truth), direction)
        for truth in needed
        for direction in directions
    }
    shared = SharedQuestions(
        [task for key, group in tasks.items() if labelled(needed[key[0]]) for task in group]
    )
    counts = shared.counts(run.place(shared.questions, choices.threads) if shared.questions else [])
    parts: dict[Part, Column] = {}
    reports: list[TieReport] = []
    for (truth, direction), group in tasks.items():
        reported = []
        for measures, batches in passes(run, group, counts, phi, needed[truth], choices):
            columns, report = score_direction(run, plan, group, batches, measures)
            parts.update(
                {Part(measure, truth, direction): column for measure, column in zip(measures, columns)}
            )
            reported += [report] if report else []
        reports += merged(reported)
    columns = []
    for truth, wanted in plan.wanted.items():
        for named in wanted:
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
    run: Run, plan: Plan, tasks: Sequence[Task], batches: Sequence[Batch], measures: list[Measure]
) -> tuple[list[Column], TieReport | None]:
    """Pool every measure of one truth in one direction, over its folds."""
    truth, direction = tasks[0].truth.name, tasks[0].direction
    queries = np.concatenate([batch.queries for batch in batches])
    folds = np.repeat([batch.fold for batch in batches], [len(batch.queries) for batch in batches])
    clusters = plan.benchmark.clusters(direction, queries)
    columns = []
    for measure in measures:
        value, note = pooled(measure, batches, folds, plan.benchmark, direction)
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
