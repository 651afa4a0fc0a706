"""Planning: how many labels will it take, and what will they cost?

Labels that are drawn with the probabilities π_i estimate a score Σ w_i y_i with the variance

    V = Σ w_i² s_i² (1 / π_i − 1),

where s_i² is the expected square of what is left of a label after its prediction: p_i (1 − p_i) if the
predictions p_i are right, and P (1 − P) for labels alone, P the share of relevant pairs. `PlanBasis` says
where the p_i come from before any label is there, and docs/estimate-comparison.md how plans compare with
drawn labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat.benchmarks import Benchmark, Truth
from karat.errors import InputError
from karat.estimation.candidates import DEPTH, scan_candidates
from karat.estimation.estimation import DEFAULT_ESTIMATOR, vetted_labels
from karat.estimation.estimator import ESTIMATORS, LabelEstimator
from karat.estimation.inputs import (
    check_drawn,
    check_measures,
    check_one_direction,
    check_several,
    load_inputs,
    one_direction,
    request_for,
)
from karat.estimation.plan_basis import assumed_basis, assumed_notes, pilot_basis, pilot_notes, world_basis
from karat.estimation.planned_designs import planned_designs, spread_over_queries
from karat.estimation.query_means import clusters_of
from karat.estimation.relevance import covered_queries, without_grade
from karat.estimation.statistics import error_rate
from karat.estimation.vetting_plan import Plan
from karat.judging import Rates
from karat.measures import Named, parse_name
from karat.runs import Compute, Loading, Run


def plan(
    runs: Run | Sequence[Run] | Any,
    benchmark: Benchmark | str | Path,
    measure: str | Named = "P@10",
    *,
    within: float = 2.0,
    pilot: str | Path | Truth | None = None,
    world: bool = False,
    rho: float | None = None,
    prevalence: float | None = None,
    noisy: str | Truth | None = None,
    difference: float | None = None,
    estimator: str | LabelEstimator = DEFAULT_ESTIMATOR,
    level: float = 0.95,
    power: float = 0.8,
    direction: Iterable[str] | str | None = None,
    depth: int = DEPTH,
    ties: str = "stable",
    overlap: int = 3,
    rates: Rates | None = None,
    seed: int = 0,
    loading: Loading | None = None,
    compute: Compute | None = None,
    setting: Mapping[str, Any] | None = None,
) -> Plan:
    """Say how many labels a score, or telling two runs apart, will take.

    Parameters
    ----------
    runs, benchmark, loading, compute, setting
        As in `karat.evaluate`.
    measure
        One measure. P@K and its like can be estimated from single pairs; others need whole queries.
    within
        The wanted half-width of the 95% interval, in points.
    pilot
        A truth, or a file of labels, of some pairs: what labels are like is learned from it.
    world
        Take prevalence and correlation from karat's known-truth world instead.
    rho, prevalence
        What else to assume: the correlation of predictions with labels, once there are 300 of them, and the
        share of relevant pairs, which for P@K is the score. With nothing at all, 0 and 0.5, which is the
        worst case.
    noisy
        The truth with the labels that all pairs have; the benchmark's first by default.
    difference
        The gap of the first two runs that is to be found, in points; `within` by default.
    estimator
        What predicts labels from the pilot.
    level, power
        How often intervals should hold, and how often the gap should be found.
    direction
        One of the benchmark; by default that of a search, as "t2i", if the runs and the truth have it.
    depth, ties
        As in `karat.estimate`.
    overlap, rates
        Of the cost: annotators per pair; how long an answer takes, and what annotators are paid.
    seed
        Of whatever is drawn.

    Examples
    --------
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=200, captions=2, seed=1)
    >>> runs = simulate_systems(world)[:2]
    >>> plan = plan(runs, world.benchmark(), "P@10", direction="t2i", rho=0.7, prevalence=0.3)
    >>> plan.labels("uniform")
    1223
    """
    error_rate(level)
    check_shares(within, power, rho, prevalence)
    if difference is not None:
        if not 0 < difference < 50:
            raise InputError(f"difference is {difference:g}", fix="give a gap in points, such as 2")
        check_several(runs, f"difference is {difference:g}")
    bases = {"pilot": pilot, "world": world or None, "rho": rho, "prevalence": prevalence}
    named = [basis for basis, value in bases.items() if value is not None]
    if len(named) > 1 and named != ["rho", "prevalence"]:
        raise InputError(
            f"{' and '.join(named)} are given, and a plan rests on one of them", fix=f"leave out {named[-1]}"
        )
    measures = check_measures(measure)
    if len(measures) > 1:
        raise InputError("a plan is for one measure", fix=f"choose {measures[0]}")
    check_one_direction(direction)
    inputs = load_inputs(
        runs, benchmark, measures, [noisy, *([] if pilot is None else [pilot])], direction=direction,
        ties=ties, depth=depth, loading=loading, compute=compute, setting=setting,
    )  # fmt: skip
    if difference is not None and len(inputs.runs) < 2:
        check_several(inputs.runs, f"difference is {difference:g}")
    way, way_notes = one_direction(inputs.directions)
    check_drawn(way)
    bench, (one,), (first, *others) = inputs.benchmark, inputs.measures, inputs.truths
    plain, rel, guess = without_grade(one), getattr(one, "rel", None), parse_name(estimator, ESTIMATORS)
    request = request_for(
        first, way, [one], depth, queries=covered_queries(bench, way, [first]), ties=ties, seed=seed
    )
    (candidates,) = scan_candidates(inputs.runs, bench, [request], compute)
    cluster = clusters_of(bench, candidates)
    notes, known = [*inputs.notes, *way_notes], None
    if others:
        labels = vetted_labels(candidates, others[0], rel, "unknown")
        basis = pilot_basis(labels, plain, guess, cluster, seed, others[0].name)
        known = labels.label
        notes += pilot_notes(labels, plain)
    else:
        if world:
            prevalence, rho = world_basis(plain, depth, seed)
        source = "As in the known-truth world" if world else "Assumed"
        basis = assumed_basis(candidates, plain, prevalence, rho, seed, source)
        notes += assumed_notes(world, rho, prevalence)
    designs = planned_designs(candidates, plain, basis, seed)
    spread = spread_over_queries(candidates, plain, basis, cluster, seed, known)
    clusters = len(np.unique(cluster))
    return Plan(
        one, way, candidates.runs, int(candidates.matter(plain).sum()), len(candidates.queries), basis,
        tuple(designs), within / 100, (within if difference is None else difference) / 100, level, power,
        spread, clusters, bench.unit([way]), overlap, rates or Rates(),
        tuple(notes),
    )  # fmt: skip


def check_shares(within: float, power: float, rho: float | None, prevalence: float | None) -> None:
    """Raise for numbers that make no sense."""
    if not 0 < within < 50:
        raise InputError(f"within is {within:g}", fix="give the half-width in points, such as 2")
    if not 0.5 <= power < 1:
        raise InputError(f"power is {power:g}", fix="give a share from 0.5 to below 1, such as 0.8")
    if rho is not None and not 0 <= rho < 1:
        raise InputError(f"rho is {rho:g}", fix="give a correlation from 0 to below 1, such as 0.7")
    if prevalence is not None and not 0 < prevalence < 1:
        raise InputError(f"prevalence is {prevalence:g}", fix="give a share between 0 and 1, such as 0.3")
