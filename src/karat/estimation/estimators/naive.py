"""Naive: the noisy label wherever nothing is vetted."""

from __future__ import annotations

import numpy as np

from karat.estimation.candidates import VettedLabels
from karat.estimation.estimator import LabelEstimator, register_estimator
from karat.measures import Measure


@register_estimator
class Naive(LabelEstimator):
    """The noisy labels count as true where nothing is vetted."""

    name = "naive"
    formula = "p_i = y_i"
    source = "Nguyen et al. 2018, eq. 4 and 5"

    def probabilities(self, labels: VettedLabels, measure: Measure, rng: np.random.Generator) -> np.ndarray:
        """Return 1 where the noisy label says relevant, else 0."""
        return labels.candidates.noisy.astype(np.float64)
