"""Whole queries: all candidates of a random query, then those of the next."""

from __future__ import annotations

import numpy as np

from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.strategy import VettingStrategy, register_strategy
from karat.measures import Measure


@register_strategy
class WholeQueries(VettingStrategy):
    """Takes random queries whole; the last one is cut where the batch ends, and the next batch continues it.

    Queries that have been begun come first, in the order in which they were begun. Inside a query the order
    is random.
    """

    name = "whole-queries"
    source = "Nguyen et al. 2018, footnote 2: vetted-only needs whole lists"
    of_units = True
    adaptive = False

    def group(self, candidates: Candidates) -> np.ndarray:
        """Return the group of each candidate that is vetted as a whole."""
        return candidates.query

    def choose(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the rows of one group after the other."""
        group = self.group(labels.candidates)
        groups = int(group.max(initial=-1)) + 1
        turn = len(labels) + rng.permutation(groups)
        np.minimum.at(turn, group[labels.rows], np.arange(len(labels)))
        rows = rng.permutation(open_rows)
        return rows[np.argsort(turn[group[rows]], kind="stable")[:n]]
