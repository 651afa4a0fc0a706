"""Move-to-front: keep to the runs that have returned the fewest wrong items so far."""

from __future__ import annotations

import numpy as np

from karat.estimation.candidates import Ranking
from karat.estimation.list_strategy import ListStrategy
from karat.estimation.strategy import register_strategy, sum_before


@register_strategy
class MoveToFront(ListStrategy):
    """Takes the next item of the list that has had the fewest items vetted as not relevant."""

    name = "move-to-front"
    aliases = ("mtf",)
    formula = "the highest max_r −Σ_{i before j in the list of r} (1 − z_i)"
    source = "Cormack, Palmer and Clarke, SIGIR 1998: local move-to-front, and global with by_query=no"

    def priority(self, ranking: Ranking, relevant: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return minus the number of items before that are not relevant."""
        return -sum_before(1 - relevant, ranking.ranked.ptr)
