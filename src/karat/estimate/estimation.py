"""Estimation: the score under the labels that would be there if everything were vetted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import MISSING, Layout, Mark, Panel, Part, Result, check_choice, forest, plural
from karat.benchmarks import DIRECTIONS, Benchmark, Direction, Truth, load_benchmark
from karat.errors import InputError
from karat.estimate.candidates import (
    DEPTH,
    Candidates,
    VettedLabels,
    check_graded,
    check_ties,
    covered_queries,
    make_candidates,
    without_grade,
)
from karat.estimate.estimator import ESTIMATORS, LabelEstimator, run_probabilities, shared
from karat.estimate.features import check_scores
from karat.estimate.label_file import find_truth
from karat.estimate.names import parse_name
from karat.estimate.vetting import DRAWS, UNLISTED, truth_labels, values_per_query
from karat.measures import MEAN, Measure, Named, Semantic, parse_measures, show_value
from karat.runs import Order, Run, load_runs, notes_on_loading
from karat.scores import DIRECTION_TITLES, version_blocks

if TYPE_CHECKING:
    import plotly.graph_objects as go

DEFAULT_MEASURES = ("P@10", "RP", "mAP@R")
DEFAULT_ESTIMATOR = "mixed"
TARGETS = {
    "test_set": "this test set: the score that fully vetted labels would give on these queries",
    "population": "queries like these: the score on other queries of the same kind",
}
"""What is estimated, in words."""
OTHERS = {"naive": "noisy label", "sample_mean": "sample mean", "vetted_only": "vetted only"}
"""The estimates that stand beside the chosen one, and what tables call them."""
FEW_LABELS = 30
"""Below so many vetted pairs a note says that the estimate rests on few."""


@dataclass(frozen=True, eq=False)
class EstimatedColumn:
    """One measure in one direction, estimated for every run.

    Parameters
    ----------
    measure, direction
        What was estimated.
    candidates, labels
        Which pairs have uncertain labels, and what is vetted.
    probability
        Per candidate, the probability that it is relevant; vetted ones have their label.
    values
        Expected values per run and query.
    spread
        Per run, the standard deviation of its score if the probabilities are right; NaN where some are
        unknown.
    draws
        Scores [draws, runs] under labels drawn from the probabilities, the same draws for all runs.
    naive, sample_mean, vetted_only
        Per run, the score by other estimators: what the noisy labels say, the mean of the vetted pairs, and
        the queries that are vetted completely; NaN where it is not defined.
    """

    measure: Measure
    direction: Direction
    candidates: Candidates
    labels: VettedLabels
    probability: np.ndarray
    values: np.ndarray
    spread: np.ndarray
    draws: np.ndarray
    naive: np.ndarray
    sample_mean: np.ndarray
    vetted_only: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        """Per run, the estimated score."""
        return mean_defined(self.values)

    @property
    def looked_at(self) -> np.ndarray:
        """Per candidate, whether the measure looks at it."""
        return self.candidates.matter(without_grade(self.measure))

    @property
    def title(self) -> str:
        """The measure and the direction."""
        return f"{self.measure} {DIRECTION_TITLES[self.direction]}"

    def marks(self, estimator: str) -> list[Mark]:
        """Return what a figure draws: per run, its estimate with the spread, and the others."""
        marks = []
        for at, run in enumerate(self.candidates.runs):
            for series, values in {
                estimator: self.scores, **{name: getattr(self, key) for key, name in OTHERS.items()}
            }.items():  # fmt: skip
                value, spread = values[at], self.spread[at] if series == estimator else np.nan
                if not np.isnan(value):
                    ends = (None, None) if np.isnan(spread) else (value - spread, value + spread)
                    text = show_value(self.measure, value)
                    if not np.isnan(spread):
                        text += f" ± {show_value(self.measure, spread)}"
                    low, high = (None if end is None else 100 * float(end) for end in ends)
                    marks.append(Mark(run, 100 * float(value), low, high, text, series, series == estimator))
        return marks

    def records(self, target: str, estimator: str) -> list[dict[str, Any]]:
        """Return one record per run."""
        matter = self.looked_at
        same = {
            "direction": self.direction,
            "measure": str(self.measure),
            "estimator": estimator,
            "target": target.replace("_", "-"),
        }
        counts = {
            "queries": int((~np.isnan(self.values)).any(axis=0).sum()),
            "candidates": int(matter.sum()),
            "vetted": int((matter & self.labels.vetted).sum()),
        }
        columns = zip(
            self.candidates.runs, self.scores, self.spread, self.naive, self.sample_mean, self.vetted_only
        )
        names = ("value", "spread", "naive", "sample_mean", "vetted_only")
        return [
            {"run": run, **same, **{n: as_json(v) for n, v in zip(names, numbers)}, **counts}
            for run, *numbers in columns
        ]


@dataclass(frozen=True, eq=False)
class ScoreEstimate(Result):
    """Estimated scores, with what they rest on; `estimate_scores` makes it.

    Parameters
    ----------
    columns
        One per measure and direction.
    estimator
        How labels became probabilities.
    target
        What is estimated, a key of `TARGETS`.
    noisy, vetted
        The names of the truths.
    notes
        What a reader should know.
    benchmark
        Of the runs: its captions and pictures are shown.
    """

    columns: tuple[EstimatedColumn, ...]
    estimator: LabelEstimator
    target: str
    noisy: str
    vetted: str
    notes: tuple[str, ...] = ()
    benchmark: Benchmark | None = None

    def value(self, measure: str, run: str | None = None, direction: str | None = None) -> float:
        """Return one estimated score; `run` and `direction` may be left out where there is one only.

        Raises where several fit.
        """
        wanted = str(parse_measures([measure])[0])
        numbers = [
            score
            for column in self.columns
            if str(column.measure) == wanted and direction in (None, column.direction)
            for name, score in zip(column.candidates.runs, column.scores)
            if run in (None, name)
        ]
        if len(numbers) != 1:
            raise InputError(
                f"{len(numbers)} estimates of {measure} fit",
                fix="name the measure, the run and the direction",
            )
        return float(numbers[0])

    def records(self) -> list[dict[str, Any]]:
        """Return one record per run, measure and direction."""
        return [
            record for column in self.columns for record in column.records(self.target, str(self.estimator))
        ]

    def differences(self) -> list[dict[str, Any]]:
        """Return one record per pair of runs: the estimated gap, its spread, and how often it is above 0.

        A gap of 0 counts half.
        """
        records = []
        for column in self.columns:
            for a, b in combinations(range(len(column.candidates.runs)), 2):
                # Rounded, so that equal scores are equal.
                drawn = (column.draws[:, a] - column.draws[:, b]).round(12)
                records.append(
                    {
                        "first": column.candidates.runs[a],
                        "second": column.candidates.runs[b],
                        "direction": column.direction,
                        "measure": str(column.measure),
                        "value": as_json(column.scores[a] - column.scores[b]),
                        "spread": as_json(np.std(drawn)),
                        "first_ahead": as_json((1 + np.sign(drawn).mean()) / 2),
                    }
                )
        return records

    def plot(self, measure: str | None = None, *, direction: str | None = None) -> go.Figure:
        """Return a plotly figure of the estimates with their spread, and of what other estimators say.

        Parameters
        ----------
        measure, direction
            One; all by default, a panel for each.
        """
        wanted = None if measure is None else str(parse_measures([measure])[0])
        columns = [
            column
            for column in self.columns
            if wanted in (None, str(column.measure)) and direction in (None, column.direction)
        ]
        if not columns:
            raise InputError(f"nothing was estimated for {measure or direction}", fix="print the estimates")
        panels = [Panel(column.title, "percent", column.marks(str(self.estimator))) for column in columns]
        panels = [panel for panel in panels if panel.marks]
        if not panels:
            raise InputError("no estimate is defined", fix="vet more pairs, or choose another estimator")
        return forest(
            panels,
            f"Estimated for {TARGETS[self.target].partition(':')[0]}",
            "Lines: one standard deviation to each side, if the probabilities are right.",
            "choose a measure or a direction",
        )

    def parts(self) -> Sequence[Part]:
        """Return the sentence on what is estimated, the scores, and the gaps between runs."""
        head = (
            f"Estimated for {TARGETS[self.target]}.\nEstimator {self.estimator}, noisy labels {self.noisy}, "
            f"vetted labels {self.vetted}. Percent ± one standard deviation."
        )
        by_name = {str(column.measure): column.measure for column in self.columns}

        def shown(record: dict[str, Any], key: str) -> str:
            return MISSING if record[key] is None else show_value(by_name[record["measure"]], record[key])

        def with_spread(record: dict[str, Any]) -> str:
            spread = "" if record["spread"] is None else f" ± {shown(record, 'spread')}"
            return f"{shown(record, 'value')}{spread}"

        rows = [
            [
                record["run"],
                DIRECTION_TITLES[record["direction"]],
                record["measure"],
                with_spread(record),
                *(shown(record, other) for other in OTHERS),
                f"{record['vetted']:,} of {record['candidates']:,}",
            ]
            for record in self.records()
        ]
        titles = ["run", "direction", "measure", "estimate", *OTHERS.values(), "vetted pairs"]
        legend = (
            "noisy label: where a pair is not vetted; sample mean: there the share of relevant vetted pairs;"
            "\nvetted only: queries without an unvetted pair; vetted pairs: of those the measure looks at"
        )
        parts: list[Part] = [head, Layout(titles, rows, labels=3, legend=legend)]
        gaps = self.differences()
        if gaps:
            lines = [
                [
                    f"{gap['first']} − {gap['second']}",
                    DIRECTION_TITLES[gap["direction"]],
                    gap["measure"],
                    with_spread(gap),
                    MISSING if gap["first_ahead"] is None else f"{100 * gap['first_ahead']:.0f}%",
                ]
                for gap in gaps
            ]
            parts.append(
                Layout(
                    ["gap", "direction", "measure", "estimate", "first ahead"],
                    lines,
                    labels=3,
                    legend="first ahead: how often the first run scores higher, over labels drawn from the "
                    "probabilities",
                )
            )
        return parts


def estimate_scores(
    runs: Run | Sequence[Run] | Any,
    benchmark: Benchmark | str | Path,
    measure: Iterable[str | Named] | str | None = None,
    *,
    noisy: str | Truth,
    vetted: str | Path | Truth,
    estimator: str | LabelEstimator = DEFAULT_ESTIMATOR,
    target: str = "test-set",
    direction: Iterable[str] | str | None = None,
    unlisted: str = "unknown",
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
) -> ScoreEstimate:
    """Estimate what runs would score if every label were vetted.

    Candidates are the first `depth` items of each run, what the noisy labels call relevant, and what is
    vetted; every other pair counts as not relevant. A query without a relevant candidate counts as 0.

    Parameters
    ----------
    runs, benchmark, name, ids, similarity, transpose, setting
        As in `karat.evaluate`.
    measure
        One or several measures that are means over queries, such as "P@10", "RP", "AP".
    noisy
        The truth with the labels that are there for all pairs.
    vetted
        The truth with the labels that are right, of some pairs: relevant and not relevant ones. Or a file
        with the columns image, caption and label (1 or 0).
    estimator
        How labels become probabilities: see `karat.estimate.ESTIMATORS`.
    target
        What is estimated: "test-set", the score on these queries, or "population", that on queries like
        these. The number is the same; the spread is not.
    direction
        "i2t", "t2i" or both.
    unlisted
        What a pair means that `vetted` does not list: "unknown", or "no", not relevant. With "no", queries
        that `vetted` does not cover are left out.
    depth, sample
        How many first items of each run are candidates, and how many random ones of each query besides. For
        measures such as P@K alone, K is enough, whatever `depth` says.
    ties
        "stable" or "expected".
    draws
        How many versions of the labels are drawn, for the spread and for measures without a closed form.
    features
        What else may tell whether a pair is relevant, by name: a score of every image with every caption, or
        what `karat.load_run` takes.
    seed
        Of all random draws.
    threads
        How many; all by default.

    Returns
    -------
    ScoreEstimate

    Examples
    --------
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> runs = simulate_systems(world)[:2]
    >>> full = estimate_scores(runs, world.benchmark(), "P@10", noisy="original", vetted="complete",
    ...     direction="t2i")
    >>> round(full.value("P@10", "seer"), 4)  # everything is vetted, so this is the score itself
    0.2433
    """
    bench = benchmark if isinstance(benchmark, Benchmark) else load_benchmark(benchmark, **(setting or {}))
    measures = check_measures(DEFAULT_MEASURES if measure is None else measure)
    chosen = parse_name(estimator, ESTIMATORS)
    target = check_choice(target, list(TARGETS), "target")
    unlisted = check_choice(unlisted, UNLISTED, "unlisted")
    check_ties(ties)
    (first, _), (second, file_notes) = (find_truth(bench, truth) for truth in (noisy, vetted))
    for one in measures:
        check_graded(one, (first, second))
    loaded = load_runs(runs, bench, name=name, ids=ids, similarity=similarity, transpose=transpose)
    bench = loaded[0].benchmark or bench
    columns = []
    listed = None if second.implicit else second
    for way in directions_of(direction, loaded, (first, second)):
        queries = covered_queries(bench, way, [first, second] if unlisted == "no" else [first])
        for rel, group in by_relevance(measures).items():
            candidates = make_candidates(
                loaded, bench, first, direction=way, queries=queries, listed=listed,
                depth=depth_of(group, depth), sample=sample, rel=rel, ties=ties, seed=seed, threads=threads,
                noisy_positives=not all(is_cut(one) for one in group),
            )  # fmt: skip
            candidates = candidates.with_features(table_features(features or {}, bench, candidates))
            labels = vetted_labels(candidates, second, rel, unlisted)
            cluster = clusters_of(bench, candidates)
            columns += [
                estimate_column(candidates, labels, one, chosen, target, draws, seed, cluster)
                for one in group
            ]
    unused = outside_notes(columns, first, second)
    notes = [*notes_on_loading(loaded), *file_notes, *unused, *estimation_notes(columns)]
    return ScoreEstimate(tuple(columns), chosen, target, first.name, second.name, tuple(notes), bench)


def check_measures(measure: Iterable[str | Named] | str) -> list[Measure]:
    """Return measures whose score is a mean over queries, or raise."""
    measures = []
    for named in parse_measures(measure.split(",") if isinstance(measure, str) else measure):
        if not isinstance(named, Measure):
            raise InputError(f"{named} is made of several columns", fix="estimate its parts: R@1,R@5,R@10")
        if isinstance(named, Semantic):
            raise InputError(f"{named} looks at similarities, not at labels", fix="choose P@10, RP, AP, …")
        if named.aggregate is not MEAN or named.better == "low":
            raise InputError(
                f"{named} is not a mean of shares over queries", fix="choose P@10, R@1, RP, mAP@R, AP or nDCG"
            )
        measures.append(named)
    if not measures:
        raise InputError("there is no measure to estimate", fix="name one: P@10")
    return measures


def directions_of(
    direction: Iterable[str] | str | None, runs: Sequence[Run], truths: Sequence[Truth]
) -> list[Direction]:
    """Return the directions that were asked for, or those that all runs and truths have."""
    if direction is not None:
        names = [direction] if isinstance(direction, str) else list(direction)
        return [check_choice(name, DIRECTIONS, "direction") for name in names]  # type: ignore[misc]
    possible = [
        way
        for way in DIRECTIONS
        if all(way in run.directions for run in runs) and all(len(t.queries.get(way, ())) for t in truths)
    ]
    if not possible:
        raise InputError("no direction is in all runs and both truths", fix="choose other runs or truths")
    return possible


def is_cut(measure: Measure) -> bool:
    """Whether a measure looks at nothing below its cut-off."""
    return (
        measure.cutoff is not None and measure.bounded and getattr(measure, measure.cutoff.name) is not None
    )


def depth_of(measures: Sequence[Measure], depth: int) -> int:
    """Return how many first items of each run are candidates."""
    if depth < 1:
        raise InputError(f"depth is {depth}", fix="give a whole number from 1")
    cuts = [getattr(one, one.cutoff.name) for one in measures if is_cut(one) and one.cutoff is not None]
    return max(cuts) if len(cuts) == len(measures) else max([depth, *cuts])


def by_relevance(measures: Sequence[Measure]) -> dict[float | str | None, list[Measure]]:
    """Return the measures by the grade from which on they call a pair relevant."""
    groups: dict[float | str | None, list[Measure]] = {}
    for one in measures:
        groups.setdefault(getattr(one, "rel", None), []).append(one)
    return groups


def table_features(
    tables: Mapping[str, Any], benchmark: Benchmark, candidates: Candidates
) -> dict[str, np.ndarray]:
    """Return the scores that tables or runs give the candidates."""
    if not tables:
        return {}
    from karat.estimate.features import score_features

    loaded = {name: load_runs(table, benchmark)[0] for name, table in tables.items()}
    return score_features(loaded, benchmark, candidates)


def vetted_labels(
    candidates: Candidates, truth: Truth, rel: float | str | None, unlisted: str
) -> VettedLabels:
    """Return what a truth says of the candidates; raise where it says nothing of any."""
    label = truth_labels(candidates, truth, rel, unlisted)
    rows = np.flatnonzero(~np.isnan(label))
    if not len(rows):
        raise InputError(
            f"all labels of truth {truth.name!r} are outside the candidates ({candidates.direction})",
            fix="name a noisy truth that covers its queries, or vet pairs that the runs rank first",
        )
    return VettedLabels(candidates, rows, label[rows] > 0)


def estimate_column(
    candidates: Candidates,
    labels: VettedLabels,
    measure: Measure,
    estimator: LabelEstimator,
    target: str,
    draws: int,
    seed: int,
    cluster: np.ndarray,
) -> EstimatedColumn:
    """Estimate one measure in one direction; `cluster` says which queries belong together."""
    plain = without_grade(measure)
    matter = candidates.matter(plain)
    if not (matter & labels.vetted).any():
        raise InputError(
            f"none of the {plural(len(labels), 'vetted pair')} is among what {measure} looks at "
            f"({candidates.direction})",
            fix="vet pairs that the runs rank first",
        )
    if estimator.needs_scores:
        check_scores(candidates)

    def probabilities(how: LabelEstimator) -> np.ndarray:
        return run_probabilities(how, labels, plain, np.random.default_rng([seed, 3]))

    def scores(name: str) -> np.ndarray:
        other = probabilities(ESTIMATORS[name]())
        return mean_defined(values_per_query(candidates, other, plain, draws, seed))

    probability = probabilities(estimator)
    values = values_per_query(candidates, probability, plain, draws, seed)
    drawn = draw_scores(candidates, probability, plain, draws, seed)
    variance = drawn.var(axis=0)
    if target == "population":
        variance = variance + cluster_variance(values, cluster)
    return EstimatedColumn(
        measure,
        candidates.direction,
        candidates,
        labels,
        shared(probability),
        values,
        np.sqrt(variance),
        drawn,
        *(scores(name) for name in ("naive", "sample-mean", "vetted-only")),
    )


def draw_scores(
    candidates: Candidates, probability: np.ndarray, measure: Measure, draws: int = DRAWS, seed: int = 0
) -> np.ndarray:
    """Return the scores [draws, runs] under labels drawn from probabilities, the same draws for all runs."""
    each = np.broadcast_to(probability, (len(candidates.runs), len(candidates)))
    if np.isnan(each[:, candidates.matter(measure)]).any():
        return np.full((draws, len(candidates.runs)), np.nan)
    chance = np.nan_to_num(each)
    rng = np.random.default_rng([seed, 9])
    blocks = []
    for block in version_blocks(draws, len(candidates)):
        luck = rng.random((block.stop - block.start, len(candidates)))
        scores = [
            np.nan_to_num(measure(ranking.under(luck < own))).mean(axis=-1)
            for ranking, own in zip(candidates.rankings.values(), chance)
        ]
        blocks.append(np.stack(scores, axis=1))
    return np.concatenate(blocks)


def clusters_of(benchmark: Benchmark, candidates: Candidates) -> np.ndarray:
    """Return the cluster of each query: captions of one image belong together."""
    owner = benchmark.caption_image
    if candidates.direction == "i2t" or owner is None or (owner[candidates.queries] < 0).any():
        return np.arange(len(candidates.queries))
    return owner[candidates.queries]


def cluster_variance(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Return the variance of each row's mean over queries, where queries of one cluster move together.

    >>> values = np.array([[0.0, 1.0, 0.0, 1.0]])
    >>> cluster_variance(values, np.array([0, 1, 2, 3])).round(4).tolist()
    [0.0833]
    >>> cluster_variance(values, np.array([0, 0, 1, 1])).tolist()
    [0.0]
    """
    known = ~np.isnan(values)
    rest = np.where(known, values - mean_defined(values)[:, None], 0.0)
    _, number = np.unique(cluster, return_inverse=True)
    clusters = int(number.max()) + 1
    sums = np.stack([np.bincount(number, row, clusters) for row in rest])
    return (sums**2).sum(axis=1) / known.sum(axis=1) ** 2 * clusters / max(clusters - 1, 1)


def mean_defined(values: np.ndarray) -> np.ndarray:
    """Return the mean of what is defined in each row; NaN where nothing is."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1)


def as_json(value: Any) -> float | None:
    """Return a number, or None for NaN."""
    return None if np.isnan(value) else float(value)


def outside_notes(columns: Sequence[EstimatedColumn], noisy: Truth, vetted: Truth) -> list[str]:
    """Return how many vetted labels are not of candidates: other vetted pairs are candidates themselves."""
    if vetted.implicit:
        return []
    notes = {}
    for column in columns:
        judged = vetted.judged(column.direction)
        outside = int((column.candidates.find(judged.query_of_row, judged.item) < 0).sum())
        if outside:
            notes[column.direction] = (
                f"{DIRECTION_TITLES[column.direction]}: {outside:,} of {len(judged.item):,} labels of "
                f"{vetted.name} are not used: of queries that {noisy.name} does not cover, or of items that "
                "are not ranked"
            )
    return list(notes.values())


def estimation_notes(columns: Sequence[EstimatedColumn]) -> list[str]:
    """Return what a reader of the estimates should know."""
    notes = [
        "± is the standard deviation of the score if the estimator's probabilities are right; it is not a "
        "confidence interval"
    ]
    notes += dict.fromkeys(note for column in columns for note in column.candidates.notes)
    for column in columns:
        matter, vetted = column.looked_at, column.labels.vetted
        inside = int((matter & vetted).sum())
        if inside < FEW_LABELS and inside < matter.sum():
            notes.append(f"{column.title}: rests on {plural(inside, 'vetted pair')}, which is few")
        outside = len(column.labels) - inside
        if outside > inside:
            notes.append(
                f"{column.title}: {outside:,} of {len(column.labels):,} vetted pairs are not among the first "
                "items, and tell little"
            )
    return notes
