"""Information gain: the candidates that teach a model of the labels most."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat._util import Param, positive
from karat.estimation.candidates import VettedLabels
from karat.estimation.features import NOISY, OTHERS, PLACES, SCORES, columns
from karat.estimation.logistic import fit_logistic, sigmoid
from karat.estimation.strategy import VettingStrategy, highest, register_strategy
from karat.measures import Measure

ROUNDS = 4
"""In how many parts a batch is chosen: the information of one makes similar candidates less informative."""


@register_strategy
class InformationGain(VettingStrategy):
    """Takes the candidates whose labels tell most about the parameters of a logistic regression.

    The model has the noisy label, scores, places and further features of the candidates; it is fitted to
    the vetted labels. Its parameters have the covariance Σ = (Xᵀ W X + I / variance)⁻¹ over the vetted
    rows, with W = p (1 − p): the Laplace approximation. A further label shrinks their entropy by ½ log(1 +
    p (1 − p) xᵀ Σ x) on average. (The expected reduction of the entropy of *labels* would be that of the
    label itself, the strategy `entropy`, as long as labels are independent.)
    """

    name = "information-gain"
    formula = "½ log(1 + p_i (1 − p_i) x_iᵀ Σ x_i)"
    source = "MacKay 1992: total information gain; Settles 2010, section 3.5"
    params: ClassVar = (Param("variance", positive, "of the parameters, before anything is vetted", 1.0),)
    variance: float

    def choose(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the rows of the highest gain, in some rounds."""
        x = columns(labels.candidates, SCORES, PLACES, NOISY, OTHERS)
        p = self.predict(x, labels)
        # [F, J], which is much faster below than [J, F].
        scaled = np.vstack([np.ones(len(x)), x.T]) * np.sqrt(p * (1 - p))
        vetted, scaled = scaled[:, labels.rows], scaled[:, open_rows]
        information = vetted @ vetted.T + np.eye(len(scaled)) / self.variance
        chosen = np.zeros(0, np.int64)
        for part in np.array_split(np.arange(min(n, len(open_rows))), ROUNDS):
            # The gain is an increasing function of this.
            value = (scaled * (np.linalg.inv(information) @ scaled)).sum(axis=0)
            value[chosen] = -np.inf
            best = highest(value, len(part), rng)
            information += scaled[:, best] @ scaled[:, best].T
            chosen = np.r_[chosen, best]
        return open_rows[chosen]

    def predict(self, x: np.ndarray, labels: VettedLabels) -> np.ndarray:
        """Return the model's probabilities; the smoothed share of relevant pairs without both labels."""
        z = labels.relevant
        if z.all() or not z.any():
            return np.full(len(x), (z.sum() + 1) / (len(z) + 2))
        one = np.zeros(len(x), np.int64)
        fit = fit_logistic(x[labels.rows], z, one[labels.rows], 1, variance=self.variance, spread=0.0)
        return sigmoid(fit.logit(x, one))
