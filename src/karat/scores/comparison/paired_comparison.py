"""The paired comparison of runs: intervals, differences, corrected p-values, places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, plural
from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.measures import scale_value
from karat.scores.column import Column
from karat.scores.comparison.comparison import CORRECTIONS, Comparison
from karat.scores.comparison.paired_tests import TESTS, ColumnTest, Problem
from karat.scores.comparison.standings import Difference
from karat.scores.evaluation import evaluate
from karat.scores.intervals import (
    ColumnSamples,
    check_published_labels,
    comparison_intervals,
    with_ends,
)
from karat.scores.scorecard import Scorecard
from karat.scores.text_only import NONE
from karat.stats import FEWEST, Intervals, check_count, check_seed, detection_reach, holm, subtract


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
    samples: int = 100_000,
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
        How many random swaps, and the seed of these and of the intervals.
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
    column_test = check_choices(test, alpha, samples, seed, correction, margin, power)
    correction = check_choice(correction, tuple(CORRECTIONS), "correction")
    check_published_labels(options.get("label_uncertainty"))
    interval_options = comparison_intervals(intervals, interval_method, level, resamples, seed)
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
    column_samples = ColumnSamples(card.columns)
    draws, jackknife = column_samples.draw(interval_options)
    ends = column_samples.ends(interval_options, draws, jackknife)
    card = with_ends(card, column_samples, interval_options, *ends)
    groups = comparable(column_samples.columns)
    if not groups:
        raise InputError("no measure has a value for two runs", fix="karat evaluate says why")
    check_same_queries(column_samples.columns, groups, card)
    pairs = [pair for group in groups for pair in combinations(group, 2)]
    problem = Problem(column_samples, pairs, draws, samples, seed)
    p, observed = column_test.p_values(problem), problem.differences
    differences: list[Difference] = []
    within = replace(interval_options, level=1 - 2 * alpha) if margin is not None else None
    for group in groups:
        # Column by column: the resampled differences of all pairs at once would not fit into memory.
        rows = slice(len(differences), len(differences) + len(group) * (len(group) - 1) // 2)
        between = column_samples.difference_ends(
            pairs[rows], observed[rows], interval_options, draws, jackknife
        )
        differences += [
            difference(column_samples.columns[a], column_samples.columns[b], *numbers)
            for (a, b), *numbers in zip(pairs[rows], observed[rows], *between, p[rows], holm(p[rows]))
        ]
        if within is not None and margin is not None:
            between = column_samples.difference_ends(pairs[rows], observed[rows], within, draws, jackknife)
            most = margin / scale_value(column_samples.columns[group[0]].measure, 1.0)
            inside = np.nan_to_num(np.abs(between).max(axis=0), nan=np.inf) <= most
            differences[rows] = [replace(d, equivalent=bool(e)) for d, e in zip(differences[rows], inside)]
        if power is not None:
            tests = len(pairs) if correction == "all" else len(pairs[rows])
            found = (detectable(column_samples, draws, pair, alpha / tests, power) for pair in pairs[rows])
            differences[rows] = [replace(d, detectable=least) for d, least in zip(differences[rows], found)]
    notes = [*card.notes, *column_test.notes(problem, p)]
    most = len(pairs) if correction == "all" else max(len(g) * (len(g) - 1) // 2 for g in groups)
    if column_test.floor(problem) * most > alpha:
        notes.append(
            f"with {plural(most, 'pair')} of runs and so few draws or images, no p-value can be small enough "
            "after Holm's correction: no run can beat another"
        )
    return Comparison(
        replace(card, notes=notes), differences, column_test.name, alpha, samples, seed,
        correction=correction, margin=margin, power=power, clusters=column_samples.clusters,
    )  # fmt: skip


def named(run: Any) -> str:
    """Return what a run is called that is not loaded yet."""
    return Path(run).stem if isinstance(run, str | Path) else getattr(run, "name", "run")


def detectable(
    column_samples: ColumnSamples, draws: np.ndarray, pair: tuple[int, int], alpha: float, power: float
) -> float | None:
    """Return the smallest true difference of two columns that a test at a level finds with some power.

    `detection_reach` times the standard error of the difference. Nothing where no two clusters differ, or
    there are too few.
    """
    clusters = max(column_samples.sizes[at] for at in pair)
    if clusters < FEWEST:
        return None
    error = float(np.nanstd(subtract(*draws[list(pair)]))) * np.sqrt(clusters / (clusters - 1))
    reach = detection_reach(clusters, alpha, power)
    return reach * error if np.isfinite(error) and error > 0 else None


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
    if margin is not None and not (margin > 0 and alpha < 0.5):
        raise InputError(
            f"margin is {margin:g}", fix="give a difference in points or ranks above 0, such as 1"
        )
    if power is not None and not 0.5 <= power < 1:
        raise InputError(f"power is {power:g}", fix="give a share from 0.5 to below 1, such as 0.8")
    if not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha}", fix="give a level such as 0.05")
    check_count("samples", samples, usual=100_000)
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
