"""Eq. 12 of Active testing as printed: what its authors ranked by, for comparison."""

from __future__ import annotations

import numpy as np

from karat.estimation.candidates import VettedLabels
from karat.estimation.change import printed_change
from karat.estimation.strategy import VettingStrategy, guessed, highest, register_strategy
from karat.measures import Measure


@register_strategy
class PrintedChange(VettingStrategy):
    """Takes the highest value of eq. 12, whatever the measure; several runs are added.

    It is not the expected change of AP, which is what `meec` takes: it is 0 for the first unvetted item of
    a list, where vetting changes AP most.
    """

    name = "meec-printed"
    formula = "(1/N) r_i p_i (1 − p_i), r_i = (unvetted items before i) / (place of i), N = Σ p"
    source = "Nguyen et al. 2018, eq. 12 as printed"

    def choose(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the rows of the highest values."""
        p = labels.filled(guessed(probability))
        value = np.zeros(len(p))
        for ranking in labels.candidates.exact.rankings.values():
            value[ranking.row] += printed_change(ranking.under(p))
        return open_rows[highest(value[open_rows], n, rng)]
