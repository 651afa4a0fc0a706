"""Vetted only: nothing is said of pairs that are not vetted."""

from __future__ import annotations

import numpy as np

from karat.estimation.candidates import VettedLabels
from karat.estimation.estimator import LabelEstimator, register_estimator
from karat.measures import Measure


@register_estimator
class VettedOnly(LabelEstimator):
    """Only vetted pairs count: a query has a value once all that the measure looks at is vetted."""

    name = "vetted-only"
    formula = "p_i is undefined"
    source = "Nguyen et al. 2018, section 3 and footnote 2"

    def probabilities(self, labels: VettedLabels, measure: Measure, rng: np.random.Generator) -> np.ndarray:
        """Return NaN for all."""
        return np.full(len(labels.candidates), np.nan)
