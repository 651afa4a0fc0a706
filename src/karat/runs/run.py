"""A run: what one model returned on one benchmark, in any form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from karat.benchmarks import Benchmark, Direction, JudgedItems

FirstResults = dict[Direction, np.ndarray]
"""Per direction, the item that each query ranks first; one past the last item where a list is empty."""


def pairs_to_place(
    direction: Direction, query: np.ndarray, item: np.ndarray, gallery: np.ndarray | None = None
) -> JudgedItems:
    """Return given pairs as `Run.place` takes them; their grades do not matter there.

    Parameters
    ----------
    direction
        Which side asks.
    query, item
        Indices into the benchmark's gallery, sorted by query.
    gallery
        The items that count, sorted; None for all. The pairs' own items are among them.
    """
    queries, first = np.unique(query, return_index=True)
    return JudgedItems(direction, queries, np.r_[first, len(query)], item, np.zeros(len(query)), gallery)


@dataclass(frozen=True, eq=False)
class Top:
    """The first items of some queries, compressed: query q has rows ptr[q] to ptr[q + 1]."""

    ptr: np.ndarray
    item: np.ndarray
    score: np.ndarray


class Run(ABC):
    """What one model returned: a score table, two embedding tables, or ranked lists.

    In any form, a run computes two things in bounded memory: `place`, where given
    items come out, and `top`, the first k of each query. Nothing is ever fully sorted.

    Parameters
    ----------
    name
        As tables show it.
    where
        The file it came from, for messages.
    """

    kind: ClassVar[str]
    """What it is kept in, in words."""

    def __init__(self, name: str, where: str | None = None) -> None:
        self.name = name
        self.where = where
        self.benchmark: Benchmark | None = None

    @property
    @abstractmethod
    def directions(self) -> tuple[Direction, ...]:
        """The directions that the run has scores or lists for."""

    @abstractmethod
    def align(self, benchmark: Benchmark) -> Run:
        """Return the run with its ids matched to the benchmark's, and remember which; or raise."""

    @abstractmethod
    def scan(
        self, items: Sequence[JudgedItems], threads: int | None = None, first: bool = False
    ) -> tuple[list[JudgedItems], FirstResults]:
        """Return where given items come out and the first item of every query, in one pass over the scores.

        Parameters
        ----------
        items
            Sorted by query, all inside their gallery.
        threads
            How many; all by default.
        first
            Whether to return first items. Scores may be rounded for this, and of
            equal scores any may come first: they are for looking at, measures count ties exactly.
        """

    def place(self, items: Sequence[JudgedItems], threads: int | None = None) -> list[JudgedItems]:
        """Return the items with the counts of higher and equal scores filled in, from one pass."""
        return self.scan(items, threads)[0]

    @abstractmethod
    def top(
        self,
        direction: Direction,
        k: int,
        queries: np.ndarray | None = None,
        gallery: np.ndarray | None = None,
        whole_ties: bool = False,
    ) -> Top:
        """Return the first `k` items of each query, ties in the benchmark's order.

        Parameters
        ----------
        direction, k
            Which side asks, and how many items it gets.
        queries, gallery
            Indices of the queries (all when None) and of the items that count (all when None).
        whole_ties
            Also return the items that tie with the k-th.
        """
