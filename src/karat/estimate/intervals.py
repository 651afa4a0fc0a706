"""Intervals: what drawn labels prove about scores, and which run is better.

`karat.estimate.totals` has the estimator and its variance; here they become intervals, for two meanings of
"the true score" (`TARGETS`): that of this test set, which all labels would give, and that of queries like
these, where the test set is itself a sample of images.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from karat._util import check_choice
from karat.errors import InputError
from karat.estimate.candidates import Candidates, VettedLabels
from karat.estimate.design import DrawnSample, run_weights
from karat.estimate.drawn_units import find_units
from karat.estimate.estimation import DEFAULT_ESTIMATOR, draw_scores
from karat.estimate.estimator import ESTIMATORS, LabelEstimator
from karat.estimate.evidence import DrawnEvidence
from karat.estimate.expectation import FirstHit, Linear, form_of
from karat.estimate.interval_estimate import IntervalEstimate, IntervalEstimates
from karat.estimate.proxies import check_proxies
from karat.estimate.query_means import cluster_variance
from karat.estimate.relevance import without_grade
from karat.estimate.score_estimate import TARGETS
from karat.estimate.totals import estimate_totals
from karat.estimate.unit_values import LabelQuestion, pair_values, predictions, query_values
from karat.estimate.vetting import values_per_query
from karat.measures import Measure, parse_name


def interval_estimates(
    candidates: Candidates,
    labels: VettedLabels,
    batches: Sequence[DrawnSample],
    measure: Measure,
    *,
    method: str = "difference",
    estimator: str | LabelEstimator | None = DEFAULT_ESTIMATOR,
    proxies: Mapping[str, np.ndarray] | None = None,
    target: str = "test-set",
    level: float = 0.95,
    cluster: np.ndarray | None = None,
    frame: np.ndarray | None = None,
    since: np.ndarray | None = None,
    versions: np.ndarray | None = None,
    seed: int = 0,
) -> IntervalEstimates:
    """Estimate scores and their differences, with intervals that follow from how labels were drawn.

    Parameters
    ----------
    candidates, labels
        The pairs, and what is known of them. `labels.relevant` holds labels, or probabilities from answers of
        annotators who err.
    batches
        What was drawn, in order, each batch from what no earlier one had drawn. Drawn pairs without a label
        count as not answered yet.
    measure
        A mean over queries. Measures other than P@K need batches of whole queries.
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
    frame
        Per candidate, the first frame of draws that has it; 0 by default.
    since
        Per label that was not drawn, the number of the first batch before which it was known; 0, before all,
        by default.
    versions
        [versions, labels]: other values of `labels.relevant` that are possible since the annotators' error
        rates are not known exactly (`answer_posterior`).
    seed
        Of the folds, and of whatever is random in the estimator.

    Returns
    -------
    IntervalEstimates

    Examples
    --------
    >>> from karat.estimate import DESIGNS, VettedLabels, make_candidates, parse_name, truth_labels
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
    >>> made = interval_estimates(candidates, labels, [batch], p10)
    >>> made.scores[0]
    0.2543 (0.2374 to 0.2712, 95% difference, n = 400 worth 269)
    >>> made.differences[0].verdict
    'not yet'
    """
    how = INTERVAL_KINDS[check_choice(method, list(INTERVAL_KINDS), "method of the intervals")]
    question = ask_labels(
        candidates, labels, batches, measure, estimator=estimator, proxies=proxies, target=target,
        level=level, cluster=cluster, frame=frame, since=since, versions=versions, seed=seed,
    )  # fmt: skip
    scores, differences, notes = how(question)
    return IntervalEstimates(tuple(scores), tuple(differences), measure, tuple(notes))


def ask_labels(
    candidates: Candidates,
    labels: VettedLabels,
    batches: Sequence[DrawnSample],
    measure: Measure,
    *,
    estimator: str | LabelEstimator | None,
    proxies: Mapping[str, np.ndarray] | None,
    target: str,
    level: float,
    cluster: np.ndarray | None,
    frame: np.ndarray | None,
    since: np.ndarray | None,
    versions: np.ndarray | None,
    seed: int,
) -> LabelQuestion:
    """Return the arguments of `interval_estimates`, checked."""
    if not 0 < level < 1:
        raise InputError(f"the level is {level}", fix="give a number between 0 and 1, such as 0.95")
    tau = np.asarray(labels.relevant, dtype=np.float64)
    if not ((tau >= 0) & (tau <= 1)).all():
        raise InputError("a label is not between 0 and 1", fix="give labels of 0 and 1, or probabilities")
    check_proxies(candidates, proxies or {})
    return LabelQuestion(
        candidates,
        labels,
        batches,
        without_grade(measure),
        None if estimator is None else parse_name(estimator, ESTIMATORS),
        dict(proxies or {}),
        check_choice(target, list(TARGETS), "target"),
        level,
        np.arange(len(candidates.queries)) if cluster is None else np.asarray(cluster),
        np.zeros(len(candidates), np.int64) if frame is None else np.asarray(frame),
        np.zeros(len(labels), np.int64) if since is None else np.asarray(since),
        np.zeros((0, len(labels))) if versions is None else np.asarray(versions, dtype=np.float64),
        seed,
    )


Answer = tuple[list[IntervalEstimate], list[IntervalEstimate], list[str]]


def from_draws(kind: str) -> Callable[[LabelQuestion], Answer]:
    """Return what makes intervals that hold because labels were drawn."""

    def answer(question: LabelQuestion) -> Answer:
        evidence = drawn_evidence(question, kind)
        runs = range(len(question.candidates.runs))
        return (
            [evidence.estimate(a) for a in runs],
            [evidence.estimate(a, b) for a, b in combinations(runs, 2)],
            list(evidence.notes),
        )

    return answer


def drawn_evidence(question: LabelQuestion, kind: str) -> DrawnEvidence:
    """Return estimated totals from drawn labels."""
    candidates, labels = question.candidates, question.labels
    if not question.batches:
        raise InputError(
            "no label was drawn with a known probability, so that there is no interval",
            fix="draw pairs with karat next, or ask for bounds: method bounds",
        )
    drawn = find_units(labels, question.batches, question.measure, question.frame, question.since)
    weights = None if drawn.queries else run_weights(candidates, question.measure)
    numbers, batches, notes = drawn.made
    if not batches:
        what = "whole queries" if weights is None else "pairs that it looks at"
        raise InputError(
            f"{question.measure} needs drawn {what} with all labels, and there are none",
            fix="draw whole queries: --design whole-queries" if weights is None else "wait for answers",
        )
    p = predictions(question, drawn, numbers, kind == "difference")
    if weights is not None:
        units, columns, versions = pair_values(question, weights, p)
    else:
        units, columns, versions = query_values(question, drawn, numbers, p)
    if kind == "horvitz-thompson":
        columns = [column[:0] for column in columns]
    totals = estimate_totals(units, batches, columns, ratio=kind == "hajek")
    # The total is linear in the values, as long as predictions stay.
    known = units.known
    moved = ((units.weight * totals.counted)[:, known] * versions).sum(axis=-1)
    if kind == "difference" and not totals.coefficients[:, 1:].any():
        notes = [*notes, "too few labels to use predictions: the labels alone count"]
    return DrawnEvidence(question, kind, totals, moved, drawn.queries, drawn.unit >= 0, notes)


def from_model(question: LabelQuestion) -> Answer:
    """Return intervals that hold if the estimator's probabilities do: for labels that were not drawn."""
    from scipy.special import ndtri

    candidates = question.candidates
    if question.estimator is None:
        raise InputError("a model-based interval needs an estimator", fix="name one: direct")
    labels = VettedLabels(candidates, question.labels.rows, question.tau > 0.5)
    rng = np.random.default_rng([question.seed, 3])
    probability = labels.filled(question.estimator.probabilities(labels, question.measure, rng))
    values = values_per_query(candidates, probability, question.measure, question.draws, question.seed)
    drawn = draw_scores(candidates, probability, question.measure, question.draws, question.seed)
    looked_at = candidates.matter(question.measure)
    reach = float(ndtri((1 + question.level) / 2))

    def estimate(a: int, b: int | None = None) -> IntervalEstimate:
        value = values[a] - (0 if b is None else values[b])
        variance = (drawn[:, a] - (0 if b is None else drawn[:, b])).var()
        if question.target == "population":
            variance += cluster_variance(value[None], question.cluster)[0]
        middle, error = float(value.mean()), reach * float(np.sqrt(variance))
        labelled = int((looked_at & labels.vetted).sum())
        return question.estimate(
            a, b, middle, (middle - error, middle + error), "model-based", (labelled, labelled), looked_at
        )

    runs = range(len(candidates.runs))
    note = (
        "model-based: these intervals hold only as far as the probabilities of "
        f"{question.estimator} do; nothing in how the labels were chosen guarantees it"
    )
    pairs = [estimate(a, b) for a, b in combinations(runs, 2)]
    return [estimate(a) for a in runs], pairs, [note]


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
    looked_at = candidates.matter(question.measure)
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
        labelled = int((looked_at & labels.vetted).sum())
        return question.estimate(a, b, np.nan, ends, "bounds", (labelled, labelled), looked_at, level=1.0)

    runs = range(len(candidates.runs))
    note = (
        "bounds, not an interval: the labels were not drawn with known probabilities, so they say nothing "
        "about the others"
    )
    return [estimate(a) for a in runs], [estimate(a, b) for a, b in combinations(runs, 2)], [note]


INTERVAL_KINDS: dict[str, Callable[[LabelQuestion], Answer]] = {
    "difference": from_draws("difference"),
    "hajek": from_draws("hajek"),
    "horvitz_thompson": from_draws("horvitz-thompson"),
    "model_based": from_model,
    "bounds": from_bounds,
}
"""How intervals are made, by name."""
