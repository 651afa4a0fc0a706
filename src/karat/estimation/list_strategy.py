"""Strategies that read the runs' lists from the top, as pools of judgments are made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container
from heapq import heapify, heappop, heappush
from typing import ClassVar

import numpy as np

from karat._util import Param, yes_or_no
from karat.estimation.candidates import Ranking, VettedLabels
from karat.estimation.strategy import VettingStrategy, guessed
from karat.measures import Measure

Head = tuple[float, int, float, int]
"""The next item of a list: minus its priority, how deep it is, a random number that breaks ties, the row."""
BY_QUERY = Param("by_query", yes_or_no, "queries take turns; no lets the lists of all queries compete", True)


class ListStrategy(VettingStrategy):
    """Takes the next open item of the list with the highest priority; each run has a list per query.

    A list is read from the top, so the items before its next open one are vetted. They alone make its
    priority, in whichever list they were found: labels do not tell. Inside a batch, an item whose label is
    awaited counts with the probability that it is relevant.
    """

    params: ClassVar[tuple[Param, ...]] = (BY_QUERY,)
    by_query: bool

    @abstractmethod
    def priority(self, ranking: Ranking, relevant: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the priority of a run's lists when they have come to each of their rows.

        Parameters
        ----------
        ranking
            Of the run.
        relevant
            Per row, in the order of the run, its label, or the probability that it is relevant.
        rng
            Draws whatever is random.
        """

    def choose(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the heads of lists, one after the other; what no run ranks comes last."""
        candidates = labels.candidates
        relevant = labels.filled(guessed(probability))
        is_open = np.zeros(len(candidates), bool)
        is_open[open_rows] = True
        lists = [
            ListHeads(ranking, is_open, self.priority(ranking, relevant[ranking.row], rng), rng)
            for ranking in candidates.exact.rankings.values()
        ]
        turn = np.bincount(candidates.query[labels.rows], minlength=len(candidates.queries)) * self.by_query
        chosen: dict[int, None] = {}

        def head(query: int) -> Head | None:
            """Return the best of the next items of a query."""
            return min(filter(None, (of_run.head(query, chosen) for of_run in lists)), default=None)

        queue = [(turn[query], best, query) for query in range(len(turn)) if (best := head(query))]
        heapify(queue)
        while queue and len(chosen) < n:
            given, best, query = heappop(queue)
            chosen[best[-1]] = None
            if following := head(query):
                heappush(queue, (given + self.by_query, following, query))
        rows = np.fromiter(chosen, np.int64, len(chosen))
        unranked = np.setdiff1d(open_rows, rows) if len(rows) < min(n, len(open_rows)) else rows[:0]
        return np.r_[rows, rng.permutation(unranked)[: n - len(rows)]]


class ListHeads:
    """The lists of one run, from which items are taken; see `ListStrategy` for the parameters."""

    def __init__(
        self, ranking: Ranking, is_open: np.ndarray, priority: np.ndarray, rng: np.random.Generator
    ) -> None:
        self.ranking, self.rng = ranking, rng
        # Rounded, so that equal priorities are ties.
        self.priority = np.round(priority, 9)
        rows = len(priority)
        usable = np.where(is_open[ranking.row] & ranking.ranked.placed, np.arange(rows), rows)
        self.next_open = np.r_[np.minimum.accumulate(usable[::-1])[::-1], rows]
        self.place = ranking.ranked.ptr[:-1].copy()

    def head(self, query: int, chosen: Container[int]) -> Head | None:
        """Return the next item of a query that is not chosen, so that better ones sort first."""
        begin, end = self.ranking.ranked.ptr[query : query + 2]
        place = self.next_open[self.place[query]]
        while place < end and self.ranking.row[place] in chosen:
            place = self.next_open[place + 1]
        self.place[query] = place
        if place >= end:
            return None
        return -self.priority[place], int(place - begin), self.rng.random(), int(self.ranking.row[place])
