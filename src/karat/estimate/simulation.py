"""Simulation: how many vetted labels would have been enough, where all of them are known.

Vetting is repeated many times on labels that are known in full, with several strategies and estimators, and
the errors are kept after every batch: what figures 5 to 8 of Nguyen et al. (2018) show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import MISSING, Band, BandPanel, Layout, Part, Result, band_chart, check_choice, plural
from karat.benchmarks import Benchmark, Direction, Truth, load_benchmark
from karat.errors import InputError
from karat.estimate.candidates import (
    DEPTH,
    Candidates,
    check_graded,
    check_ties,
    covered_queries,
    is_relevant,
    make_candidates,
    without_grade,
)
from karat.estimate.estimation import (
    TARGETS,
    as_json,
    check_measures,
    depth_of,
    directions_of,
    is_cut,
    mean_defined,
    table_features,
)
from karat.estimate.estimator import ESTIMATORS, LabelEstimator
from karat.estimate.label_file import find_truth
from karat.estimate.names import parse_name
from karat.estimate.strategy import STRATEGIES, VettingStrategy
from karat.estimate.vetting import BATCH, DRAWS, as_number, truth_labels, values_per_query, vet
from karat.measures import Measure, Named, parse_measures
from karat.runs import Order, Run, load_runs, notes_on_loading
from karat.scores import DIRECTION_TITLES

if TYPE_CHECKING:
    import plotly.graph_objects as go

METHODS = ("random+naive", "mcm+naive", "random+learned", "mcm+learned", "meec+learned")
"""Strategy and estimator of the five curves of figure 5."""
SHOWN_EFFORTS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
"""The shares of vetted pairs that tables show."""
CLOSE = (0.02, 0.01, 0.005)
"""How far from the true score is close enough, for tables."""


@dataclass(frozen=True)
class Method:
    """A strategy with an estimator: ``meec+learned``."""

    strategy: VettingStrategy
    estimator: LabelEstimator

    @classmethod
    def parse(cls, name: str | Method) -> Method:
        """Return the method that a name such as "random+naive" means.

        >>> Method.parse("random+naive")
        random+naive
        """
        if isinstance(name, Method):
            return name
        strategy, plus, estimator = name.partition("+")
        if not plus:
            raise InputError(f"{name!r} is not a method", fix="write STRATEGY+ESTIMATOR, as in random+naive")
        return cls(parse_name(strategy.strip(), STRATEGIES), parse_name(estimator.strip(), ESTIMATORS))

    def __repr__(self) -> str:
        return f"{self.strategy}+{self.estimator}"


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors of one method against effort, one row per repetition.

    Parameters
    ----------
    method
        Its name.
    effort
        The share of the pairs that the measure looks at which was vetted by then, [B].
    estimate
        Estimated scores, [times, B, runs]; NaN where nothing is defined.
    error
        The mean over queries of the absolute error, averaged over runs, [times, B]: errors of opposite
        sign do not cancel.
    error_before
        The same before the estimator learned from the batch.
    """

    method: str
    effort: np.ndarray
    estimate: np.ndarray
    error: np.ndarray
    error_before: np.ndarray

    def at(self, effort: float) -> int:
        """Return the first batch after which this share was vetted; the last one where none was."""
        return min(int(np.searchsorted(self.effort, effort - 1e-9)), len(self.effort) - 1)


@dataclass(frozen=True, eq=False)
class Simulated:
    """The curves of one measure in one direction.

    Parameters
    ----------
    measure, direction
        What was estimated.
    runs
        The names of the runs.
    truth, noisy
        Per run, the true score, and the score by the noisy labels.
    candidates, looked_at
        How many pairs may be vetted, and at how many of these the measure looks.
    recall
        The share of all positives of the vetted truth that are candidates.
    curves
        One per method.
    noisy_error
        The error per query of the score by the noisy labels, where nothing is vetted.
    queries, pairs
        How many queries there are, and how many pairs they form with all items that are ranked.
    """

    measure: Measure
    direction: Direction
    runs: tuple[str, ...]
    truth: np.ndarray
    noisy: np.ndarray
    candidates: int
    looked_at: int
    recall: float
    curves: tuple[Curve, ...]
    noisy_error: float = float("nan")
    queries: int = 0
    pairs: int = 0

    @property
    def title(self) -> str:
        """The measure and the direction."""
        return f"{self.measure} {DIRECTION_TITLES[self.direction]}"

    def score_error(self, curve: Curve) -> np.ndarray:
        """Return, per repetition and batch, the absolute error of the score, averaged over runs."""
        return mean_defined(np.abs(curve.estimate - self.truth))

    def enough(self, curve: Curve, within: float) -> float | None:
        """Return the effort from which on the score is off by at most `within`, in the mean of repetitions.

        None where it never is.
        """
        close = mean_defined(self.score_error(curve).T) <= within + 1e-12
        at = len(close) - int(np.argmin(close[::-1])) if not close.all() else 0
        return float(curve.effort[at]) if at < len(close) else None

    def gaps(self, curve: Curve) -> tuple[np.ndarray, np.ndarray]:
        """Return, per repetition and batch, the squared error of the gaps and the share of wrong orders.

        Means over all pairs of runs; an estimate of 0 for a gap that is not 0 counts half, and pairs of runs
        that are truly equal do not count. NaN where there is one run only.
        """
        pairs = list(combinations(range(len(self.runs)), 2))
        if not pairs:
            nothing = np.full(curve.error.shape, np.nan)
            return nothing, nothing
        first, second = (list(side) for side in zip(*pairs))
        true = self.truth[first] - self.truth[second]
        guess = curve.estimate[..., first] - curve.estimate[..., second]
        squared = (guess - true) ** 2
        wrong = np.where(guess == 0, 0.5, np.sign(guess) != np.sign(true))
        wrong = np.where(np.isnan(guess) | (true == 0), np.nan, wrong)
        return mean_defined(squared), mean_defined(wrong)


@dataclass(frozen=True, eq=False)
class Simulation(Result):
    """How errors fall with the number of vetted labels; `simulate_vetting` makes it.

    Parameters
    ----------
    results
        One per measure and direction.
    times
        How many repetitions.
    noisy, vetted
        The names of the truths.
    notes
        What a reader should know.
    """

    results: tuple[Simulated, ...]
    times: int
    noisy: str
    vetted: str
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return one record per method and batch; numbers are means over repetitions, with deviations."""
        out = []
        for result in self.results:
            for curve in result.curves:
                squared, wrong = result.gaps(curve)
                bias = mean_defined(curve.estimate - result.truth)
                for b, effort in enumerate(curve.effort):
                    out.append(
                        {
                            "measure": str(result.measure),
                            "direction": result.direction,
                            "method": curve.method,
                            "effort": float(effort),
                            "labels": round(float(effort) * result.looked_at),
                            "error": as_json(mean_defined(curve.error[:, b])),
                            "error_sd": as_json(deviation(curve.error[:, b])),
                            "error_before": as_json(mean_defined(curve.error_before[:, b])),
                            "bias": as_json(mean_defined(bias[:, b])),
                            "error_of_mean": as_json(mean_defined(result.score_error(curve)[:, b])),
                            "squared_gap_error": as_json(mean_defined(squared[:, b])),
                            "wrong_order": as_json(mean_defined(wrong[:, b])),
                            "defined": float((~np.isnan(curve.error[:, b])).mean()),
                        }
                    )
        return out

    def parts(self) -> Sequence[Part]:
        """Return, per measure and direction, how many labels were enough, and errors against effort."""
        head = (
            f"Vetting simulated {plural(self.times, 'time')}: noisy labels {self.noisy}, true labels "
            f"{self.vetted}.\nEstimated for {TARGETS['test_set']}.\n"
            "Pairs outside the candidates count as not relevant.\n"
            "Errors in points of percent: mean ± standard deviation over repetitions."
        )
        return [head, *(part for result in self.results for part in result_parts(result))]

    def plot(
        self, measure: str | None = None, *, direction: str | None = None, show: str = "error"
    ) -> go.Figure:
        """Return a plotly figure of errors or scores against the share of vetted pairs.

        Lines are means over repetitions, one per method; bands are one standard deviation to each side.

        Parameters
        ----------
        measure, direction
            One; all by default, a panel for each.
        show
            "error": the mean absolute error per query; "score": the estimated score of each run, with the
            true one; "wrong-order": how often pairs of runs are in the wrong order.
        """
        show = check_choice(show, ("error", "score", "wrong_order"), "show")
        wanted = None if measure is None else str(parse_measures([measure])[0])
        chosen = [
            one
            for one in self.results
            if wanted in (None, str(one.measure)) and direction in (None, one.direction)
        ]
        if not chosen:
            raise InputError(f"nothing was simulated for {measure or direction}", fix="print the simulation")
        panels = [panel for one in chosen for panel in band_panels(one, show)]
        if not panels:
            raise InputError("there is one run only, so no order", fix='show="error" or show="score"')
        about = f"Means over {plural(self.times, 'repetition')}; bands: one standard deviation to each side."
        return band_chart(panels, "Vetting simulated", about)


def band_panels(result: Simulated, show: str) -> list[BandPanel]:
    """Return what a figure draws of one measure in one direction."""
    x = "pairs vetted, percent"

    def panel(title: str, y: str, values: Sequence[np.ndarray], levels: Mapping[str, float]) -> BandPanel:
        bands = [
            Band(curve.method, *(list(map(as_json, part)) for part in (100 * curve.effort, *spread_of(each))))
            for curve, each in zip(result.curves, values)
        ]
        return BandPanel(title, x, y, bands, {name: 100 * level for name, level in levels.items()})

    if show == "error":
        errors = [curve.error for curve in result.curves]
        return [panel(result.title, "error per query, points", errors, {"noisy labels": result.noisy_error})]
    if show == "wrong_order":
        if len(result.runs) < 2:
            return []
        wrong = [result.gaps(curve)[1] for curve in result.curves]
        return [panel(result.title, "pairs of runs in the wrong order, percent", wrong, {})]
    return [
        panel(
            f"{result.title}, {run}",
            "estimated score, percent",
            [curve.estimate[..., at] for curve in result.curves],
            {"true score": result.truth[at], "by the noisy labels": result.noisy[at]},
        )
        for at, run in enumerate(result.runs)
    ]


def spread_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean of each batch over repetitions in percent, and one standard deviation to each side."""
    mean = 100 * mean_defined(values.T)
    apart = 100 * np.array([deviation(column) for column in values.T])
    return mean, mean - apart, mean + apart


def result_parts(result: Simulated) -> list[Part]:
    """Return the tables of one measure in one direction."""
    scores = [
        f"{run} truly scores {100 * true:.2f}, by the noisy labels {100 * noisy:.2f}."
        for run, true, noisy in zip(result.runs, result.truth, result.noisy)
    ]
    about = [
        f"{result.title}: {result.looked_at:,} pairs to vet are 100% of the effort.",
        f"{result.candidates:,} candidates hold {100 * result.recall:.1f}% of all that is relevant.",
        *scores,
    ]
    efforts = shown_efforts(result)
    head = ["method", *(f"{100 * effort:.0f}%" for effort in efforts)]
    counts = ["(pairs vetted)", *(f"{round(effort * result.looked_at):,}" for effort in efforts)]

    def errors(title: str, values: Sequence[np.ndarray], spread: bool = True) -> Layout:
        rows = [error_row(curve, efforts, each, spread) for curve, each in zip(result.curves, values)]
        return Layout(head, [counts, *rows], title=title)

    tables: list[Part] = [
        "\n".join(about),
        Layout(
            ["method", *(f"{100 * within:g} {'point' if within == 0.01 else 'points'}" for within in CLOSE)],
            [
                [curve.method, *(shown_effort(result, result.enough(curve, within)) for within in CLOSE)]
                for curve in result.curves
            ],
            title="Pairs to vet until the mean score is off by no more than:",
        ),
        errors("Mean absolute error per query:", [curve.error for curve in result.curves]),
        errors("Error of the mean score:", [result.score_error(curve) for curve in result.curves]),
    ]
    if len(result.runs) > 1:
        tables.append(
            errors(
                "Pairs of runs in the wrong order, percent:",
                [result.gaps(curve)[1] for curve in result.curves],
                spread=False,
            )
        )
    return tables


def shown_effort(result: Simulated, effort: float | None) -> str:
    """Return an effort as a number of pairs and a share."""
    return MISSING if effort is None else f"{round(effort * result.looked_at):,} ({100 * effort:.0f}%)"


def shown_efforts(result: Simulated) -> list[float]:
    """Return the efforts that tables show: batches near the usual ones, as far as every curve reaches."""
    reached = min(float(curve.effort[-1]) for curve in result.curves)
    chosen = [effort for effort in SHOWN_EFFORTS if effort <= reached + 1e-9] or [reached]
    first = result.curves[0]
    return [float(first.effort[at]) for at in sorted({first.at(effort) for effort in chosen})]


def error_row(curve: Curve, efforts: Sequence[float], error: np.ndarray, spread: bool = True) -> list[str]:
    """Return a row of a table: the method and its errors at some efforts."""
    cells = []
    for effort in efforts:
        column = error[:, curve.at(effort)]
        if np.isnan(column).all():
            cells.append(MISSING)
            continue
        # Narrow enough for seven efforts side by side in a terminal.
        deviant = f"±{100 * deviation(column):.2f}" if spread else ""
        cells.append(f"{100 * mean_defined(column):.2f}{deviant}")
    return [curve.method, *cells]


def deviation(values: np.ndarray) -> float:
    """Return the standard deviation of what is defined; NaN for nothing."""
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else (0.0 if len(known) else float("nan"))


def simulate_vetting(
    runs: Run | Sequence[Run] | Any,
    benchmark: Benchmark | str | Path,
    measure: Iterable[str | Named] | str = "P@10",
    *,
    noisy: str | Truth,
    vetted: str | Path | Truth,
    method: Iterable[str | Method] | str = METHODS,
    times: int = 50,
    budget: int | float = 1.0,
    batch: int | float = BATCH,
    direction: Iterable[str] | str | None = None,
    unlisted: str | None = None,
    depth: int = DEPTH,
    sample: int = 0,
    ties: str = "stable",
    draws: int = DRAWS,
    features: Mapping[str, Any] | None = None,
    seed: int = 0,
    name: Iterable[str] | str | None = None,
    ids: Order | None = None,
    similarity: str = "dot",
    transpose: bool = False,
    setting: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Callable[[str], object] | None = None,
) -> Simulation:
    """Simulate vetting on labels that are known in full: how many would have been enough?

    Parameters
    ----------
    runs, benchmark, name, ids, similarity, transpose, setting
        As in `karat.evaluate`.
    measure, noisy, direction, depth, sample, ties, draws, features, seed, threads
        As in `estimate_scores`.
    vetted
        The truth that answers about every candidate, or a file of labels.
    method
        Strategies with estimators, such as "random+naive,meec+learned".
    times
        How many repetitions, each with its own seed.
    budget, batch
        How many pairs are vetted, in all and at a time: numbers, or shares of those that the measure looks
        at.
    unlisted
        What a candidate means that `vetted` does not list: "no", not relevant; or "leave-out", which takes
        the listed pairs as the only candidates and leaves other items out of the rankings. By default "no"
        where the truth lists relevant pairs only or is complete, and "leave-out" where it lists others too.
    progress
        Called with a line after each repetition.

    Examples
    --------
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> done = simulate_vetting(simulate_systems(world)[:1], world.benchmark(), "P@10", noisy="original",
    ...     vetted="complete", direction="t2i", method="random+naive", times=2, batch=0.5)
    >>> done.results[0].curves[0].error.round(3).tolist()
    [[0.075, 0.0], [0.073, 0.0]]
    """
    bench = benchmark if isinstance(benchmark, Benchmark) else load_benchmark(benchmark, **(setting or {}))
    measures = check_measures(measure)
    methods = [Method.parse(one) for one in (method.split(",") if isinstance(method, str) else method)]
    if times < 1:
        raise InputError(f"times is {times}", fix="give a whole number from 1")
    check_ties(ties)
    (first, _), (second, file_notes) = (find_truth(bench, truth) for truth in (noisy, vetted))
    how = reading_of(second, unlisted)
    for one in measures:
        check_graded(one, (first, second))
    loaded = load_runs(runs, bench, name=name, ids=ids, similarity=similarity, transpose=transpose)
    bench = loaded[0].benchmark or bench
    results, notes = [], [*notes_on_loading(loaded), *file_notes]
    for way in directions_of(direction, loaded, (first, second)):
        for one in measures:
            rel = getattr(one, "rel", None)
            candidates = make_candidates(
                loaded, bench, first, direction=way, queries=covered_queries(bench, way, [first, second]),
                listed=second if how == "leave_out" else None, condensed=how == "leave_out",
                depth=depth_of([one], depth), sample=sample, noisy_positives=not is_cut(one), rel=rel,
                ties=ties, seed=seed, threads=threads,
            )  # fmt: skip
            candidates = candidates.with_features(table_features(features or {}, bench, candidates))
            label = truth_labels(candidates, second, rel, "no")
            positives = positives_of(second, way, candidates, rel)
            result = simulate_candidates(
                candidates, label > 0, one, methods, times=times, budget=budget, batch=batch, draws=draws,
                seed=seed, positives=positives, progress=progress,
            )  # fmt: skip
            results.append(result)
            notes += candidates.notes
        notes += reading_notes(how, second, candidates)
    return Simulation(tuple(results), times, first.name, second.name, tuple(dict.fromkeys(notes)))


def reading_of(truth: Truth, unlisted: str | None) -> str:
    """Return how pairs are read that a truth does not list."""
    if unlisted is None:
        return "no" if truth.complete or truth.implicit or not truth.has_negatives else "leave_out"
    return check_choice(unlisted, ("no", "leave_out"), "unlisted")


def reading_notes(how: str, truth: Truth, candidates: Candidates) -> list[str]:
    """Return what was assumed about pairs that the truth does not list."""
    if truth.complete or truth.implicit:
        return []
    way = DIRECTION_TITLES[candidates.direction]
    if how == "leave_out":
        return [
            f"{way}: rankings are condensed to the {plural(len(candidates), 'pair')} that {truth.name} lists"
        ]
    missing = int(np.isnan(truth_labels(candidates, truth)).sum())
    counted = f"{missing:,} of {len(candidates):,} candidates"
    return [f"{way}: {counted} are not listed in {truth.name} and count as no"] if missing else []


def positives_of(truth: Truth, direction: Direction, candidates: Candidates, rel: Any) -> int:
    """Return how many relevant pairs a truth has for the candidates' queries, candidates or not."""
    if truth.rule is not None:
        return int(truth.rule.positives(direction, candidates.queries).sum())
    judged = truth.judged(direction)
    asked = np.isin(judged.query_of_row, candidates.queries)
    return int((is_relevant(judged.grade, rel, truth) & asked).sum())


def simulate_candidates(
    candidates: Candidates,
    relevant: np.ndarray,
    measure: Measure,
    methods: Sequence[Method],
    *,
    times: int,
    budget: int | float = 1.0,
    batch: int | float = BATCH,
    draws: int = DRAWS,
    before: bool = True,
    seed: int = 0,
    positives: int | None = None,
    progress: Callable[[str], object] | None = None,
) -> Simulated:
    """Simulate vetting of given candidates whose labels are all known; see `simulate_vetting`.

    Parameters
    ----------
    candidates, relevant
        The pairs, and whether each is relevant.
    measure, methods, times, budget, batch, draws, seed, progress
        As there.
    before
        See `vet`; without it, errors before each refit are NaN.
    positives
        How many relevant pairs there are, candidates or not; those among the candidates by default.
    """
    plain = without_grade(measure)
    looked_at = int(candidates.matter(plain).sum())
    limit = min(as_number(budget, looked_at, "budget"), looked_at)
    true = values_per_query(candidates, relevant.astype(np.float64), plain, draws, seed)
    noisy = values_per_query(candidates, candidates.noisy.astype(np.float64), plain, draws, seed)
    curves = []
    for method in methods:
        repeats = []
        for time in range(times):
            # What does not look at labels may choose the first batch, too.
            first = "random" if method.strategy.adaptive else method.strategy
            repeat = vet(
                candidates, lambda rows: relevant[rows], measure, estimator=method.estimator,
                strategy=method.strategy, first=first, budget=limit, batch=batch, draws=draws,
                before=before, seed=seed * 1_000_003 + time,
            )  # fmt: skip
            repeats.append(repeat)
            if progress is not None:
                progress(f"{method} {time + 1} of {times}")
        after, earlier = (
            np.stack([repeat.values(when) for repeat in repeats]) for when in ("after", "before")
        )
        curves.append(
            Curve(
                str(method),
                repeats[0].effort,
                mean_defined(after),
                mean_defined(mean_defined(np.abs(after - true))),
                mean_defined(mean_defined(np.abs(earlier - true))),
            )
        )
    found = int(relevant.sum())
    recall = found / positives if positives else 1.0
    sizes = [int(ranking.ranked.size.sum()) for ranking in candidates.rankings.values()]
    return Simulated(
        measure,
        candidates.direction,
        candidates.runs,
        mean_defined(true),
        mean_defined(noisy),
        len(candidates),
        looked_at,
        recall,
        tuple(curves),
        float(mean_defined(mean_defined(np.abs(noisy - true)))),
        len(candidates.queries),
        max(sizes),
    )
