"""Uniform: all open pairs have the same chance."""

from __future__ import annotations

import numpy as np

from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.design import SamplingDesign, pair_weights, register_design
from karat.estimation.statistics import Draw
from karat.measures import Measure


@register_design
class UniformDesign(SamplingDesign):
    """A simple random sample of the pairs."""

    name = "uniform"
    aliases = ("random",)
    formula = "π_i = n / N"
    source = "Särndal, Swensson and Wretman 1992, section 3.3"

    def chances(
        self, candidates: Candidates, probability: np.ndarray, measure: Measure, rows: np.ndarray, n: int
    ) -> np.ndarray:
        """Return the same for all."""
        return np.full(len(rows), min(n / max(len(rows), 1), 1.0))

    def draw(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> Draw:
        """Return pairs drawn without replacement."""
        pair_weights(labels.candidates, measure, self)
        rows = np.sort(rng.choice(open_rows, min(n, len(open_rows)), replace=False))
        return Draw(rows, np.full(len(rows), len(rows) / max(len(open_rows), 1)), design=str(self))
