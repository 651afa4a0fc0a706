"""Score runs on a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction, load_benchmark
from karat.measures import READINGS, TIE_POLICIES, Combined, Measure, Named, parse_measures
from karat.measures.measure import MeanOfBoth, Part
from karat.measures.ranked import Ranked
from karat.measures.ties import Counts, Reading, TiePolicy, leave_out_unjudged, resolve
from karat.runs import Run, load_run
from karat.scores.implicit import implicit_counts
from karat.scores.scorecard import Column, Scorecard, TieReport
from karat.scores.tasks import SharedQuestions, Task, tasks_of
from karat.validation import InputError, check_choice, unknown_name

DEFAULT_MEASURES = ("R@1", "R@5", "R@10")


@dataclass(frozen=True)
class Choices:
    """What an evaluation was asked to do."""

    ties: TiePolicy
    unjudged: Reading
    threads: int | None


@dataclass(frozen=True)
class Plan:
    """Which measures are computed on which truths, and which tasks they share."""

    benchmark: Benchmark
    wanted: dict[str, list[Named]]
    directions: tuple[Direction, ...]

    def measures(self, truth: str) -> list[Measure]:
        """Return the per-query measures of a truth, those of its combinations included."""
        needed: dict[Measure, None] = {}
        for named in self.wanted[truth]:
            parts = named.parts(truth) if isinstance(named, Combined) else []
            needed.update(dict.fromkeys(part.measure for part in parts))
            if isinstance(named, Measure):
                needed[named] = None
        return list(needed)


def evaluate(
    runs: Run | Sequence[Run] | Any,
    benchmark: Benchmark | str,
    measures: Iterable[str | Named] | str | None = None,
    *,
    truths: Iterable[str] | str | None = None,
    directions: Sequence[Direction] = DIRECTIONS,
    ties: TiePolicy = "pessimistic",
    unjudged: Reading = "misses",
    threads: int | None = None,
    progress: Callable[[str], object] | None = None,
) -> Scorecard:
    """Score one or several runs on a benchmark's truths.

    Parameters
    ----------
    runs
        A run, several, or what `karat.load_run` takes.
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
    >>> scores = np.zeros((5000, 25000), np.float32)          # a system that cannot tell
    >>> scores[coco.caption_image, np.arange(25000)] = 1      # but knows every original pair
    >>> card = karat.evaluate(karat.load_run(scores), coco, ["R@1"], truths=["coco-5k", "eccv"])
    >>> card.value("R@1", truth="coco-5k"), card.value("R@1", truth="eccv")
    (1.0, 1.0)
    """
    bench = load_benchmark(benchmark) if isinstance(benchmark, str) else benchmark
    choices = Choices(
        check_choice(ties, TIE_POLICIES, "ties"),  # type: ignore[arg-type]
        check_choice(unjudged, READINGS, "unjudged"),  # type: ignore[arg-type]
        threads,
    )
    plan = Plan(bench, wanted_measures(bench, measures, truths), check_directions(directions))
    columns: list[Column] = []
    reports: list[TieReport] = []
    notes: list[str] = []
    for run in named_apart(as_runs(runs, bench)):
        if progress is not None:
            progress(run.name)
        scored = score(run.align(bench), plan, choices)
        columns += scored[0]
        reports += scored[1]
        notes += scored[2]
    notes += reading_notes(plan, choices)
    return Scorecard(columns, bench, choices.ties, choices.unjudged, reports, list(dict.fromkeys(notes)))


def as_runs(runs: Any, benchmark: Benchmark) -> list[Run]:
    """Return a list of runs from whatever was given."""
    if isinstance(runs, Run):
        return [runs]
    if isinstance(runs, list | tuple) and runs and all(isinstance(run, Run) for run in runs):
        return list(runs)
    if isinstance(runs, list | tuple) and not runs:
        raise InputError("no run was given", fix="give at least one")
    return [load_run(runs, benchmark=benchmark)]


def named_apart(runs: list[Run]) -> list[Run]:
    """Raise when two runs have the same name: their columns could not be told apart."""
    names = [run.name for run in runs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"two runs are called {twice[0]!r}", fix="name them: --names A B, or name= in Python")
    return runs


def check_directions(directions: Sequence[Direction] | str) -> tuple[Direction, ...]:
    """Return the directions in their usual order."""
    asked = [directions] if isinstance(directions, str) else list(directions)
    for direction in asked:
        if direction not in DIRECTIONS:
            raise unknown_name("direction", direction, DIRECTIONS)
    if not asked:
        raise InputError("no direction was given", fix="choose i2t, t2i or both")
    return tuple(direction for direction in DIRECTIONS if direction in asked)


def wanted_measures(
    benchmark: Benchmark, measures: Iterable[str | Named] | str | None, truths: Iterable[str] | str | None
) -> dict[str, list[Named]]:
    """Return the measures of each truth that is scored."""
    names = [truths] if isinstance(truths, str) else list(benchmark.truths if truths is None else truths)
    chosen = [measures] if isinstance(measures, str) else measures
    wanted = {}
    for name in dict.fromkeys(names):
        benchmark.truth(name)
        default = benchmark.defaults.get(name, DEFAULT_MEASURES)
        if truths is not None and not default:
            default = DEFAULT_MEASURES
        if parsed := parse_measures(default if chosen is None else chosen):
            wanted[name] = parsed
    if not wanted:
        raise InputError("nothing to compute", fix="name at least one truth and one measure")
    return wanted


def reading_notes(plan: Plan, choices: Choices) -> list[str]:
    """Return what a reader of these truths under this reading should know."""
    if choices.unjudged == "misses":
        return []
    one_sided = [name for name in plan.wanted if not benchmark_has_negatives(plan.benchmark, name)]
    if not one_sided:
        return []
    listed = ", ".join(one_sided)
    if choices.unjudged == "left_out":
        return [f"nothing is judged not relevant in {listed}: with unjudged pairs left out, every score is perfect"]
    return [f"nothing is judged not relevant in {listed}: upper bounds there say only that anything is possible"]


def benchmark_has_negatives(benchmark: Benchmark, truth: str) -> bool:
    """Whether a truth holds judged negatives; a rule judges every pair."""
    found = benchmark.truth(truth)
    return found.implicit or found.has_negatives


def score(run: Run, plan: Plan, choices: Choices) -> tuple[list[Column], list[TieReport], list[str]]:
    """Score one run: one pass over its scores, then every measure from the counts."""
    directions = tuple(direction for direction in plan.directions if direction in run.directions)
    tasks = {
        (truth, direction): tasks_of(plan.benchmark, plan.benchmark.truth(truth), direction)
        for truth in plan.wanted
        for direction in directions
    }
    shared = SharedQuestions([task for group in tasks.values() for task in group])
    counts = shared.counts(run.place(shared.questions, choices.threads))
    parts: dict[Part, Column] = {}
    reports: list[TieReport] = []
    for (truth, direction), group in tasks.items():
        measures = plan.measures(truth)
        counted = [counts.get(id(task)) or implicit_counts(run, task, measures) for task in group]
        columns, report = score_direction(run, plan.benchmark, group, counted, measures, choices)
        parts.update({Part(measure, truth, direction): column for measure, column in zip(measures, columns)})
        reports += [report] if report else []
    columns = []
    for truth, wanted in plan.wanted.items():
        for named in wanted:
            columns += assemble(named, truth, run, parts, directions)
    notes = [f"{run.name}: {c.measure} on {c.truth} ({c.direction}) has no value: {c.note}" for c in columns if c.note]
    missing = [direction for direction in plan.directions if direction not in directions]
    notes += [f"{run.name} has no {direction} rankings" for direction in missing]
    notes += [
        f"{r.run}: {r.tied_queries:,} of {r.queries:,} queries of {r.truth} ({r.direction}) have a relevant item that "
        f"ties with others, up to {r.largest:,} at once; ties are {choices.ties}{widest(r)}"
        for r in reports
    ]
    return columns, reports, notes


def widest(report: TieReport) -> str:
    """Return the measure that ties can change most, in words."""
    if not report.range:
        return ""
    measure, (low, high) = max(report.range.items(), key=lambda entry: abs(entry[1][1] - entry[1][0]))
    return f" ({measure} lies between {min(low, high):.4g} and {max(low, high):.4g} whatever the order)"


def assemble(
    named: Named, truth: str, run: Run, parts: dict[Part, Column], directions: tuple[Direction, ...]
) -> list[Column]:
    """Return the columns that one asked-for name gives: both directions and their mean, or a combination."""
    if isinstance(named, Combined):
        return [combined(named, truth, run, parts)]
    assert isinstance(named, Measure)
    columns = [parts[Part(named, truth, direction)] for direction in directions]
    return [*columns, combined(MeanOfBoth(named), truth, run, parts)] if len(directions) == 2 else columns


def combined(named: Combined, truth: str, run: Run, parts: dict[Part, Column]) -> Column:
    """Combine pooled columns, and their bounds where all have some."""
    columns = [parts.get(part) for part in named.parts(truth)]
    found = [column for column in columns if column is not None]

    def together(field: str) -> float | None:
        values = [getattr(column, field) for column in found]
        if len(found) < len(columns) or None in values:
            return None
        return float(named.combine([np.atleast_1d(value) for value in values])[0])

    per_direction = {column.direction: column.n for column in found}
    note = None
    if together("value") is None:
        # The parts say why themselves when they are shown; a lone combination has to.
        reasons = [column.note for column in found if column.note] or ["it needs both directions"]
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
        note=note,
    )


def score_direction(
    run: Run,
    benchmark: Benchmark,
    tasks: list[Task],
    counted: list[Counts],
    measures: list[Measure],
    choices: Choices,
) -> tuple[list[Column], TieReport | None]:
    """Compute every measure of one truth in one direction, over its folds."""
    truth, direction = tasks[0].truth, tasks[0].direction
    read = [leave_out_unjudged(c) if choices.unjudged == "left_out" and c.total is None else c for c in counted]
    ranked = [resolve(counts, choices.ties) for counts in read]
    queries = np.concatenate([task.queries for task in tasks])
    folds = np.repeat(np.arange(len(tasks)), [len(task.queries) for task in tasks])
    clusters = benchmark.clusters(direction, queries)
    upper: list[Ranked] | None = None
    if choices.unjudged == "bounds":
        upper = [
            resolve(counts, choices.ties, unjudged_relevant=counts.total is None) for counts in counted
        ]
    columns = []
    for measure in measures:
        values = np.concatenate([measure(part) for part in ranked])
        value, note = pooled(measure, values, folds, ranked, queries, benchmark, direction)
        bounds: tuple[float | None, float | None] = (None, None)
        if upper is not None and measure.bounded and value is not None:
            bounds = bounds_of(measure, value, values, folds, upper)
        columns.append(
            Column(
                run.name,
                truth.name,
                direction,
                measure,
                value,
                int((~np.isnan(values)).sum()),
                values,
                queries,
                folds,
                clusters,
                lower_bound=bounds[0],
                upper_bound=bounds[1],
                note=note,
            )
        )
    return columns, tie_report(run, tasks, read, measures)


def pool_folds(measure: Measure, values: np.ndarray, folds: np.ndarray) -> float | None:
    """Return the mean over folds of what each pools to; None when no query has a value."""
    pooled = [measure.pool(values[folds == fold])[0] for fold in np.unique(folds)]
    known = [value for value in pooled if not np.isnan(value)]
    return float(np.mean(known)) if known else None


def pooled(
    measure: Measure,
    values: np.ndarray,
    folds: np.ndarray,
    ranked: list[Ranked],
    queries: np.ndarray,
    benchmark: Benchmark,
    direction: Direction,
) -> tuple[float | None, str | None]:
    """Return the aggregate, or why there is none."""
    unanswered = np.concatenate([measure.unanswered(part) for part in ranked])
    depth = np.concatenate([part.depth for part in ranked])
    if unanswered.any():
        first = int(np.flatnonzero(unanswered)[0])
        asked = "images" if direction == "i2t" else "captions"
        return None, (
            f"the ranking of {int(unanswered.sum()):,} {asked} ends too early, "
            f"first {benchmark.queries(direction)[queries[first]]} with {int(depth[first]):,} known places"
        )
    value = pool_folds(measure, values, folds)
    if value is None:
        return None, "no query has a relevant item"
    if not np.isfinite(value):
        return None, "the rankings end before the first relevant item of too many queries"
    return value, None


def bounds_of(
    measure: Measure, value: float, values: np.ndarray, folds: np.ndarray, upper: list[Ranked]
) -> tuple[float | None, float | None]:
    """Return the bounds: the score itself, and what it is if every unjudged pair is relevant.

    Over the queries that have a value; for these the normaliser is fixed.
    """
    if any(measure.unanswered(part).any() for part in upper):
        return None, None
    best = np.where(np.isnan(values), np.nan, np.concatenate([measure(part) for part in upper]))
    other = pool_folds(measure, best, folds)
    if other is None or not np.isfinite(other):
        return None, None
    return (value, other) if measure.better == "high" else (other, value)


def tie_report(
    run: Run, tasks: list[Task], counted: list[Counts], measures: list[Measure]
) -> TieReport | None:
    """Return how many queries have a tied relevant item, and the range that ties leave."""
    tied = [(c.tied > 0) & (c.grade > 0) & (c.above >= 0) for c in counted]
    if not any(rows.any() for rows in tied):
        return None
    folds = np.repeat(np.arange(len(tasks)), [len(task.queries) for task in tasks])
    extremes: dict[str, list[float]] = {}
    for policy in ("pessimistic", "optimistic"):
        ranked = [resolve(counts, policy) for counts in counted]  # type: ignore[arg-type]
        for measure in measures:
            value = pool_folds(measure, np.concatenate([measure(part) for part in ranked]), folds)
            if value is not None and np.isfinite(value):
                extremes.setdefault(str(measure), []).append(value)
    return TieReport(
        run.name,
        tasks[0].truth.name,
        tasks[0].direction,
        sum(len(np.unique(c.query[rows])) for c, rows in zip(counted, tied)),
        sum(len(task.queries) for task in tasks),
        int(max(c.tied[rows].max(initial=0) for c, rows in zip(counted, tied))) + 1,
        {name: (values[0], values[1]) for name, values in extremes.items() if len(values) == 2},
    )
