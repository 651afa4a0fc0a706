"""Maximum expected estimator change: the candidates whose labels would move the estimate most."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from karat._util import Param, check_choice, whole
from karat.errors import InputError
from karat.estimation.candidates import VettedLabels
from karat.estimation.strategy import VettingStrategy, guessed, highest, register_strategy
from karat.measures import Measure

TARGETS = ("mean", "difference")


def target(value: Any) -> str:
    """Return what must change; for `Param.type`."""
    return check_choice(str(value), TARGETS, "of")


@register_strategy
class ExpectedChange(VettingStrategy):
    """Takes the candidates with the highest expected absolute change of the estimate.

    The change of a run's mean over queries when a label is known, other probabilities kept,
    averaged over the two labels; several runs are added. For two runs, `of=difference` takes the change of
    their difference. Where the estimator has nothing to say, p is one half. Where one answer tells
    several labels, their changes are added.
    """

    name = "meec"
    aliases = ("maximum-expected-estimator-change",)
    formula = "Σ_r 2 p_i (1 − p_i) |E[Q_r | z_i = 1] − E[Q_r | z_i = 0]|"
    source = "Nguyen et al. 2018, eq. 10 and 11, and for AP as corrected"
    of_units = True
    params: ClassVar = (
        Param("of", target, "mean: of each run's score; difference: of that between two runs", "mean"),
        Param("draws", whole, "how many labels are drawn for measures without a closed form", 256),
    )
    of: str
    draws: int

    def choose(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the rows of the highest change."""
        rankings = labels.candidates.rankings
        if self.of == "difference" and len(rankings) != 2:
            raise InputError(
                f"{self} needs two runs, and there are {len(rankings)}", fix="give two runs, or write of=mean"
            )
        p = labels.filled(guessed(probability))
        change = np.zeros(len(p))
        signs = (1, -1) if self.of == "difference" else (1,) * len(rankings)
        for ranking, sign in zip(rankings.values(), signs, strict=True):
            of_run = sign * ranking.change(p, measure, self.draws, rng)
            change += np.abs(of_run) if self.of == "mean" else of_run
        change = labels.candidates.unit_sums(np.abs(change))
        return open_rows[highest(change[open_rows], n, rng)]
