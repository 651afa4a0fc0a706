"""The paired comparison of runs: intervals, differences, corrected p-values, places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, plural
from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.measures import scale_value
from karat.scores.column import Column
from karat.scores.column_intervals import (
    ColumnSamples,
    check_published_labels,
    comparison_intervals,
    with_ends,
)
from karat.scores.comparison.comparison import CORRECTIONS, Comparison
from karat.scores.comparison.paired_tests import TESTS, ColumnTest, Problem
from karat.scores.comparison.standings import Difference
from karat.scores.evaluation import evaluate
from karat.scores.scorecard import Scorecard, unit_drawn
from karat.scores.text_only import NONE
from karat.stats import (
    Intervals,
    check_count,
    check_decision,
    check_seed,
    detectable_difference,
    holm,
    subtract,
    within_margin,
)

SWAPS = 100_000
"""How many random swaps a test has, unless said otherwise."""


def compare(
    runs: Scorecard | Any,
    benchmark: Benchmark | str | Path | None = None,
    measure: Any = None,
    *,
    test: str = "randomisation",
    alpha: float = 0.05,
    correction: str = "column",
    margin: float | None = None,
    power: float | None = None,
    intervals: Intervals | str | bool = True,
    interval_method: str | None = None,
    level: float | None = None,
    resamples: int | None = None,
    samples: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Comparison:
    """Compare two or more runs on the same queries of a benchmark.

    Every column gets an interval, every pair of runs a difference with its interval and a p-value
    of a paired test, corrected by Holm's method over the pairs of that column; from these follow
    who beats whom, the places that each run can have, and which runs are not shown to be worse than the
    first. Queries are resampled and swapped by image, since the captions of one image are not independent.

    Parameters
    ----------
    runs
        A list of what `karat.evaluate` takes, or a dictionary of these by name, or a Scorecard of several
        runs.
    benchmark, measure
        As `karat.evaluate` takes them; not needed with a Scorecard.
    test
        "randomisation" (the default, for every measure), "bootstrap", "mcnemar" (mid-p) or
        "mcnemar-exact" (these two for R@K in one direction).
    alpha
        The level at which one run beats another.
    correction
        Over what p-values are corrected: the pairs of runs of each "column", or of "all" columns that are
        shown.
    margin
        Also say which runs are shown to differ by no more than this, in points of percent or in ranks, as
        they are printed: two one-sided tests at `alpha`.
    power
        Also give the smallest difference that the test would find with this probability, such as 0.8.
    intervals, interval_method, level, resamples
        True, "bca", or `karat.stats.Intervals`, and what is different about them.
    samples, seed
        How many random swaps, by default 100,000 or as many as `resamples` says, and the seed of these and of
        the intervals.
    **options
        As `karat.evaluate` takes them: truth, direction, ties, unjudged, name, threads, …

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import karat
    >>> from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
    >>> own = Judgments(range(50), range(50), sources=[Provenance("original")])
    >>> asked = {"i2t": np.arange(50), "t2i": np.arange(50)}
    >>> ids = Ids(range(50), kind="image"), Ids(range(50), kind="caption")
    >>> bench = Benchmark("tiny", *ids, {"own": Truth("own", own, asked)})
    >>> rng = np.random.default_rng(1)
    >>> runs = {name: signal * np.eye(50) + rng.normal(size=(50, 50))
    ...         for name, signal in (("weak", 1.0), ("fair", 3.0), ("good", 3.2))}
    >>> comparison = karat.compare(runs, bench, measure="R@1")
    >>> comparison.standing("R@1").first
    ('fair', 'good')
    >>> comparison.standing("R@1").places
    {'fair': (1, 2), 'good': (1, 2), 'weak': (3, 3)}
    """
    samples = number_of_swaps(samples, resamples)
    column_test = check_choices(test, alpha, samples, seed, correction, margin, power)
    correction = check_choice(correction, tuple(CORRECTIONS), "correction")
    decision = Decision(column_test, alpha, correction, margin, power)
    check_published_labels(options.get("label_uncertainty"))
    interval_options = comparison_intervals(intervals, interval_method, level, resamples, seed)
    card = scored(runs, benchmark, measure, options)
    column_samples = ColumnSamples(card.columns)
    draws, jackknife = column_samples.draw(interval_options)
    ends = column_samples.ends(interval_options, draws, jackknife)
    card = with_ends(card, column_samples, interval_options, *ends)
    groups = comparable(column_samples.columns)
    if not groups:
        raise InputError("no measure has a value for two runs", fix="karat evaluate says why")
    check_same_queries(column_samples.columns, groups, card)
    pairs = [list(combinations(group, 2)) for group in groups]
    problem = Problem(column_samples, [pair for group in pairs for pair in group], draws, samples, seed)
    found = PairedColumns(problem, interval_options, jackknife, decision)
    # Column by column: the resampled differences of all pairs at once would not fit into memory.
    begin = np.cumsum([0, *map(len, pairs)]).tolist()
    differences = [d for rows in map(slice, begin, begin[1:]) for d in found.differences(rows)]
    unit = unit_drawn(card)
    limits = [*column_test.notes(problem, found.p, unit), *decision.notes(problem, pairs, unit.many)]
    notes = [*card.notes, *limits]
    return Comparison(
        replace(card, notes=notes), differences, column_test.name, alpha, samples, seed,
        correction=correction, margin=margin, power=power, clusters=column_samples.clusters,
    )  # fmt: skip


def scored(
    runs: Scorecard | Any, benchmark: Benchmark | str | Path | None, measure: Any, options: Mapping[str, Any]
) -> Scorecard:
    """Return the scorecard of two runs or more: the one that is given, or of the runs."""
    if isinstance(runs, Scorecard):
        if benchmark is not None or measure is not None or options:
            raise InputError("a scorecard is scored already", fix="give it alone, or give runs")
        check_published_labels(runs.label_versions)
        card = runs
    elif benchmark is None:
        raise InputError("no benchmark was given", fix="name one, such as coco")
    else:
        if isinstance(runs, list) and len(runs) == 1:
            raise InputError(f"there is only the run {named(runs[0])!r} to compare", fix="give two or more")
        # A control is no run to be compared, unless it is asked for.
        card = evaluate(runs, benchmark, measure, **{"text_only": NONE, **options})
    if len(card.runs) < 2:
        raise InputError(f"there is only the run {card.runs[0]!r} to compare", fix="give two or more")
    return card


@dataclass(frozen=True)
class Decision:
    """How it is decided which run beats which: as `compare` takes it."""

    test: ColumnTest
    alpha: float
    correction: str
    margin: float | None
    power: float | None

    def notes(self, problem: Problem, pairs: Sequence[Sequence[tuple[int, int]]], units: str) -> list[str]:
        """Return whether no p-value can be small enough."""
        most = len(problem.pairs) if self.correction == "all" else max(map(len, pairs))
        if self.test.floor(problem) * most <= self.alpha:
            return []
        return [
            f"with {plural(most, 'pair')} of runs and so few draws or {units}, no p-value can be small "
            "enough after Holm's correction: no run can beat another"
        ]


class PairedColumns:
    """Pairs of columns with their p-values, from which differences are made."""

    def __init__(
        self, problem: Problem, intervals: Intervals, jackknife: np.ndarray | None, decision: Decision
    ) -> None:
        self.problem, self.intervals, self.jackknife, self.decision = problem, intervals, jackknife, decision
        self.p, self.observed = decision.test.p_values(problem), problem.differences

    def differences(self, rows: slice) -> list[Difference]:
        """Return the differences of some pairs, those of one column of several runs."""
        columns, pairs, p = self.problem.column_samples.columns, self.problem.pairs[rows], self.p[rows]
        numbers = self.observed[rows], *self.ends(rows, self.intervals), p, holm(p)
        made = [difference(columns[a], columns[b], *each) for (a, b), *each in zip(pairs, *numbers)]
        return [
            replace(each, equivalent=equivalent, detectable=detectable)
            for each, equivalent, detectable in zip(made, self.equivalent(rows), self.detectable(rows))
        ]

    def ends(self, rows: slice, intervals: Intervals) -> tuple[np.ndarray, np.ndarray]:
        """Return the intervals of the differences."""
        return self.problem.column_samples.difference_ends(
            self.problem.pairs[rows], self.observed[rows], intervals, self.problem.draws, self.jackknife
        )

    def equivalent(self, rows: slice) -> list[bool] | list[None]:
        """Return which pairs are shown to differ by no more than the margin; None without one."""
        pairs, margin = self.problem.pairs[rows], self.decision.margin
        if margin is None:
            return [None] * len(pairs)
        measure = self.problem.column_samples.columns[pairs[0][0]].measure
        within = self.ends(rows, replace(self.intervals, level=1 - 2 * self.decision.alpha))
        inside: list[bool] = within_margin(np.array(within), margin / scale_value(measure, 1.0)).tolist()
        return inside

    def detectable(self, rows: slice) -> list[float | None]:
        """Return the smallest difference that the test would find of each pair; None without a power."""
        problem, pairs, power = self.problem, self.problem.pairs[rows], self.decision.power
        if power is None:
            return [None] * len(pairs)
        tests = len(problem.pairs) if self.decision.correction == "all" else len(pairs)
        sizes, alpha = problem.column_samples.sizes, self.decision.alpha / tests
        return [
            detectable_difference(
                subtract(*problem.draws[list(pair)]), max(sizes[at] for at in pair), alpha, power
            )
            for pair in pairs
        ]


def named(run: Any) -> str:
    """Return what a run is called that is not loaded yet."""
    return Path(run).stem if isinstance(run, str | Path) else getattr(run, "name", "run")


def number_of_swaps(samples: int | None, resamples: int | None) -> int:
    """Return how many swaps a test has: as was said, else as many as there are resamples, else SWAPS."""
    return next((number for number in (samples, resamples) if number is not None), SWAPS)


def check_choices(
    test: str,
    alpha: float,
    samples: int,
    seed: int,
    correction: str = "column",
    margin: float | None = None,
    power: float | None = None,
) -> ColumnTest:
    """Return the test of that name, or raise for a choice that makes no sense."""
    check_choice(correction, tuple(CORRECTIONS), "correction")
    check_decision(alpha, margin, power)
    check_count("samples", samples, usual=SWAPS)
    check_seed(seed)
    return TESTS[str(test)]


def comparable(columns: Sequence[Column]) -> list[list[int]]:
    """Return the numbers of columns that differ in nothing but the run."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for number, column in enumerate(columns):
        groups.setdefault((column.truth, column.direction, str(column.measure)), []).append(number)
    return [group for group in groups.values() if len(group) > 1]


def check_same_queries(columns: Sequence[Column], groups: Sequence[Sequence[int]], card: Scorecard) -> None:
    """Raise where queries that a run lacks are left out and the runs lack different ones."""
    for group in groups if card.like == "trec_eval_intersection" else ():
        known = [~np.isnan(values) for k in group if (values := columns[k].values) is not None]
        if any((first != other).any() for first, other in pairwise(known)):
            raise InputError(
                "the runs have different queries, and those that a run lacks are left out",
                fix="choose like=trec_eval, where they count 0",
            )


def difference(first: Column, second: Column, *numbers: float) -> Difference:
    """Put one difference together; what is not a number becomes None."""
    value, low, high, p, corrected = (float(n) if np.isfinite(n) else None for n in numbers)
    value = value or 0.0
    ahead = value if first.measure.better == "high" else -value
    better = None if ahead == 0 else first.run if ahead > 0 else second.run
    return Difference(
        first.truth, first.direction, first.measure, first.run, second.run,
        value, low, high, p, corrected, better,
    )  # fmt: skip
