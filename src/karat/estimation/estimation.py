"""Estimation: the score under the labels that would be there if everything were vetted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, plural, track
from karat.benchmarks import Benchmark, Truth, direction_title
from karat.errors import InputError
from karat.estimation.candidates import DEPTH, Candidates, VettedLabels, scan_candidates
from karat.estimation.estimator import ESTIMATORS, LabelEstimator, run_probabilities, shared
from karat.estimation.features import check_scores
from karat.estimation.inputs import check_features, load_inputs, request_for, table_features
from karat.estimation.query_means import cluster_variance, clusters_of, mean_defined
from karat.estimation.relevance import covered_queries, pair_keys, without_grade
from karat.estimation.score_estimate import EstimatedColumn, ScoreEstimate
from karat.estimation.statistics import TARGETS
from karat.estimation.vetting import DRAWS, UNLISTED, truth_labels, values_per_query
from karat.measures import Measure, Named, parse_name
from karat.runs import Compute, Loading, Run
from karat.scores import version_blocks

DEFAULT_MEASURES = ("P@10", "RP", "mAP@R")
DEFAULT_ESTIMATOR = "mixed"
FEW_LABELS = 30
"""Below so many vetted pairs a note says that the estimate rests on few."""


def estimate(
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
    loading: Loading | None = None,
    compute: Compute | None = None,
    setting: Mapping[str, Any] | None = None,
) -> ScoreEstimate:
    """Estimate what runs would score if every label were vetted.

    Candidates are the first `depth` items of each run, what the noisy labels call relevant, and what is
    vetted; every other pair counts as not relevant. A query without a relevant candidate counts as 0.

    Parameters
    ----------
    runs, benchmark, loading, compute, setting
        As in `karat.evaluate`.
    measure
        One or several measures that are means over queries, such as "P@10", "RP", "AP".
    noisy
        The truth with the labels that are there for all pairs.
    vetted
        The truth with the labels that are right, of some pairs: relevant and not relevant ones. Or a file
        with the columns image, caption and label (1 or 0), or those of other sides under these names.
    estimator
        How labels become probabilities: see `karat.estimation.ESTIMATORS`.
    target
        What is estimated: "test-set", the score on these queries, or "population", that on queries like
        these. The number is the same; the spread is not.
    direction
        One or several of those of the benchmark, as "i2t" and "t2i"; by default all that have queries.
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
        What else may tell whether a pair is relevant, by name: a score of each item with each other, or
        what `karat.load_run` takes.
    seed
        Of all random draws.

    Returns
    -------
    ScoreEstimate

    Examples
    --------
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> runs = simulate_systems(world)[:2]
    >>> full = estimate(runs, world.benchmark(), "P@10", noisy="original", vetted="complete",
    ...     direction="t2i")
    >>> round(full.value("P@10", "seer"), 4)  # everything is vetted, so this is the score itself
    0.2433
    """
    chosen = parse_name(estimator, ESTIMATORS)
    target = check_choice(target, list(TARGETS), "target")
    unlisted = check_choice(unlisted, UNLISTED, "unlisted")
    check_features(features)
    inputs = load_inputs(
        runs, benchmark, DEFAULT_MEASURES if measure is None else measure, (noisy, vetted),
        direction=direction, ties=ties,
        depth=depth, loading=loading, compute=compute, setting=setting,
    )  # fmt: skip
    bench, (first, second) = inputs.benchmark, inputs.truths
    columns = []
    listed = None if second.implicit else second
    groups = [(way, group) for way in inputs.directions for group in by_relevance(inputs.measures).items()]
    requests = []
    for way, (_, group) in groups:
        queries = covered_queries(bench, way, [first, second] if unlisted == "no" else [first])
        requests.append(
            request_for(
                first, way, group, depth, queries=queries, listed=listed, sample=sample, ties=ties, seed=seed
            )
        )
    chosen_pairs = scan_candidates(inputs.runs, bench, requests, compute)
    for (_, (rel, group)), candidates in zip(groups, chosen_pairs, strict=True):
        candidates = candidates.with_features(table_features(features or {}, bench, candidates))
        labels = vetted_labels(candidates, second, rel, unlisted)
        cluster = clusters_of(bench, candidates)
        columns += [
            estimate_column(candidates, labels, one, chosen, target, draws, seed, cluster)
            for one in track(group, lambda one: f"estimating {one}")
        ]
    unused = outside_notes(columns, first, second)
    notes = [*inputs.notes, *unused, *estimation_notes(columns)]
    return ScoreEstimate(tuple(columns), chosen, target, first.name, second.name, tuple(notes), bench)


def by_relevance(measures: Sequence[Measure]) -> dict[float | str | None, list[Measure]]:
    """Return the measures by the grade from which on they call a pair relevant."""
    groups: dict[float | str | None, list[Measure]] = {}
    for one in measures:
        groups.setdefault(getattr(one, "rel", None), []).append(one)
    return groups


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
    for block in track(list(version_blocks(draws, len(candidates))), "drawing labels"):
        luck = candidates.luck(block.stop - block.start, rng)
        scores = [
            np.nan_to_num(measure(ranking.under(luck < own))).mean(axis=-1)
            for ranking, own in zip(candidates.rankings.values(), chance)
        ]
        blocks.append(np.stack(scores, axis=1))
    return np.concatenate(blocks)


def outside_notes(columns: Sequence[EstimatedColumn], noisy: Truth, vetted: Truth) -> list[str]:
    """Return how many vetted labels are not of candidates: other vetted pairs are candidates themselves."""
    if vetted.implicit:
        return []
    notes = {}
    for column in columns:
        judged, candidates = vetted.judged(column.direction), column.candidates
        labelled = np.unique(pair_keys(column.direction, judged.query_of_row, judged.item))
        used = pair_keys(column.direction, candidates.queries[candidates.query], candidates.item)
        outside = int((~np.isin(labelled, used)).sum())
        if outside:
            notes[column.direction] = (
                f"{direction_title(column.direction)}: {outside:,} of {len(labelled):,} labels of "
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
        inside, known = (column.candidates.count(rows) for rows in (matter & vetted, vetted))
        if inside < FEW_LABELS and inside < column.candidates.count(matter):
            notes.append(f"{column.title}: rests on {plural(inside, 'vetted pair')}, which is few")
        outside = known - inside
        if outside > inside:
            notes.append(
                f"{column.title}: {outside:,} of {known:,} vetted pairs are not among the first "
                "items, and tell little"
            )
    return notes
