"""Entropy: the candidates whose labels are the most uncertain."""

from __future__ import annotations

import numpy as np

from karat.estimation.candidates import VettedLabels
from karat.estimation.strategy import VettingStrategy, guessed, highest, register_strategy
from karat.measures import Measure


@register_strategy
class Entropy(VettingStrategy):
    """Takes the probabilities nearest to one half; where the estimator has nothing to say is one half.

    For P@K of one run this is maximum expected estimator change inside the first K places.
    """

    name = "entropy"
    aliases = ("uncertainty",)
    formula = "H(z_i) = −p_i log p_i − (1 − p_i) log(1 − p_i)"
    source = "Settles 2010, section 3.1; Nguyen et al. 2018, section 3.2"

    def choose(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the rows of the highest entropy, of which |p − ½| is a decreasing function."""
        distance = np.abs(guessed(probability[open_rows]) - 0.5)
        return open_rows[highest(-distance, n, rng)]
