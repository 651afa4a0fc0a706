"""Gradient boosting, calibrated on queries that it has not seen."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat._util import Param, positive, require, whole
from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.estimator import LabelEstimator, register_estimator
from karat.estimation.estimators.mixed import mixed_columns
from karat.estimation.features import NOISY, PLACES, SCORES, columns, training_rows
from karat.estimation.logistic import fitted_probabilities
from karat.measures import Measure

FOLDS = 5
FEWEST_OF_A_LABEL = 20
"""How many vetted pairs of either label trees need."""


@register_estimator
class Boosting(LabelEstimator):
    """Gradient-boosted trees on scores, places, noisy label, further features and statistics of the query.

    Trees are grown on four fifths of the queries and asked about the others. What they say of queries that
    they have not seen is one more column of the `mixed` model, which calibrates it. With few vetted pairs the
    mixed model stands alone.
    """

    name = "boosting"
    aliases = ("gbdt",)
    formula = (
        "logit p_i = m + b_query + v t_i + w · (features of mixed), t_i from trees grown on other queries"
    )
    recommended = True
    params: ClassVar = (
        Param("trees", whole, "how many", 60),
        Param("min_pairs", whole, "with fewer vetted pairs it is `mixed`", 200),
        Param("C", positive, "the variance of the coefficients in the calibration", 10.0),
    )
    trees: int
    min_pairs: int
    C: float

    def probabilities(self, labels: VettedLabels, measure: Measure, rng: np.random.Generator) -> np.ndarray:
        """Return the calibrated probability of each candidate."""
        candidates = labels.candidates
        rows = training_rows(labels, measure)
        z = labels.label[rows]
        x = mixed_columns(labels, measure)
        if len(rows) >= self.min_pairs and FEWEST_OF_A_LABEL <= z.sum() <= len(z) - FEWEST_OF_A_LABEL:
            logit = self.tree_logits(candidates, rows, z, np.flatnonzero(candidates.matter(measure)), rng)
            x = np.concatenate([x, logit[:, None] / (logit[rows].std() + 1e-9)], axis=1)
        return fitted_probabilities(
            x, candidates.query, len(candidates.queries), rows, z, variance=self.C, learn_spread=True
        )

    def tree_logits(
        self,
        candidates: Candidates,
        rows: np.ndarray,
        z: np.ndarray,
        wanted: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the mean logit of wanted candidates; for vetted rows, by trees grown on other queries."""
        require("sklearn", extra_name="models")
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        x = tree_columns(candidates)
        query = candidates.query[rows]
        seen, group = np.unique(query, return_inverse=True)
        # With few queries, folds of pairs.
        fold = rng.permutation(len(seen))[group] if len(seen) >= FOLDS else rng.permutation(len(rows))
        logit, unseen = np.zeros(len(x)), np.zeros(len(rows))
        # On so few rows, threads would wait for each other most of the time.
        with threadpool_limits(1, user_api="openmp"):
            for number in range(FOLDS):
                out = fold % FOLDS == number
                # What is known of no pair here, scikit-learn cannot bin.
                known = np.isfinite(x[rows[~out]]).any(axis=0)
                model = HistGradientBoostingClassifier(
                    max_iter=self.trees,
                    max_leaf_nodes=6,
                    min_samples_leaf=10,
                    l2_regularization=5.0,
                    early_stopping=False,
                    random_state=int(rng.integers(2**31)),
                ).fit(x[rows[~out]][:, known], z[~out])
                logit[wanted] += model.decision_function(x[wanted][:, known]) / FOLDS
                unseen[out] = model.decision_function(x[rows[out]][:, known])
        logit[rows] = unseen
        return logit


def tree_columns(candidates: Candidates) -> np.ndarray:
    """Return what trees look at: features as they are, NaN included, and statistics of each query."""
    parts = [columns(candidates, SCORES, PLACES, NOISY), *(v[:, None] for v in candidates.features.values())]
    n = np.maximum(np.diff(candidates.ptr), 1)
    for values in (candidates.noisy, *candidates.scores.values()):
        mean = np.bincount(candidates.query, values, len(n)) / n
        parts += [mean[candidates.query][:, None], (values - mean[candidates.query])[:, None]]
    return np.concatenate(parts, axis=1)
