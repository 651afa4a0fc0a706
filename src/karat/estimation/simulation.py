"""Simulation: how many vetted labels would have been enough, where all of them are known.

Vetting is repeated many times on labels that are known in full, with several strategies and estimators, and
the errors are kept after every batch: what figures 5 to 8 of Nguyen et al. (2018) show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_choice, plural, split_names, track
from karat.benchmarks import Benchmark, Direction, Instances, Truth, direction_title
from karat.errors import InputError
from karat.estimation.candidates import DEPTH, Candidates, scan_candidates
from karat.estimation.curves import Curve, Simulated, Simulation
from karat.estimation.detection_estimate import BOXES, MASKS, load_detected_pairs
from karat.estimation.estimator import ESTIMATORS, LabelEstimator
from karat.estimation.inputs import (
    check_features,
    check_measures,
    load_inputs,
    request_for,
    table_features,
)
from karat.estimation.query_means import mean_defined
from karat.estimation.relevance import covered_queries, is_relevant, without_grade
from karat.estimation.strategy import STRATEGIES, VettingStrategy
from karat.estimation.vetting import BATCH, DRAWS, as_number, truth_labels, values_per_query, vet
from karat.measures import Measure, Named, parse_name
from karat.runs import Compute, Detections, Loading, Run

READINGS = ("no", "leave_out")
"""What a simulation takes pairs for that the true labels do not list."""
METHODS = ("random+naive", "mcm+naive", "random+learned", "mcm+learned", "meec+learned")
"""Strategy and estimator of the five curves of figure 5."""
DETECTION_METHODS = (
    "whole-images+vetted-only",
    "random+naive",
    "random+chi2-svm",
    "mcm+chi2-svm",
    "meec+chi2-svm",
)
"""The curves of figure 7: instances that are vetted in detections."""


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


def simulate(
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
    loading: Loading | None = None,
    compute: Compute | None = None,
    setting: Mapping[str, Any] | None = None,
) -> Simulation:
    """Simulate vetting on labels that are known in full: how many would have been enough?

    Parameters
    ----------
    runs, benchmark, loading, compute, setting
        As in `karat.evaluate`.
    measure, noisy, direction, depth, sample, ties, draws, features, seed
        As in `estimate`.
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

    Examples
    --------
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> done = simulate(simulate_systems(world)[:1], world.benchmark(), "P@10", noisy="original",
    ...     vetted="complete", direction="t2i", method="random+naive", times=2, batch=0.5)
    >>> done.results[0].curves[0].error.round(3).tolist()
    [[0.075, 0.0], [0.073, 0.0]]
    """
    methods = parse_methods(method, times)
    if unlisted is not None:
        check_choice(unlisted, READINGS, "unlisted")
    check_features(features)
    inputs = load_inputs(
        runs, benchmark, measure, (noisy, vetted), direction=direction, ties=ties,
        depth=depth, loading=loading, compute=compute, setting=setting,
    )  # fmt: skip
    bench, (first, second) = inputs.benchmark, inputs.truths
    how = reading_of(second, unlisted)
    results, notes = [], [*inputs.notes]
    condensed = how == "leave_out"
    requests = [
        request_for(
            first, way, [one], depth, queries=covered_queries(bench, way, inputs.truths),
            listed=second if condensed else None, sample=sample, condensed=condensed, ties=ties, seed=seed,
        )
        for way in inputs.directions
        for one in inputs.measures
    ]  # fmt: skip
    chosen = iter(scan_candidates(inputs.runs, bench, requests, compute))
    for way in inputs.directions:
        for one in inputs.measures:
            rel, candidates = getattr(one, "rel", None), next(chosen)
            candidates = candidates.with_features(table_features(features or {}, bench, candidates))
            label = truth_labels(candidates, second, rel, "no")
            positives = positives_of(second, way, candidates, rel)
            result = simulate_candidates(
                candidates, label > 0, one, methods, times=times, budget=budget, batch=batch, draws=draws,
                seed=seed, positives=positives,
            )  # fmt: skip
            results.append(result)
            notes += candidates.notes
        notes += reading_notes(how, second, candidates)
    return Simulation(tuple(results), times, first.name, second.name, tuple(dict.fromkeys(notes)))


def simulate_detections(
    runs: Detections | str | Path | Sequence[Detections | str | Path],
    instances: Instances | str | Path,
    measure: Iterable[str | Named] | str = "iAP",
    *,
    method: Iterable[str | Method] | str = DETECTION_METHODS,
    times: int = 50,
    budget: int | float = 1.0,
    batch: int | float = BATCH,
    draws: int = DRAWS,
    seed: int = 0,
    name: Iterable[str] | str | None = None,
) -> Simulation:
    """Simulate the vetting of instances whose masks are all known: how many masks would have been enough?

    At first every instance has its box; vetting one replaces its box by its mask.

    Parameters
    ----------
    runs, instances, measure, name
        As in `estimate_detections`; all instances have masks.
    method, times, draws, seed
        As in `simulate`. Strategies choose instances: random takes categories in turn, whole-images
        all instances of an image.
    budget, batch
        How many instances are vetted, in all and at a time: numbers, or shares.
    """
    methods = parse_methods(method, times)
    for one in methods:
        if not one.strategy.of_units:
            usable = ", ".join(kind.name for kind in STRATEGIES.values() if kind.of_units)
            raise InputError(f"{one.strategy} cannot choose among instances", fix=f"choose one of {usable}")
    pairs = load_detected_pairs(runs, instances, name=name)
    missing = len(np.unique(pairs.units[np.isnan(pairs.true)]))
    if missing:
        raise InputError(
            f"there is {plural(missing, 'instance')} without a mask"
            if missing == 1
            else f"there are {plural(missing, 'instance')} without masks",
            where=pairs.instances.name,
            fix="estimate the score instead, or leave them out",
        )
    results = [
        simulate_candidates(
            pairs, pairs.labels > 0, one, methods, times=times, budget=budget, batch=batch, draws=draws,
            seed=seed,
        )
        for one in check_measures(measure)
    ]  # fmt: skip
    return Simulation(tuple(results), times, BOXES, MASKS, pairs.notes)


def parse_methods(method: Iterable[str | Method] | str, times: int) -> list[Method]:
    """Return the methods that names mean, or raise, also where they are not to be repeated at all."""
    methods = [Method.parse(one) for one in (split_names(method) if isinstance(method, str) else method)]
    if times < 1:
        raise InputError(f"times is {times}", fix="give a whole number from 1")
    return methods


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
) -> Simulated:
    """Simulate vetting of given candidates whose labels are all known; see `simulate`.

    Parameters
    ----------
    candidates, relevant
        The pairs, and whether each is relevant.
    measure, methods, times, budget, batch, draws, seed
        As there.
    before
        See `vet`; without it, errors before each refit are NaN.
    positives
        How many relevant pairs there are, candidates or not; those among the candidates by default.
    """
    plain = without_grade(measure)
    looked_at = int((candidates.matter(plain) & candidates.asked).sum())
    limit = min(as_number(budget, looked_at, "budget"), looked_at)
    vetted = candidates.vetted_by(np.ones(len(candidates), bool))
    true = candidates.averaged(values_per_query(vetted, relevant.astype(np.float64), plain, draws, seed))
    noisy = candidates.averaged(
        values_per_query(candidates, candidates.noisy.astype(np.float64), plain, draws, seed)
    )
    curves = []
    for method in methods:
        repeats = []
        for time in track(range(times), f"repetitions of {method}"):
            # What does not look at labels may choose the first batch, too.
            first = "random" if method.strategy.adaptive else method.strategy
            repeat = vet(
                candidates, lambda rows: relevant[rows], measure, estimator=method.estimator,
                strategy=method.strategy, first=first, budget=limit, batch=batch, draws=draws,
                before=before, seed=seed * 1_000_003 + time,
            )  # fmt: skip
            repeats.append(repeat)
        after, earlier = (
            candidates.averaged(np.stack([repeat.values(when) for repeat in repeats]))
            for when in ("after", "before")
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
    detected = candidates.unit is not None
    found = int(relevant.sum())
    recall = found / positives if positives else 1.0
    sizes = [int(ranking.ranked.size.sum()) for ranking in candidates.rankings.values()]
    return Simulated(
        measure,
        None if detected else candidates.direction,
        candidates.runs,
        mean_defined(true),
        mean_defined(noisy),
        len(candidates),
        looked_at,
        recall,
        tuple(curves),
        float(mean_defined(mean_defined(np.abs(noisy - true)))),
        true.shape[-1],
        max(sizes),
        *(("instance", "category") if detected else ()),
    )


def reading_of(truth: Truth, unlisted: str | None) -> str:
    """Return how pairs are read that a truth does not list."""
    if unlisted is None:
        return "no" if truth.complete or truth.implicit or not truth.has_negatives else "leave_out"
    return check_choice(unlisted, READINGS, "unlisted")


def reading_notes(how: str, truth: Truth, candidates: Candidates) -> list[str]:
    """Return what was assumed about pairs that the truth does not list."""
    if truth.complete or truth.implicit:
        return []
    way = direction_title(candidates.direction)
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
