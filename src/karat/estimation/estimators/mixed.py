"""The mixed model: a direct fit whose intercepts vary from query to query as much as the data say."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat._util import Param
from karat.estimation.candidates import VettedLabels
from karat.estimation.estimator import LabelEstimator, register_estimator
from karat.estimation.features import NOISY, OTHERS, PLACES, SCORES, columns, top_columns, training_rows
from karat.estimation.logistic import C, fitted_probabilities
from karat.measures import Measure


@register_estimator
class Mixed(LabelEstimator):
    """Logistic regression on scores, places, the noisy label and further features, with random intercepts.

    Each query has an intercept, and how far these lie apart is learned. Where features say nothing, a query's
    probability goes from the share over all queries to its own share as more of it is vetted, as a shrunken
    sample mean would; where they do, they decide. So it is hardly ever worse than the sample mean.
    """

    name = "mixed"
    aliases = ("random-intercepts",)
    formula = "logit p_i = m + b_query + w · (s_i, log place_i, y_i, features_i), b_query ~ N(0, learned)"
    recommended = True
    params: ClassVar = (Param(C.name, C.type, C.help, 10.0),)
    C: float

    def probabilities(self, labels: VettedLabels, measure: Measure, rng: np.random.Generator) -> np.ndarray:
        """Return the fitted probability of each candidate."""
        candidates = labels.candidates
        rows = training_rows(labels, measure)
        return fitted_probabilities(
            mixed_columns(labels, measure),
            candidates.query,
            len(candidates.queries),
            rows,
            labels.label[rows],
            variance=self.C,
            learn_spread=True,
        )


def mixed_columns(labels: VettedLabels, measure: Measure) -> np.ndarray:
    """Return all features, and which candidates are in the first K of each run."""
    candidates = labels.candidates
    known = columns(candidates, SCORES, PLACES, NOISY, OTHERS)
    return np.concatenate([known, top_columns(candidates, measure)], axis=1)
