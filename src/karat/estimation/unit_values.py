"""Unit values: labels and predictions as units that are summed up: pairs, or whole queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.design import run_weights
from karat.estimation.estimator import LabelEstimator
from karat.estimation.proxies import cross_fitted, folds_of
from karat.estimation.statistics import (
    Draw,
    Units,
    answer_errors,
    answered,
    answers_again,
    known_from,
    recalibration,
)
from karat.estimation.vetting import DRAWS, values_per_query
from karat.measures import Measure

FOLDS = 5
"""Into how many folds images are put, so that none is predicted from its own labels."""
BOOTSTRAP_DRAWS = 24
"""How often labels and answers are drawn again for the bias and the variance of a query's value."""


@dataclass(frozen=True, eq=False)
class LabelQuestion:
    """What is asked of the labels: the arguments of `interval_estimates`, checked."""

    labels: VettedLabels
    draws: Sequence[Draw]
    measure: Measure
    estimator: LabelEstimator | None
    proxies: Mapping[str, np.ndarray]
    target: str
    level: float
    cluster: np.ndarray
    seed: int
    label_draws: int = DRAWS

    @property
    def candidates(self) -> Candidates:
        """The pairs."""
        return self.labels.candidates

    @property
    def tau(self) -> np.ndarray:
        """Per label, the probability that the pair is relevant."""
        return np.asarray(self.labels.relevant, dtype=np.float64)

    @cached_property
    def looked_at(self) -> np.ndarray:
        """Per candidate, whether the measure looks at it."""
        return (
            self.candidates.matter(self.measure) if self.weights is None else (self.weights != 0).any(axis=0)
        )

    @cached_property
    def weights(self) -> np.ndarray | None:
        """Per run and candidate, its weight, where units are pairs; None where they are whole queries.

        They are pairs for measures that are sums over pairs, if any were drawn.
        """
        if all(draw.unit == "query" for draw in self.draws if len(draw)):
            return None
        return run_weights(self.candidates, self.measure)

    @cached_property
    def unit(self) -> np.ndarray:
        """Per candidate, the number of its unit; −1 for what the measure does not look at."""
        number = self.candidates.query if self.weights is None else np.cumsum(self.looked_at) - 1
        return np.where(self.looked_at, number, -1)

    @cached_property
    def known_from(self) -> np.ndarray:
        """Per candidate, the number of the first draw before which its label was known."""
        return known_from(len(self.candidates), self.labels.rows, self.labels.since, self.draws)

    @cached_property
    def unit_known_from(self) -> np.ndarray:
        """Per unit, the number of the first draw before which all of it was known."""
        inside = self.unit >= 0
        whole = self.weights is None
        known = np.zeros(len(self.candidates.queries) if whole else int(inside.sum()), np.int64)
        np.maximum.at(known, self.unit[inside], self.known_from[inside])
        return known

    @cached_property
    def answered(self) -> dict[int, Draw]:
        """The draws of units, as far as they have values, by their numbers."""
        known = self.unit_known_from
        draws = [draw.renumbered(self.unit, len(known)) for draw in self.draws]
        return answered(draws, known, whole=self.weights is None)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many units have values, and how many there are."""
        return int((self.unit_known_from <= len(self.draws)).sum()), len(self.unit_known_from)

    @property
    def missing(self) -> int:
        """How many drawn pairs that count have no label."""
        count = [draw for draw in self.draws if self.weights is not None or draw.unit == "query"]
        rows = np.concatenate([np.zeros(0, np.int64), *(draw.rows for draw in count)])
        return int((self.known_from[rows[self.unit[rows] >= 0]] > len(self.draws)).sum())


def predictions(question: LabelQuestion, wanted: bool) -> list[np.ndarray]:
    """Return per answered draw the predicted probabilities, [proxies, candidates]; none if not wanted."""
    numbers = list(question.answered)
    if not wanted:
        return [np.zeros((0, len(question.candidates))) for _ in numbers]
    fold = folds_of(question.cluster, FOLDS, question.seed)[question.candidates.query]
    since = question.known_from[question.labels.rows]
    made = []
    for number in numbers:
        columns = list(question.proxies.values())
        if question.estimator is not None:
            own = cross_fitted(
                question.labels, since, number, question.estimator, question.measure, fold, question.seed
            )
            columns = [own, *columns]
        made.append(np.reshape(columns, (-1, len(question.candidates))))
    return made


def pair_values(
    question: LabelQuestion, weights: np.ndarray, p: Sequence[np.ndarray]
) -> tuple[Units, list[np.ndarray]]:
    """Return pairs as units, and the columns of each draw."""
    candidates = question.candidates
    errors = answer_errors(question.tau)
    looked_at = question.looked_at
    value, noise = np.full(len(candidates), np.nan), np.zeros(len(candidates))
    value[question.labels.rows] = errors.label(question.tau)
    noise[question.labels.rows] = np.sqrt(errors.noise(question.tau))
    _, cluster = np.unique(question.cluster, return_inverse=True)
    inside = looked_at[question.labels.rows]
    order = np.argsort(question.labels.rows[inside])
    versions = [answer_errors(tau).label(tau)[inside][order] for tau in question.labels.versions]
    units = Units(
        weights[:, looked_at],
        value[None, looked_at],
        cluster[candidates.query[looked_at]],
        np.bincount(cluster) / len(cluster),
        noise[None, None, looked_at],
        versions=np.reshape(versions, (-1, 1, int(inside.sum()))),
    )
    return units, [np.concatenate([np.ones((1, len(candidates))), some])[:, None, looked_at] for some in p]


def query_values(question: LabelQuestion, p: Sequence[np.ndarray]) -> tuple[Units, list[np.ndarray]]:
    """Return queries as units, and the columns of each draw."""
    candidates, measure = question.candidates, question.measure
    queries = len(candidates.queries)
    known = question.unit_known_from <= len(question.draws)
    complete = known[candidates.query]
    certain = np.isin(question.tau, (0, 1)).all()
    rows = question.labels.rows
    query, prior = candidates.query[rows], p[-1][0][rows] if len(p[-1]) else np.full(len(rows), 0.5)

    def values(probability: np.ndarray) -> np.ndarray:
        return values_per_query(candidates, probability, measure, question.label_draws, question.seed)

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
    for number, some in zip(question.answered, p, strict=True):
        before = question.known_from <= number
        filled = [np.where(before, label, one) for one in some]
        columns.append(np.stack([np.ones(value.shape), *(values(one) for one in filled)]))
    _, cluster = np.unique(question.cluster, return_inverse=True)
    moved = [(values(refined(tau)) - value)[:, known] for tau in question.labels.versions]
    units = Units(
        np.full(value.shape, 1 / queries),
        value,
        cluster,
        np.bincount(cluster) / len(cluster),
        noise,
        bias,
        np.reshape(moved, (-1, len(value), int(known.sum()))),
        labels=False,
    )
    return units, columns
