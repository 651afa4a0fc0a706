"""The sample mean: the share of relevant pairs among the vetted ones of a query."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat._util import Param, not_negative
from karat.estimation.candidates import VettedLabels
from karat.estimation.estimator import LabelEstimator, register_estimator
from karat.measures import Measure


@register_estimator
class SampleMean(LabelEstimator):
    """Every pair of a query is as probable as the share of relevant ones among its vetted pairs.

    Only pairs that the measure looks at in the run count, so that the estimate of P@K is the mean of the
    vetted pairs inside its first K. Queries without any get the share over all queries.

    It knows nothing of places: with measures that look at whole lists (AP, RP) it is far too low.
    """

    name = "sample-mean"
    aliases = ("mean",)
    formula = (
        "p_i = (Σ z + a m) / (n + a) over the n vetted pairs of the query, with m the share over all queries"
    )
    of_run = True
    params: ClassVar = (
        Param("smoothing", not_negative, "as how many vetted pairs the share over all queries counts", 0.0),
    )
    smoothing: float

    def probabilities(self, labels: VettedLabels, measure: Measure, rng: np.random.Generator) -> np.ndarray:
        """Return the share of each candidate's query; NaN where nothing is vetted."""
        candidates = labels.candidates
        seen = candidates.matter(measure)[labels.rows]
        if not seen.any():
            return np.full(len(candidates), np.nan)
        query, z = candidates.query[labels.rows[seen]], labels.relevant[seen]
        n = np.bincount(query, minlength=len(candidates.queries))
        relevant = np.bincount(query, z, len(candidates.queries)) + self.smoothing * z.mean()
        with np.errstate(invalid="ignore"):
            share = relevant / (n + self.smoothing)
        return np.where(n > 0, share, z.mean())[candidates.query]
