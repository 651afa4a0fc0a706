"""Random: a query first, then one of its candidates, so that no query is forgotten."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat._util import Param, yes_or_no
from karat.estimation.candidates import VettedLabels
from karat.estimation.strategy import VettingStrategy, highest, numbered, register_strategy
from karat.measures import Measure


@register_strategy
class RandomPairs(VettingStrategy):
    """Draws a query, then one of its open candidates, until the batch is full.

    Queries are drawn in rounds: all that have open candidates left give one, in random order, before any
    gives a second. So queries have equal chances, however long their lists are, and pairs of short lists have
    higher chances than others.
    """

    name = "random"
    source = "Nguyen et al. 2018, section 3.2"
    of_units = True
    adaptive = False
    params: ClassVar = (
        Param("by_query", yes_or_no, "draw the query first; no draws pairs, all with equal chance", True),
    )
    by_query: bool

    def choose(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return rows drawn without replacement."""
        if not self.by_query:
            return rng.choice(open_rows, min(n, len(open_rows)), replace=False)
        rows = rng.permutation(open_rows)
        turn = numbered(labels.candidates.query[rows])
        return rows[highest(-turn.astype(np.float64), n, rng)]
