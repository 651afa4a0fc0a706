"""Planned designs: the variance that a number of labels will leave, for each way to ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from karat._util import track
from karat.estimation.candidates import Candidates
from karat.estimation.design import DESIGNS, run_weights
from karat.estimation.plan_basis import PlanBasis
from karat.estimation.query_means import cluster_variance
from karat.estimation.vetting import values_per_query
from karat.measures import Measure

VERSIONS = 20
"""How many versions of all labels are drawn for the spread of queries."""
UNSEEN = 0.03
"""Draws of which fewer are expected in a sample do not count for its degrees of freedom."""
FEW_QUERIES = 12.0
"""Predictions that are learned and weighted on q whole queries leave 1 + (12 / q)² times the squares that
those from many do: measured in the known-truth world, q from 20 to 200."""
MISAIMED = 0.04
"""The part of what predictions of a pilot leave that is where they are sure: 300 labels teach no better."""
NOT_LINEAR = 1.2
"""How many times as much predicted values of AP, RP and the like leave as if labels were drawn from p:
measured there, too."""


@dataclass(frozen=True, eq=False)
class PlannedDesign:
    """What one way of asking will give.

    Parameters
    ----------
    name
        The design.
    predicted
        Whether predictions help, or labels alone count.
    score, difference
        The variance of a score, the largest of all runs, and of the difference of the first two, as functions
        of the number of labels; None for a difference where there is one run.
    free
        The degrees of freedom of the score's variance, as a function of the number of labels: few where some
        draws count far more than others.
    per_unit
        How many labels it takes to draw a unit that counts for a run: of pairs, 1 over the share that a run
        ranks first; of queries, their pairs.
    """

    name: str
    predicted: bool
    score: Callable[[int], float]
    difference: Callable[[int], float] | None
    free: Callable[[int], float]
    per_unit: float

    def units(self, labels: int) -> int:
        """Return how many units that count for a run so many labels make."""
        return int(labels / self.per_unit)

    @property
    def title(self) -> str:
        """The name in a table."""
        return self.name if self.predicted else f"{self.name}, labels alone"


def planned_designs(
    candidates: Candidates, measure: Measure, basis: PlanBasis, seed: int
) -> list[PlannedDesign]:
    """Return the ways to ask."""
    values = drawn_values(candidates, measure, basis, seed)
    weights = run_weights(candidates, measure)
    if weights is None:
        return query_designs(candidates, measure, basis, values)
    return [
        *pair_designs(candidates, measure, basis, weights),
        *query_designs(candidates, measure, basis, values, weights),
    ]


def pair_designs(
    candidates: Candidates, measure: Measure, basis: PlanBasis, weights: np.ndarray
) -> list[PlannedDesign]:
    """Return the designs that draw single pairs."""
    p, runs = basis.probability, len(candidates.runs)
    rows = np.flatnonzero((weights != 0).any(axis=0))
    per_unit = len(rows) / max(int((weights[0] != 0).sum()), 1)
    score = weights @ p

    def with_gap(left: np.ndarray) -> np.ndarray:
        left = np.r_[left, [left[0] - left[1]]] if runs > 1 else left
        return left[:, rows]

    def planned(name: str, chances: Callable[[int], np.ndarray], predicted: bool = True) -> PlannedDesign:
        # What is left of a label that is relevant, or not: of a prediction, or around the score.
        if predicted:
            yes, no = (with_gap(weights * np.sqrt(basis.scale) * left) for left in (1 - p, -p))
        else:
            yes, no = (with_gap(weights * left[:, None]) for left in (1 - score, -score))
        squares = p[rows] * yes**2 + (1 - p[rows]) * no**2
        if predicted and basis.ranked:
            anywhere = basis.scale * (p * (1 - p))[rows].mean() * with_gap(weights) ** 2
            squares = (1 - MISAIMED) * squares + MISAIMED * anywhere

        def variances(n: int) -> np.ndarray:
            grown = basis.unlearned(n) if predicted else 1.0
            return grown * (squares @ (1 / chances(n) - 1))

        def free(n: int) -> float:
            pi = chances(n)
            at = int((squares[:runs] @ (1 / pi - 1)).argmax())
            moves = np.r_[yes[at] ** 2, no[at] ** 2] * np.tile((1 - pi) / pi**2, 2)
            return freedom(moves, np.r_[p[rows] * pi, (1 - p[rows]) * pi])

        return PlannedDesign(
            name,
            predicted,
            lambda n: float(variances(n)[:runs].max()),
            (lambda n: float(variances(n)[runs])) if runs > 1 else None,
            free,
            per_unit,
        )

    def every(n: int) -> np.ndarray:
        return np.full(len(rows), n / len(rows))

    designs = [planned("uniform", every, predicted=False)]
    kinds = sorted((DESIGNS[name] for name in DESIGNS), key=lambda kind: (kind.least_runs, kind.name))
    for kind in kinds:
        chances = partial(kind().chances, candidates, p, measure, rows)
        if kind.least_runs <= runs and chances(1) is not None:
            designs.append(planned(kind.name, chances))  # type: ignore[arg-type]
    return designs


def freedom(square: np.ndarray, count: np.ndarray) -> float:
    """Return the degrees of freedom of a sum of squares, given how many draws of each square are expected.

    Satterthwaite's (1946), which `karat.estimation.statistics.spread` estimates from draws. Squares so large
    that hardly a sample has one (`UNSEEN`) do not count.

    >>> z = np.random.default_rng(0).normal(size=100_000)
    >>> round(freedom(z**2, np.full(len(z), 50 / len(z))))
    51
    """
    order = np.argsort(-square)
    square, count = square[order], count[order]
    seen = np.cumsum(count) >= UNSEEN
    square, count = square[seen], count[seen]
    second, fourth = float(square @ count), float(square**2 @ count)
    apart = fourth - second**2 / max(float(count.sum()), 1.0)
    return 2 * second**2 / apart if apart > 1e-12 * second**2 else np.inf


def drawn_values(
    candidates: Candidates, measure: Measure, basis: PlanBasis, seed: int, known: np.ndarray | None = None
) -> np.ndarray:
    """Return values [versions, runs, queries] under labels drawn from probabilities, or known."""
    rng = np.random.default_rng([seed, 19])
    labels = alike_labels(basis.probability, candidates.query, basis.alike_rest, VERSIONS, rng)
    if known is not None:
        labels = np.where(np.isnan(known), labels, known)
    versions = track(labels, "scoring versions of the labels", len(labels))
    return np.stack([np.nan_to_num(values_per_query(candidates, label, measure)) for label in versions])


def alike_labels(
    p: np.ndarray, query: np.ndarray, alike: float, versions: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw labels [versions, pairs] from probabilities whose rests have an intraclass correlation.

    >>> p, query = np.full(4000, 0.3), np.repeat(np.arange(400), 10)
    >>> rest = alike_labels(p, query, 0.2, 20, np.random.default_rng(0)) - p
    >>> sums = rest.reshape(20, 400, 10).sum(axis=-1)
    >>> round(float((sums**2).mean() / (10 * (rest**2).mean()) - 1) / 9, 2)
    0.2
    """
    from scipy.special import ndtr

    common = rng.normal(size=(versions, int(query.max(initial=0)) + 1))
    own = rng.normal(size=(versions, len(p)))

    def labels(share: float, some: int) -> np.ndarray:
        luck = np.sqrt(share) * common[:some, query] + np.sqrt(1 - share) * own[:some]
        return (ndtr(luck) < p) * 1.0

    def correlation(share: float) -> float:
        rest = labels(share, 4) - p
        products = sum(float((np.bincount(query, row) ** 2).sum() - (row**2).sum()) for row in rest)
        size = np.bincount(query)
        return products / float((rest**2).mean()) / (len(rest) * max(float((size * (size - 1)).sum()), 1.0))

    low, high = 0.0, 0.999
    for _ in range(12 if alike > 0 else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if correlation(middle) < alike else (low, middle)
    return labels(low, versions)


def query_designs(
    candidates: Candidates,
    measure: Measure,
    basis: PlanBasis,
    values: np.ndarray,
    weights: np.ndarray | None = None,
) -> list[PlannedDesign]:
    """Return whole queries, with labels alone and with predictions.

    Where probabilities know nothing of places, values of measures other than P@K do not follow from them:
    they are taken to vary as those of P@K do, and two runs to be independent.
    """
    queries, runs = values.shape[-1], values.shape[1]
    size = np.bincount(candidates.query[candidates.matter(measure)], minlength=queries)
    per_query = float(size.mean())
    linear = weights is not None
    count = basis.prevalence * per_query if weights is None else float((weights[0] != 0).sum()) / queries
    count = max(count, 1.0)
    score = values.mean(axis=(0, 2))
    around, rest = values - values.mean(axis=-1, keepdims=True), values - values.mean(axis=0)
    # The mean of the versions is a little too near to each of them.
    lost = VERSIONS / (VERSIONS - 1) * basis.scale * (1.0 if linear else NOT_LINEAR)
    each = assumed_squares(score, count, basis)
    if not linear and basis.ranked:
        each = (around**2).mean(axis=(0, 2))
    each = each * unexplained(values, size)
    left = lost * (rest**2).mean(axis=(0, 2))
    if not linear and not basis.ranked:
        left = NOT_LINEAR * (1 - basis.rho**2) * each
    # Of the worst run, and of the difference of the first two.
    alone, helped = [float(each.max())], [float(left.max())]
    if runs > 1 and (linear or basis.ranked):
        gap, gap_rest = (part[:, 0] - part[:, 1] for part in (around, rest))
        alone.append(float((gap**2).mean() * unexplained(gap[:, None], size)[0]))
        helped.append(lost * float((gap_rest**2).mean()))
    elif runs > 1:
        alone.append(float(each[:2].sum()))
        helped.append(float(left[:2].sum()))

    def planned(predicted: bool, parts: np.ndarray) -> PlannedDesign:
        squares = np.ravel(parts**2)

        def variance(which: int, n: int) -> float:
            drawn = max(n / per_query, 1.0)
            square = alone[which]
            if predicted:
                grown = basis.unlearned(n) * (1 + (FEW_QUERIES / drawn) ** 2)
                square = min(square, grown * helped[which])
            return square * max(1 / drawn - 1 / queries, 0.0)

        def free(n: int) -> float:
            return freedom(squares, np.full(len(squares), n / per_query / len(squares)))

        return PlannedDesign(
            "whole-queries",
            predicted,
            partial(variance, 0),
            partial(variance, 1) if runs > 1 else None,
            free,
            per_query,
        )

    return [planned(False, around), planned(True, rest)]


def assumed_squares(score: np.ndarray, count: float, basis: PlanBasis) -> np.ndarray:
    """Return the variances of queries' values, each the mean of so many labels that are alike."""
    return score * (1 - score) * (1 + (count - 1) * basis.alike) / count


def unexplained(values: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return per run the part of the variance of values [versions, runs, queries] that sizes leave.

    Queries are drawn inside of strata of like size, so that what sizes explain does not count.
    """
    if size.std() == 0:
        return np.ones(values.shape[1])
    centred = values - values.mean(axis=-1, keepdims=True)
    along = (centred * (size - size.mean())).mean(axis=-1) / size.std()
    return 1 - (along**2 / np.maximum(centred.var(axis=-1), 1e-12)).mean(axis=0)


def spread_over_queries(
    candidates: Candidates,
    measure: Measure,
    basis: PlanBasis,
    cluster: np.ndarray,
    seed: int,
    known: np.ndarray | None = None,
) -> float:
    """Return the standard deviation per image of the difference of the first two runs; 0 for one run.

    Labels are those that are known, NaN elsewhere, and drawn ones.
    """
    if len(candidates.runs) < 2:
        return 0.0
    values = drawn_values(candidates, measure, basis, seed, known)
    clusters = len(np.unique(cluster))
    if not basis.ranked and run_weights(candidates, measure) is None:
        # As for designs: two runs are independent, and so are the queries of an image.
        count = max(basis.prevalence * len(candidates) / len(candidates.queries), 1.0)
        squares = assumed_squares(values.mean(axis=(0, 2)), count, basis)[:2].sum()
        return float(np.sqrt(squares * clusters / len(candidates.queries)))
    gap = values[:, 0] - values[:, 1]
    return float(np.sqrt(cluster_variance(gap, cluster).mean() * clusters))
