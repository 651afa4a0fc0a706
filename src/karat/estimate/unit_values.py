"""Unit values: what labels and predictions say about the pairs, or the queries, that were drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.estimate.candidates import Candidates, VettedLabels
from karat.estimate.design import DrawnSample
from karat.estimate.drawn_units import DrawnUnits
from karat.estimate.estimator import LabelEstimator
from karat.estimate.interval_estimate import IntervalEstimate
from karat.estimate.label_errors import answer_errors, answers_again, recalibration
from karat.estimate.proxies import cross_fitted, folds_of
from karat.estimate.totals import Units
from karat.estimate.vetting import DRAWS, values_per_query
from karat.measures import Measure

FOLDS = 5
"""Into how many folds images are put, so that none is predicted from its own labels."""
BOOTSTRAP_DRAWS = 24
"""How often labels and answers are drawn again for the bias and the variance of a query's value."""


@dataclass(frozen=True, eq=False)
class LabelQuestion:
    """What is asked of the labels: the arguments of `interval_estimates`, checked."""

    candidates: Candidates
    labels: VettedLabels
    batches: Sequence[DrawnSample]
    measure: Measure
    estimator: LabelEstimator | None
    proxies: Mapping[str, np.ndarray]
    target: str
    level: float
    cluster: np.ndarray
    frame: np.ndarray
    since: np.ndarray
    versions: np.ndarray
    seed: int
    draws: int = DRAWS

    @property
    def tau(self) -> np.ndarray:
        """Per label, the probability that the pair is relevant."""
        return np.asarray(self.labels.relevant, dtype=np.float64)

    def estimate(
        self,
        a: int,
        b: int | None,
        value: float,
        ends: tuple[float, float],
        method: str,
        sizes: tuple[int, int],
        looked_at: np.ndarray,
        **more: Any,
    ) -> IntervalEstimate:
        """Return the estimate for a run, or for two, from its number and its interval."""
        runs = self.candidates.runs
        return IntervalEstimate(
            **{"level": self.level, **more},
            value=value,
            low=ends[0],
            high=ends[1],
            method=method,
            n=sizes[0],
            effective=sizes[1],
            run=runs[a],
            other=None if b is None else runs[b],
            measure=str(self.measure),
            direction=self.candidates.direction,
            target=self.target,
            candidates=int(looked_at.sum()),
        )


def predictions(
    question: LabelQuestion, drawn: DrawnUnits, numbers: Sequence[int], wanted: bool
) -> list[np.ndarray]:
    """Return per batch the predicted probabilities, [proxies, candidates]; none where none is wanted."""
    if not wanted:
        return [np.zeros((0, len(question.candidates))) for _ in numbers]
    fold = folds_of(question.cluster, FOLDS, question.seed)[question.candidates.query]
    known_from = drawn.row_known_from[question.labels.rows]
    made = []
    for b in numbers:
        columns = list(question.proxies.values())
        if question.estimator is not None:
            own = cross_fitted(
                question.labels, known_from, b, question.estimator, question.measure, fold, question.seed
            )
            columns = [own, *columns]
        made.append(np.reshape(columns, (-1, len(question.candidates))))
    return made


def pair_values(
    question: LabelQuestion, weights: np.ndarray, p: Sequence[np.ndarray]
) -> tuple[Units, list[np.ndarray], np.ndarray]:
    """Return pairs as units, the columns of each batch, and versions of the known values."""
    candidates = question.candidates
    errors = answer_errors(question.tau)
    looked_at = (weights != 0).any(axis=0)
    value, noise = np.full(len(candidates), np.nan), np.zeros(len(candidates))
    value[question.labels.rows] = errors.label(question.tau)
    noise[question.labels.rows] = np.sqrt(errors.noise(question.tau))
    _, cluster = np.unique(question.cluster, return_inverse=True)
    units = Units(
        weights[:, looked_at],
        value[None, looked_at],
        cluster[candidates.query[looked_at]],
        np.bincount(cluster) / len(cluster),
        noise[None, None, looked_at],
    )
    columns = [np.concatenate([np.ones((1, len(candidates))), some])[:, None, looked_at] for some in p]
    inside = looked_at[question.labels.rows]
    order = np.argsort(question.labels.rows[inside])
    versions = [answer_errors(tau).label(tau)[inside][order] for tau in question.versions]
    return units, columns, np.reshape(versions, (-1, 1, int(inside.sum())))


def query_values(
    question: LabelQuestion,
    drawn: DrawnUnits,
    numbers: Sequence[int],
    p: Sequence[np.ndarray],
) -> tuple[Units, list[np.ndarray], np.ndarray]:
    """Return queries as units, the columns of each batch, and how versions move the scores."""
    candidates, measure = question.candidates, question.measure
    queries = len(candidates.queries)
    known = drawn.known_from <= len(question.batches)
    complete = known[candidates.query]
    certain = np.isin(question.tau, (0, 1)).all()
    rows = question.labels.rows
    query, prior = candidates.query[rows], p[-1][0][rows] if len(p[-1]) else np.full(len(rows), 0.5)

    def values(probability: np.ndarray) -> np.ndarray:
        return values_per_query(candidates, probability, measure, question.draws, question.seed)

    def placed(label: np.ndarray) -> np.ndarray:
        every = np.zeros(len(candidates))
        every[rows] = label
        return np.where(complete, every, 0.0)

    def refined(tau: np.ndarray) -> np.ndarray:
        odds = answer_errors(tau).odds(tau)
        return placed(recalibration(prior, odds, query).refined(prior, odds, query))

    label = placed(question.tau) if certain else refined(question.tau)
    value = np.where(known, values(label), np.nan)
    noise, bias = np.zeros((1, *value.shape)), np.zeros(value.shape)
    if not certain:
        rng = np.random.default_rng([question.seed, 23])
        odds = answer_errors(question.tau).odds(question.tau)
        again = answers_again(question.tau, prior, odds, query, BOOTSTRAP_DRAWS, rng)
        true, seen = (np.stack([values(placed(one)) for one in side]) for side in zip(*again))
        noise = (true - true.mean(axis=0)) * np.sqrt(len(true) / (len(true) - 1))
        bias = (seen - true).mean(axis=0)
    columns = []
    for b, some in zip(numbers, p):
        before = drawn.row_known_from <= b
        filled = [np.where(before, label, one) for one in some]
        columns.append(np.stack([np.ones(value.shape), *(values(one) for one in filled)]))
    _, cluster = np.unique(question.cluster, return_inverse=True)
    weight = np.full(value.shape, 1 / queries)
    units = Units(weight, value, cluster, np.bincount(cluster) / len(cluster), noise, bias)
    moved = [(values(refined(tau)) - value)[:, known] for tau in question.versions]
    return units, columns, np.reshape(moved, (-1, len(value), int(known.sum())))
