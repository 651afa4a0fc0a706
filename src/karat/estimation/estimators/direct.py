"""The direct fit: one model of the label, given everything that is known."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat.estimation.candidates import VettedLabels
from karat.estimation.estimator import LabelEstimator, register_estimator
from karat.estimation.features import NOISY, OTHERS, SCORES, check_scores, columns, training_rows
from karat.estimation.logistic import BY, C, fitted_probabilities
from karat.measures import Measure


@register_estimator
class Direct(LabelEstimator):
    """Logistic regression on the scores of the runs, the noisy label and further features.

    Unlike `learned` it counts nothing, so that vetting may prefer some pairs: given their features they are
    like the others.
    """

    name = "direct"
    formula = "logit p_i = b_query + w · (s_i, y_i, features_i)"
    needs_scores = True
    params: ClassVar = (BY, C)
    by: str
    C: float

    def probabilities(self, labels: VettedLabels, measure: Measure, rng: np.random.Generator) -> np.ndarray:
        """Return the fitted probability of each candidate."""
        candidates = labels.candidates
        check_scores(candidates)
        rows = training_rows(labels, measure)
        return fitted_probabilities(
            columns(candidates, SCORES, NOISY, OTHERS),
            candidates.query,
            len(candidates.queries),
            rows,
            labels.label[rows],
            by=self.by,
            variance=self.C,
        )
