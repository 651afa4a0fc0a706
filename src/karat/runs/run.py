"""A run: what one model returned on one benchmark, whatever it is kept in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.benchmarks import Benchmark, Direction


@dataclass(frozen=True, eq=False)
class PlaceRequest:
    """Asks about given pairs: how many items score higher than the pair's item, and how many the same?

    Parameters
    ----------
    direction
        Which side asks.
    query, item
        Indices into the benchmark's gallery, sorted by query.
    gallery
        The items that count, sorted; None for all. The pairs' own items are among them.
    """

    direction: Direction
    query: np.ndarray
    item: np.ndarray
    gallery: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Places:
    """Per pair of a request, how many items score higher and how many others the same.

    Parameters
    ----------
    above
        Items that score strictly higher; −1 when the pair's item has no known place.
    tied, earlier
        Other items that score the same, and those of them earlier in the benchmark's order.
    depth
        Per query of the gallery, how many places are known; None when all are.
    """

    above: np.ndarray
    tied: np.ndarray
    earlier: np.ndarray
    depth: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Top:
    """The first items of some queries, compressed: query q has rows ptr[q] to ptr[q + 1]."""

    ptr: np.ndarray
    item: np.ndarray
    score: np.ndarray


class Run(ABC):
    """What one model returned: a score table, two embedding tables, or ranked lists.

    Whatever it is kept in, a run computes two things in bounded memory: `place`, where given
    items come out, and `top`, the first k of each query. Nothing is ever fully sorted.

    Parameters
    ----------
    name
        As tables show it.
    where
        The file it came from, for messages.
    """

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
    def place(self, requests: Sequence[PlaceRequest], threads: int | None = None) -> list[Places]:
        """Return the places that several requests ask for, in one pass over the scores."""

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
