"""Proportional: pairs that may move the score much have a larger chance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from karat._util import Param
from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.design import (
    SamplingDesign,
    pair_weights,
    register_design,
)
from karat.estimation.statistics import Draw, inclusion_probabilities, systematic
from karat.estimation.strategy import guessed
from karat.measures import Measure


def share(value: Any) -> float:
    """Return a number from 0 to 1; for `Param.type`."""
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError(value)
    return number


FLOOR_HELP = "the part of the draws that all pairs share equally"


@register_design
class ProportionalDesign(SamplingDesign):
    """Draws in proportion to the uncertainty of a label times its weight in the scores.

    If labels were as uncertain as the probabilities say, no other design of this size would have a smaller
    variance. They are not quite, so a part of the draws is shared equally: no pair that the model is wrongly
    sure of gets a tiny chance, which would make its label count enormously.
    """

    name = "proportional"
    aliases: ClassVar[tuple[str, ...]] = ("pps",)
    formula = "π_i ∝ (1 − f) √(p_i (1 − p_i)) w_i / mean + f, with w_i² = Σ_runs a_i²"
    source = "Särndal et al. 1992, section 12.2; Zrnic and Candès 2024"
    params: ClassVar[tuple[Param, ...]] = (Param("floor", share, FLOOR_HELP, 0.2),)
    floor: float

    def weight(self, candidates: Candidates, measure: Measure) -> np.ndarray:
        """Return how much each candidate counts."""
        return np.sqrt((pair_weights(candidates, measure, self) ** 2).sum(axis=0))

    def chances(
        self, candidates: Candidates, probability: np.ndarray, measure: Measure, rows: np.ndarray, n: int
    ) -> np.ndarray:
        """Return the inclusion probabilities of `rows`, if `n` of them are drawn."""
        p = guessed(probability)[rows]
        spread = np.sqrt(p * (1 - p)) * self.weight(candidates, measure)[rows]
        size = np.full(len(p), max(self.floor, 1e-6))
        if spread.any():
            size += (1 - self.floor) * spread / spread.mean()
        return inclusion_probabilities(size, n)

    def draw(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> Draw:
        """Return as many pairs as allowed, by randomised systematic sampling."""
        chance = self.chances(labels.candidates, probability, measure, open_rows, n)
        drawn = systematic(chance, rng)
        return Draw(open_rows[drawn], chance[drawn], design=str(self))
