"""Support vector machines with a chi-square kernel, calibrated: the estimator of overlaps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from karat._util import Param, one_of, positive, require, whole
from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.estimator import LabelEstimator, register_estimator
from karat.estimation.features import NOISY, OTHERS, SCORES, columns, training_rows
from karat.estimation.logistic import sigmoid
from karat.measures import Measure

FOLDS = 3
"""Of the cross-validation that calibrates, as in Platt 1999."""
FEWEST = 3
"""With fewer labels of a kind a machine cannot be calibrated, and the share of the labels is taken."""
LARGEST_TABLE = 4000
"""Distances of so many rows of features are kept: 128 MB."""
KEPT: WeakKeyDictionary[Candidates, ChiSquareDistance] = WeakKeyDictionary()


@register_estimator
class ChiSquareMachine(LabelEstimator):
    """A support vector machine on features from 0 to 1, calibrated by Platt's sigmoid.

    For detections there is one machine for each threshold of overlap. Its features are the overlap with the
    box, the sizes of both boxes, and the category. For runs of retrieval they are scores, the noisy label and
    further features, and which query it is.
    """

    name = "chi2-svm"
    aliases = ("svm",)
    formula = "p_i = σ(a f(x_i) + b), f an SVM with the kernel exp(−γ Σ_d (x_d − x'_d)² / (x_d + x'_d))"
    source = "Nguyen et al. 2018, section 4.2; Platt 1999"
    params: ClassVar = (
        Param(
            "by",
            one_of("pooled", "query"),
            "pooled: one machine for all queries, which are a feature; query: one for each that has "
            f"{FEWEST} vetted labels of both kinds",
            "pooled",
        ),
        Param("C", positive, "how much a training error costs", 1.0),
        Param("gamma", positive, "how fast similarity falls with distance", 0.1),
        Param("most", whole, "how many vetted labels a machine learns from, drawn at random above", 2000),
    )
    by: str
    C: float
    gamma: float
    most: int

    def probabilities(self, labels: VettedLabels, measure: Measure, rng: np.random.Generator) -> np.ndarray:
        """Return the calibrated probability of each candidate."""
        require("sklearn")
        from sklearn import config_context

        with config_context(assume_finite=True, skip_parameter_validation=True):
            return self.learned(labels, measure, rng)

    def learned(self, labels: VettedLabels, measure: Measure, rng: np.random.Generator) -> np.ndarray:
        """Return the probabilities of machines, one per level and, if asked for, query."""
        candidates = labels.candidates
        rows = training_rows(labels, measure)
        rows = rows[candidates.possible[rows]]
        level, group = candidates.levels, candidates.groups
        distance = ChiSquareDistance.of(candidates)
        learned = labels.label[rows]
        out = np.empty(len(candidates))
        for number in np.unique(level):
            here, trained = np.flatnonzero(level == number), level[rows] == number
            out[here] = self.fit(distance, rows[trained], learned[trained], here, rng)
            if self.by == "query":
                for query in np.unique(group[here]):
                    inside = trained & (group[rows] == query)
                    yes = learned[inside].sum()
                    if FEWEST <= yes <= inside.sum() - FEWEST:
                        own = here[group[here] == query]
                        out[own] = self.fit(distance, rows[inside], learned[inside], own, rng)
        # What cannot be relevant, whatever a machine says.
        return np.where(candidates.possible, out, 0.0)

    def fit(
        self,
        distance: ChiSquareDistance,
        rows: np.ndarray,
        z: np.ndarray,
        wanted: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the probabilities of the wanted candidates, by a machine that learned from rows."""
        from sklearn.svm import SVC

        if len(rows) > self.most:
            chosen = rng.choice(len(rows), self.most, replace=False)
            rows, z = rows[chosen], z[chosen]
        least = int(min(z.sum(), len(z) - z.sum())) if len(z) else 0
        if least < FEWEST:
            return np.full(len(wanted), (z.sum() + 0.5) / (len(z) + 1))
        kernel = np.exp(-self.gamma * distance.between(rows, rows))
        fold = np.empty(len(rows), np.int64)
        shuffled = rng.permutation(len(rows))
        shuffled = shuffled[np.argsort(z[shuffled], kind="stable")]
        fold[shuffled] = np.arange(len(rows)) % min(FOLDS, least)
        outside = np.empty(len(rows))
        for one in range(fold.max() + 1):
            train, test = np.flatnonzero(fold != one), np.flatnonzero(fold == one)
            machine = SVC(C=self.C, kernel="precomputed").fit(kernel[np.ix_(train, train)], z[train])
            outside[test] = machine.decision_function(kernel[np.ix_(test, train)])
        slope, intercept = platt(outside, z)
        machine = SVC(C=self.C, kernel="precomputed").fit(kernel, z)
        used, weight = rows[machine.support_], machine.dual_coef_[0]
        step = max(1, (1 << 22) // max(1, len(used)))
        values = [
            np.exp(-self.gamma * distance.between(wanted[b : b + step], used)) @ weight
            for b in range(0, len(wanted), step)
        ]
        return sigmoid(slope * (np.concatenate(values) + machine.intercept_[0]) + intercept)


@dataclass(frozen=True, eq=False)
class ChiSquareDistance:
    """Chi-square distances of candidates, whose features do not change from batch to batch.

    Parameters
    ----------
    x
        Features [P, F] from 0 to 1.
    group
        The query or category, as a feature a one in a column of its own.
    row
        Per candidate, its row of the features.
    """

    x: np.ndarray
    group: np.ndarray
    row: np.ndarray

    @classmethod
    def of(cls, candidates: Candidates) -> ChiSquareDistance:
        """Return the distances of candidates, the same object for the same ones."""
        if candidates not in KEPT:
            wanted = (OTHERS,) if candidates.unit is not None else (SCORES, NOISY, OTHERS)
            x = columns(candidates, *wanted)
            low, high = x.min(axis=0, initial=np.inf), x.max(axis=0, initial=-np.inf)
            x = (x - low) / np.where(high > low, high - low, 1.0)
            # At all thresholds a pair has the same features.
            _, first, row = np.unique(candidates.same_features, return_index=True, return_inverse=True)
            KEPT[candidates] = cls(x[first], candidates.groups[first], row)
        return KEPT[candidates]

    @cached_property
    def table(self) -> np.ndarray | None:
        """All distances, where they fit into memory."""
        every = np.arange(len(self.x))
        return self.compute(every, every) if len(every) <= LARGEST_TABLE else None

    def between(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distances [a, b] of candidates."""
        first, second = self.row[a], self.row[b]
        return self.compute(first, second) if self.table is None else self.table[np.ix_(first, second)]

    def compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distances [a, b] of rows."""
        distance = 2.0 * (self.group[a][:, None] != self.group[b])
        for column in self.x.T:
            total = column[a][:, None] + column[b]
            squared = (column[a][:, None] - column[b]) ** 2
            distance += squared / np.where(total > 0, total, 1.0)
        return distance


def platt(decision: np.ndarray, z: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept of the sigmoid that fits decisions to labels best (Platt 1999).

    The labels are smoothed to (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2), as there; Newton's method.

    >>> slope, intercept = platt(np.array([-2.0, -1.0, 1.0, 2.0] * 5), np.array([0, 0, 1, 1] * 5))
    >>> round(slope, 2), round(abs(intercept), 2)
    (1.59, 0.0)
    """
    yes = z.sum()
    aim = np.where(z > 0, (yes + 1) / (yes + 2), 1 / (len(z) - yes + 2))
    x = np.column_stack([decision, np.ones(len(z))])
    weight = np.zeros(2)
    for _ in range(50):
        p = sigmoid(x @ weight)
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 1e-9 * np.eye(2)
        step = np.linalg.solve(hessian, x.T @ (p - aim))
        # Far from the optimum Newton's step overshoots.
        weight -= step * min(1.0, 4.0 / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-8:
            break
    return float(weight[0]), float(weight[1])
