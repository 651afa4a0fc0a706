"""Difference: pairs that tell two runs apart have a larger chance."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat._util import Param
from karat.errors import InputError
from karat.estimation.candidates import Candidates
from karat.estimation.design import pair_weights, register_design
from karat.estimation.designs.proportional import FLOOR_HELP, ProportionalDesign, share
from karat.measures import Measure


@register_design
class DifferenceDesign(ProportionalDesign):
    """Like `proportional`, with weights of the difference of two runs.

    A pair that both runs rank among the first K says nothing about which is better, and is drawn with the
    floor's chance alone.
    """

    name = "difference"
    aliases: ClassVar[tuple[str, ...]] = ()
    formula = "as proportional, with w_i = |a_i of one run − a_i of the other|"
    source = "Oosterhuis et al. 2024 aim at rankings likewise; Carterette et al. 2006 do so greedily"
    params: ClassVar[tuple[Param, ...]] = (
        Param("first", str, "one run; the first by default", None),
        Param("second", str, "the other; the second by default", None),
        # Pairs that both runs rank first have no other chance, and their own scores rest on them.
        Param("floor", share, FLOOR_HELP, 0.4),
    )
    least_runs = 2
    first: str | None
    second: str | None

    def weight(self, candidates: Candidates, measure: Measure) -> np.ndarray:
        """Return by how much each candidate moves the difference."""
        weights = pair_weights(candidates, measure, self)
        if len(candidates.runs) < 2:
            raise InputError("a difference needs two runs, and there is one", fix="give a second run")
        chosen = []
        for name, default in ((self.first, 0), (self.second, 1)):
            if name is not None and name not in candidates.runs:
                raise InputError(f"there is no run {name!r}", fix=f"name one of {', '.join(candidates.runs)}")
            chosen.append(default if name is None else candidates.runs.index(name))
        return np.abs(weights[chosen[0]] - weights[chosen[1]])
