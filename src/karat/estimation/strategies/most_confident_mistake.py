"""Most-confident mistake: what a run is surest of and the labels call not relevant."""

from __future__ import annotations

import numpy as np

from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.strategy import VettingStrategy, highest, register_strategy
from karat.measures import Measure


@register_strategy
class MostConfidentMistake(VettingStrategy):
    """Takes the highest scores among candidates that are probably not relevant (p < 0.5).

    Of several runs, the highest standardised score counts. Where any run has no scores, places do instead,
    in all. Once no such candidate is left, the others follow in the same order. Where the estimator has
    nothing to say the noisy label decides.
    """

    name = "mcm"
    aliases = ("most-confident-mistake",)
    formula = "the highest s_i with p_i < 1/2"
    source = "Nguyen et al. 2018, section 3.2"
    of_units = True

    def choose(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return mistakes, the most confident first, then what is left."""
        candidates = labels.candidates
        p = np.where(np.isnan(probability), candidates.noisy, probability)[open_rows]
        sure = confidence(candidates)[open_rows]
        mistake = p < 0.5
        first = open_rows[mistake][highest(sure[mistake], n, rng)]
        rest = open_rows[~mistake][highest(sure[~mistake], n - len(first), rng)]
        return np.r_[first, rest]


def confidence(candidates: Candidates) -> np.ndarray:
    """Return how sure the surest run is that each candidate is relevant: standardised scores, or places."""
    if set(candidates.scores) < set(candidates.runs):
        return -np.min(list(candidates.places.values()), axis=0)
    standard = [(s - s.mean()) / (s.std() or 1.0) for s in candidates.scores.values()]
    return np.max(standard, axis=0)
