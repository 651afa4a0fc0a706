"""An estimator."""

import numpy as np

from karat.estimation import LabelEstimator, register_estimator


@register_estimator
class Half(LabelEstimator):
    """Every pair is as likely relevant as not."""

    name = "toy-half"

    def probabilities(self, labels, measure, rng):
        return np.full(len(labels.candidates.noisy), 0.5)
