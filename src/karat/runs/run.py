"""A run: what one model returned on one benchmark, in any form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from karat._util import Layout, Workers, fragment
from karat.benchmarks import IMAGE_TEXT, Benchmark, Direction, Ids, JudgedItems, Side, query_side
from karat.errors import InputError
from karat.runs.fingerprint import Fingerprint

SIDES = ("images", "captions")
"""What files call the first and the second side of a benchmark, whatever these are."""
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

    def cut(self, k: int, whole_ties: bool = False) -> Top:
        """Return fewer of them: the first `k` of each query, with all that tie with the k-th if asked.

        >>> top = Top(np.array([0, 3]), np.array([7, 1, 4]), np.array([0.9, 0.5, 0.5]))
        >>> top.cut(2).item.tolist(), top.cut(2, whole_ties=True).item.tolist()
        ([7, 1], [7, 1, 4])
        """
        lengths = np.diff(self.ptr)
        query = np.repeat(np.arange(len(lengths)), lengths)
        keep = np.arange(len(query)) - self.ptr[query] < k
        if whole_ties and len(query):
            last = self.ptr[:-1] + np.minimum(k, lengths) - 1
            keep |= self.score == self.score[np.minimum(last, len(query) - 1)][query]
        return self.where(keep)

    def where(self, keep: np.ndarray) -> Top:
        """Return some of the rows."""
        before = np.r_[0, np.cumsum(keep)]
        return Top(before[self.ptr], self.item[keep], self.score[keep])

    def of(self, places: np.ndarray) -> Top:
        """Return those of some queries, by their numbers in the order wanted."""
        lengths = np.diff(self.ptr)[places]
        ptr = np.r_[0, np.cumsum(lengths)]
        rows = np.repeat(self.ptr[:-1][places] - ptr[:-1], lengths) + np.arange(ptr[-1])
        return Top(ptr, self.item[rows], self.score[rows])


def with_whole_ties(top: Top, k: int, more: Callable[[np.ndarray], Top]) -> Top:
    """Return the first `k` of each query with all that tie with the k-th, from the first k + 1.

    Parameters
    ----------
    top
        The first k + 1, or all where there are no more.
    more
        Returns the answer for some queries, by their numbers: those that have more equals than are listed.
    """
    lengths, cut = np.diff(top.ptr), top.cut(k)
    longer = np.flatnonzero(lengths > k)
    last = top.ptr[:-1][longer] + k
    longer = longer[top.score[last - 1] == top.score[last]]
    if not len(longer):
        return cut
    other = more(longer)
    both = Top(
        np.r_[cut.ptr, cut.ptr[-1] + other.ptr[1:]],
        np.concatenate([cut.item, other.item]),
        np.concatenate([cut.score, other.score]),
    )
    number = np.arange(len(lengths))
    number[longer] = len(lengths) + np.arange(len(longer))
    return both.of(number)


@dataclass(frozen=True, eq=False)
class TopRequest:
    """What `Run.top` is asked, to be answered in the same pass as other things; see there."""

    direction: Direction
    k: int
    queries: np.ndarray | None = None
    gallery: np.ndarray | None = None
    whole_ties: bool = False


@dataclass(frozen=True, eq=False)
class Scanned:
    """What one pass over the scores gave.

    Unpacks to `placed` and `first`.

    Parameters
    ----------
    placed
        The items with the counts of higher and equal scores.
    first
        Per direction the first item of every query, where asked for.
    tops
        What was requested as tops.
    """

    placed: list[JudgedItems]
    first: FirstResults = field(default_factory=dict)
    tops: list[Top] = field(default_factory=list)

    def __iter__(self) -> Iterator[list[JudgedItems] | FirstResults]:
        return iter((self.placed, self.first))


@dataclass(frozen=True)
class PassOptions:
    """How a pass over the scores is made; nothing here changes a result.

    Parameters
    ----------
    memory
        About how many bytes the pass may use, besides tables that are in memory already.
    checkpoint
        A folder where the parts that are done are kept, so that an interrupted pass goes on from there.
    device
        What computes: a name in `karat.runs.DEVICES`.
    tile
        Rows and columns that are computed at once; by default as many as the memory allows.
    workers
        Those of a cluster, which compute the tiles; by default this machine does.
    threads
        How many on this machine; all by default.
    """

    memory: int | None = None
    checkpoint: Path | None = None
    device: str = "cpu"
    tile: tuple[int, int] | None = None
    workers: Workers | None = None
    threads: int | None = None


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
        self.made_with: Fingerprint | None = None
        self.memory: int | None = None
        """About how many bytes a pass over its scores may use."""
        self.files: tuple[Path, ...] = ()
        """Where it was written, where what made it did so."""
        self.notes: tuple[str, ...] = ()
        """What a reader should know of how it was made."""
        self.device: str | None = None
        """What has just encoded it, where a model did: the pass over its scores is made there, too."""

    def __repr__(self) -> str:
        on = "" if self.benchmark is None else f" on {self.benchmark.name}"
        return f"{type(self).__name__}({self.name!r}: {self.kind} of {self.extent}{on})"

    def _repr_html_(self) -> str:
        """Return it for notebooks: what it is, what it answers, where it came from."""
        bench = "not matched with one yet" if self.benchmark is None else self.benchmark.name
        rows = [
            ["queries", " and ".join(query_side(direction).many for direction in self.directions)],
            ["benchmark", bench],
            *([["file", self.where]] if self.where else []),
        ]
        return fragment([f"run {self.name}: {self.kind} of {self.extent}", Layout(["", ""], rows, labels=2)])

    @property
    def sides(self) -> tuple[Side, Side]:
        """The sides of its benchmark; images and captions while it has none."""
        return IMAGE_TEXT if self.benchmark is None else self.benchmark.sides

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

    def scan(
        self,
        items: Sequence[JudgedItems] = (),
        threads: int | None = None,
        first: bool = False,
        *,
        tops: Sequence[TopRequest] = (),
        options: PassOptions | None = None,
    ) -> Scanned:
        """Return where given items come out and the first items of queries, in one pass over the scores.

        Parameters
        ----------
        items
            Sorted by query, all inside their gallery.
        threads
            How many; by default those of `options`.
        first
            Whether to return the first item of every query, in the order of `top`.
        tops
            First items of queries: what `top` would return for each.
        options
            How the pass is made.
        """
        options = options or PassOptions()
        if threads is not None:
            options = replace(options, threads=threads)
        heads = [TopRequest(direction, 1) for direction in self.directions if first]
        scanned = self._scan(list(items), [*tops, *heads], options)
        firsts = zip(heads, scanned.tops[len(tops) :])
        return Scanned(
            scanned.placed,
            {request.direction: self._first(request.direction, top) for request, top in firsts},
            scanned.tops[: len(tops)],
        )

    @abstractmethod
    def _scan(self, items: list[JudgedItems], tops: list[TopRequest], options: PassOptions) -> Scanned:
        """Return where given items come out and first items; without `first`."""

    def _first(self, direction: Direction, top: Top) -> np.ndarray:
        """Return the first item of every query; one past the last item where a list is empty."""
        size = 0 if self.benchmark is None else self.benchmark.items(direction).size
        first = np.full(len(top.ptr) - 1, size, np.int64)
        some = np.diff(top.ptr) > 0
        first[some] = top.item[top.ptr[:-1][some]]
        return first

    def place(self, items: Sequence[JudgedItems], threads: int | None = None) -> list[JudgedItems]:
        """Return the items with the counts of higher and equal scores filled in, from one pass."""
        return self.scan(items, threads).placed

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
        if k < 1:
            raise InputError(f"the first {k} items were requested", fix="give 1 or more")
        return self.scan(tops=[TopRequest(direction, k, queries, gallery, whole_ties)]).tops[0]
