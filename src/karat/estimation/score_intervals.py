"""Intervals: what drawn labels prove about scores, and which run is better.

`karat.estimation.statistics` has the estimator and its interval, on plain arrays; here the labels of runs
become such arrays. "The true score" has two meanings (`TARGETS`): that of this test set, which all labels
would give, and that of queries like these, where the test set is itself a sample of images.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from karat._util import check_choice, plural
from karat.errors import InputError
from karat.estimation.candidates import VettedLabels
from karat.estimation.design import run_weights
from karat.estimation.estimation import DEFAULT_ESTIMATOR, draw_scores
from karat.estimation.estimator import ESTIMATORS, LabelEstimator
from karat.estimation.expectation import FirstHit, Linear, form_of
from karat.estimation.interval_estimate import IntervalEstimate, IntervalEstimates
from karat.estimation.proxies import check_proxies
from karat.estimation.query_means import cluster_variance
from karat.estimation.relevance import without_grade
from karat.estimation.statistics import TARGETS, Draw, Totals, estimate_totals, interval
from karat.estimation.unit_values import LabelQuestion, pair_values, predictions, query_values
from karat.estimation.vetting import values_per_query
from karat.measures import Measure, parse_name
from karat.stats import Estimate, check_level


def interval_estimates(
    labels: VettedLabels,
    draws: Sequence[Draw],
    measure: Measure,
    *,
    method: str = "difference",
    estimator: str | LabelEstimator | None = DEFAULT_ESTIMATOR,
    proxies: Mapping[str, np.ndarray] | None = None,
    target: str = "test-set",
    level: float = 0.95,
    cluster: np.ndarray | None = None,
    seed: int = 0,
) -> IntervalEstimates:
    """Estimate scores and their differences, with intervals that follow from how labels were drawn.

    `karat.estimation.estimate_mean` has the same statistics on plain arrays.

    Parameters
    ----------
    labels
        What is known of the candidates: labels, or probabilities from answers of annotators who err.
    draws
        What was drawn, in order, each from what no earlier one had drawn. Drawn pairs without a label count
        as not answered yet.
    measure
        A mean over queries. Measures other than P@K need draws of whole queries.
    method
        "difference": predictions, corrected by the drawn labels; "hajek" and "horvitz-thompson" use labels
        alone. For labels that were not drawn: "bounds", and "model-based".
    estimator
        What predicts labels: see `ESTIMATORS`. Every image is predicted from the labels of others. None: the
        proxies alone do.
    proxies
        Further predictions by name, one probability per candidate: of machine judges, of other runs.
    target
        "test-set" or "population".
    level
        How often the interval should hold.
    cluster
        Per query, its cluster: the image of a caption (`clusters_of`). By default every query is its own.
    seed
        Of the folds, and of whatever is random in the estimator.

    Returns
    -------
    IntervalEstimates

    Examples
    --------
    >>> from karat.estimation import DESIGNS, VettedLabels, make_candidates, parse_name, truth_labels
    >>> from karat.measures import parse_measure
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> candidates = make_candidates(simulate_systems(world)[:2], world.benchmark(), "original",
    ...     direction="t2i", depth=10)
    >>> p10, truth = parse_measure("P@10"), truth_labels(candidates, world.benchmark().truth("complete"))
    >>> none, open_rows = VettedLabels.none(candidates), np.flatnonzero(candidates.matter(p10))
    >>> batch = parse_name("uniform", DESIGNS).draw(none, candidates.noisy * 1.0, p10, open_rows, 400,
    ...     np.random.default_rng(0))
    >>> labels = VettedLabels(candidates, batch.rows, truth[batch.rows] > 0)
    >>> made = interval_estimates(labels, [batch], p10)
    >>> made.scores[0]
    0.2543 (0.2374 to 0.2712, 95% difference, n = 400 worth 269)
    >>> made.differences[0].verdict
    'not yet'
    """
    question = ask_labels(
        labels, draws, measure, estimator=estimator, proxies=proxies, target=target, level=level,
        cluster=cluster, seed=seed,
    )  # fmt: skip
    return replace(answer(question, method), measure=measure)


def ask_labels(
    labels: VettedLabels,
    draws: Sequence[Draw],
    measure: Measure,
    *,
    estimator: str | LabelEstimator | None = DEFAULT_ESTIMATOR,
    proxies: Mapping[str, np.ndarray] | None = None,
    target: str = "test-set",
    level: float = 0.95,
    cluster: np.ndarray | None = None,
    seed: int = 0,
) -> LabelQuestion:
    """Return what is asked, checked; the parameters are those of `interval_estimates`."""
    check_level(level)
    tau = np.asarray(labels.relevant, dtype=np.float64)
    if not ((tau >= 0) & (tau <= 1)).all():
        raise InputError("a label is not between 0 and 1", fix="give labels of 0 and 1, or probabilities")
    check_proxies(labels.candidates, proxies or {})
    return LabelQuestion(
        labels,
        draws,
        without_grade(measure),
        None if estimator is None else parse_name(estimator, ESTIMATORS),
        dict(proxies or {}),
        check_choice(target, list(TARGETS), "target"),
        level,
        np.arange(len(labels.candidates.queries)) if cluster is None else np.asarray(cluster),
        seed,
    )


def answer(question: LabelQuestion, method: str) -> IntervalEstimates:
    """Return the estimates by a method, a key of `INTERVAL_KINDS`."""
    how = INTERVAL_KINDS[check_choice(method, list(INTERVAL_KINDS), "method of the intervals")]
    scores, differences, notes = how(question)
    return IntervalEstimates(tuple(scores), tuple(differences), question.measure, tuple(notes))


Answer = tuple[list[IntervalEstimate], list[IntervalEstimate], list[str]]


def from_draws(kind: str) -> Callable[[LabelQuestion], Answer]:
    """Return what makes intervals that hold because labels were drawn."""

    def made(question: LabelQuestion) -> Answer:
        totals, notes = drawn_totals(question, kind)
        labelled = int((question.looked_at & question.labels.vetted).sum())

        def estimate(a: int, b: int | None = None) -> IntervalEstimate:
            one = interval(totals, a, b, target=question.target, method=kind, level=question.level)
            weight = tuple(totals.coefficients[a, 1:].tolist()) if b is None else ()
            return named(question, replace(one, n=labelled), a, b, weight)

        return *every_run(question, estimate), notes

    return made


def every_run(
    question: LabelQuestion, estimate: Callable[..., IntervalEstimate]
) -> tuple[list[IntervalEstimate], list[IntervalEstimate]]:
    """Return the estimates of all runs, and of all pairs of runs."""
    runs = range(len(question.candidates.runs))
    return [estimate(a) for a in runs], [estimate(a, b) for a, b in combinations(runs, 2)]


def named(
    question: LabelQuestion, made: Estimate, a: int, b: int | None, weight: tuple[float, ...] = ()
) -> IntervalEstimate:
    """Return an estimate with the runs, and what it is of."""
    candidates = question.candidates
    return IntervalEstimate(
        **vars(made),
        run=candidates.runs[a],
        other=None if b is None else candidates.runs[b],
        measure=str(question.measure),
        direction=candidates.direction,
        target=question.target,
        weight=weight,
        candidates=int(question.looked_at.sum()),
    )


def drawn_totals(question: LabelQuestion, kind: str) -> tuple[Totals, list[str]]:
    """Return the totals of all runs, estimated from drawn labels, and notes."""
    if not question.draws:
        raise InputError(
            "no label was drawn with a known probability, so that there is no interval",
            fix="draw pairs with karat project next, or ask for bounds: method bounds",
        )
    weights, draws = question.weights, list(question.answered.values())
    if not draws:
        what = "whole queries" if weights is None else "pairs that it looks at"
        raise InputError(
            f"{question.measure} needs drawn {what} with all labels, and there are none",
            fix="draw whole queries: --design whole-queries" if weights is None else "wait for answers",
        )
    p = predictions(question, kind == "difference")
    units, columns = query_values(question, p) if weights is None else pair_values(question, weights, p)
    if kind == "horvitz-thompson":
        columns = [column[:0] for column in columns]
    totals = estimate_totals(units, draws, columns, ratio=kind == "hajek")
    notes = []
    if question.missing:
        notes.append(
            f"{plural(question.missing, 'drawn pair')} not answered yet: the answered ones are taken as a "
            "random part of their batch"
        )
    if kind == "difference" and not totals.coefficients[:, 1:].any():
        notes.append("too few labels to use predictions: the labels alone count")
    return totals, notes


def from_model(question: LabelQuestion) -> Answer:
    """Return intervals that hold if the estimator's probabilities do: for labels that were not drawn."""
    from scipy.special import ndtri

    candidates = question.candidates
    if question.estimator is None:
        raise InputError("a model-based interval needs an estimator", fix="name one: direct")
    labels = VettedLabels(candidates, question.labels.rows, question.tau > 0.5)
    rng = np.random.default_rng([question.seed, 3])
    probability = labels.filled(question.estimator.probabilities(labels, question.measure, rng))
    values = values_per_query(candidates, probability, question.measure, question.label_draws, question.seed)
    drawn = draw_scores(candidates, probability, question.measure, question.label_draws, question.seed)
    labelled = int((question.looked_at & labels.vetted).sum())
    reach = float(ndtri((1 + question.level) / 2))

    def estimate(a: int, b: int | None = None) -> IntervalEstimate:
        value = values[a] - (0 if b is None else values[b])
        variance = (drawn[:, a] - (0 if b is None else drawn[:, b])).var()
        if question.target == "population":
            variance += cluster_variance(value[None], question.cluster)[0]
        middle, error = float(value.mean()), reach * float(np.sqrt(variance))
        ends = middle - error, middle + error
        return named(
            question, Estimate(middle, *ends, question.level, "model-based", labelled, labelled), a, b
        )

    note = (
        "model-based: these intervals hold only as far as the probabilities of "
        f"{question.estimator} do; nothing in how the labels were chosen guarantees it"
    )
    return *every_run(question, estimate), [note]


def from_bounds(question: LabelQuestion) -> Answer:
    """Return the lowest and the highest score that the unknown labels allow."""
    candidates = question.candidates
    rankings = candidates.rankings.values()
    forms = [form_of(ranking.ranked, question.measure) for ranking in rankings]
    if not all(isinstance(form, Linear | FirstHit) for form in forms):
        raise InputError(
            f"{question.measure} has no useful bounds: one more relevant item can raise or lower it",
            fix="choose P@10, R@1 or MRR, or draw whole queries",
        )
    labels = VettedLabels(candidates, question.labels.rows, question.tau > 0.5)
    labelled = int((question.looked_at & labels.vetted).sum())
    low, high = (
        values_per_query(candidates, labels.filled(np.full(len(candidates), end)), question.measure)
        for end in (0.0, 1.0)
    )
    weights = run_weights(candidates, question.measure)

    def estimate(a: int, b: int | None = None) -> IntervalEstimate:
        ends = float(low[a].mean()), float(high[a].mean())
        if b is not None:
            ends = float((low[a] - high[b]).mean()), float((high[a] - low[b]).mean())
            if weights is not None:
                # A pair that both runs rank first counts for both.
                step = (weights[a] - weights[b])[~labels.vetted]
                known = float(((weights[a] - weights[b]) * np.nan_to_num(labels.label)).sum())
                ends = known + float(np.minimum(step, 0).sum()), known + float(np.maximum(step, 0).sum())
        return named(question, Estimate(np.nan, *ends, 1.0, "bounds", labelled, labelled), a, b)

    note = (
        "bounds, not an interval: the labels were not drawn with known probabilities, so they say nothing "
        "about the others"
    )
    return *every_run(question, estimate), [note]


INTERVAL_KINDS: dict[str, Callable[[LabelQuestion], Answer]] = {
    "difference": from_draws("difference"),
    "hajek": from_draws("hajek"),
    "horvitz_thompson": from_draws("horvitz-thompson"),
    "model_based": from_model,
    "bounds": from_bounds,
}
"""How intervals are made, by name."""
