"""The learned posterior: flip rates and scores, combined by Bayes' rule."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat._util import Param, not_negative
from karat.estimation.candidates import VettedLabels
from karat.estimation.estimator import LabelEstimator, register_estimator
from karat.estimation.features import SCORES, check_scores, columns, training_rows
from karat.estimation.logistic import BY, C, fitted_probabilities
from karat.measures import Measure


@register_estimator
class Learned(LabelEstimator):
    """The posterior of a label, given its noisy label and the scores of the runs.

    How often noisy labels are wrong is counted over the vetted pairs; how probable a pair is by its scores is
    fitted by logistic regression. Where the strategy prefers some noisy labels to others, the counts are
    biased; where noisy labels depend on the scores, too, so is their product: `direct` needs neither.
    """

    name = "learned"
    aliases = ("eq13", "bayes")
    formula = "p_i = p(y_i | z = 1) p(z = 1 | s_i) / Σ_v p(y_i | z = v) p(z = v | s_i)"
    source = "Nguyen et al. 2018, eq. 13"
    needs_scores = True
    params: ClassVar = (
        BY,
        Param("smoothing", not_negative, "is added to each count of flipped labels; 0 is the paper's", 1.0),
        C,
    )
    by: str
    smoothing: float
    C: float

    def probabilities(self, labels: VettedLabels, measure: Measure, rng: np.random.Generator) -> np.ndarray:
        """Return the posterior of each candidate."""
        candidates = labels.candidates
        check_scores(candidates)
        rows = training_rows(labels, measure)
        z, query = labels.label[rows], candidates.query
        queries = len(candidates.queries)
        prior = fitted_probabilities(
            columns(candidates, SCORES), query, queries, rows, z, by=self.by, variance=self.C
        )
        by_query = self.by == "query"
        rate = flip_rates(
            candidates.noisy[rows],
            z,
            query[rows] if by_query else np.zeros(len(rows), np.int64),
            queries if by_query else 1,
            self.smoothing,
        )
        return posterior(prior, candidates.noisy, rate[:, query] if by_query else rate)


def flip_rates(
    noisy: np.ndarray, z: np.ndarray, group: np.ndarray, groups: int, smoothing: float
) -> np.ndarray:
    """Return the share of noisy labels that say relevant, per true label 0 and 1 and group [2, G].

    A group without a vetted pair of a label has the rate over all groups there; NaN where no group has one.

    >>> noisy, z = np.array([1, 0, 0, 0, 0]), np.array([1, 1, 0, 0, 0])
    >>> flip_rates(noisy, z, np.zeros(5, int), 1, 0).tolist()
    [[0.0], [0.5]]
    >>> flip_rates(noisy, z, np.zeros(5, int), 1, 1).round(2).tolist()
    [[0.2], [0.5]]
    """
    rates = []
    for label in (0, 1):
        these = z == label
        yes, n = (np.bincount(group[these], weights, groups) for weights in (noisy[these] * 1.0, None))
        with np.errstate(invalid="ignore"):
            overall = (yes.sum() + smoothing) / (n.sum() + 2 * smoothing)
            rates.append(np.where(n > 0, (yes + smoothing) / (n + 2 * smoothing), overall))
    return np.array(rates)


def posterior(prior: np.ndarray, noisy: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return p(z = 1 | y, s) from p(z = 1 | s) and the rates p(y = 1 | z) [2, J]; the prior if both are 0.

    >>> posterior(np.array([0.5, 0.5]), np.array([True, False]), np.array([[0.1], [0.4]])).round(3).tolist()
    [0.8, 0.4]
    """
    # Without a vetted pair of a label its rate is unknown, and the prior alone decides.
    rate = np.nan_to_num(rate)
    against, for_it = np.where(noisy, rate, 1.0 - rate) * np.array([1.0 - prior, prior])
    total = against + for_it
    return np.where(total > 0, for_it / np.where(total > 0, total, 1.0), prior)
