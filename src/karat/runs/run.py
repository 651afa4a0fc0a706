"""A run: what one model returned on one benchmark, in any form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from karat._util import Layout, fragment
from karat.benchmarks import SIDES, Benchmark, Direction, Ids, JudgedItems

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


def id_places(ids: Ids) -> np.ndarray:
    """Return the place of each id when all are sorted as text, from the last to the first.

    >>> id_places(Ids([9, 10, 100])).tolist()
    [0, 2, 1]
    """
    places = np.empty(len(ids), np.int64)
    places[np.argsort(ids.values.astype(str), kind="stable")[::-1]] = np.arange(len(ids))
    return places


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
    by_id = False
    """Whether items with equal scores are in trec_eval's order, instead of the benchmark's or the list's."""

    def __init__(self, name: str, where: str | None = None) -> None:
        self.name = name
        self.where = where
        self.benchmark: Benchmark | None = None

    def __repr__(self) -> str:
        on = "" if self.benchmark is None else f" on {self.benchmark.name}"
        return f"{type(self).__name__}({self.name!r}: {self.kind} of {self.extent}{on})"

    def _repr_html_(self) -> str:
        """Return it for notebooks: what it is, what it answers, where it came from."""
        bench = "not matched with one yet" if self.benchmark is None else self.benchmark.name
        rows = [
            ["queries", " and ".join(SIDES[direction] for direction in self.directions)],
            ["benchmark", bench],
            *([["file", self.where]] if self.where else []),
        ]
        return fragment([f"run {self.name}: {self.kind} of {self.extent}", Layout(["", ""], rows, labels=2)])

    @property
    def extent(self) -> str:
        """How much it holds, in words."""
        return "unknown size"

    @property
    @abstractmethod
    def directions(self) -> tuple[Direction, ...]:
        """The directions that the run has scores or lists for."""

    @abstractmethod
    def align(self, benchmark: Benchmark) -> Run:
        """Return the run with its ids matched to the benchmark's, and remember which; or raise."""

    def in_trec_eval_order(self) -> Run:
        """Return the aligned run with equal scores in the order of trec_eval: ids as text, falling."""
        ordered = copy(self)
        ordered.by_id = True
        return ordered

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
        """Return the first `k` items of each query, ties in the benchmark's order (in lists, in the list's).

        Parameters
        ----------
        direction, k
            Which side asks, and how many items it gets.
        queries, gallery
            Indices of the queries (all when None) and of the items that count (all when None).
        whole_ties
            Also return the items that tie with the k-th.
        """
