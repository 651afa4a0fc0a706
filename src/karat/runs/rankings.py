"""A run kept as ranked lists of ids, complete or cut off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import Loop
from karat._util import threads as thread_loop
from karat.benchmarks import DIRECTIONS, Benchmark, Direction, Ids, JudgedItems
from karat.errors import InputError
from karat.runs.run import FirstResults, Run, Top

FORM = 'give {"i2t": {image id: [caption ids, best first]}, "t2i": {caption id: [image ids]}}'


@dataclass(frozen=True, eq=False)
class Lists:
    """Ranked items of every query, as indices: query q has rows ptr[q] to ptr[q + 1]."""

    ptr: np.ndarray
    item: np.ndarray
    n_items: int


class RankingsRun(Run):
    """Ranked lists, best first, as the package `eccv_caption` takes them.

    Parameters
    ----------
    lists
        ``{"i2t": {image id: [caption ids]}, "t2i": {caption id: [image ids]}}``; one direction
        may be absent. Lists may be cut off: a measure does not guess what is cut off.
    name, where
        See `karat.load_run`.
    """

    kind = "ranked lists"

    def __init__(
        self, lists: Mapping[str, Mapping[Any, Sequence[Any]]], name: str = "run", where: str | None = None
    ) -> None:
        super().__init__(name, where)
        known: dict[str, Any] = {
            direction: lists[direction] for direction in DIRECTIONS if lists.get(direction)
        }
        if not known:
            raise InputError("holds no ranking", where=where, fix=FORM)
        for direction, ranked in known.items():
            if not isinstance(ranked, Mapping):
                raise InputError(f"{direction} is not a dictionary of ranked lists", where=where, fix=FORM)
        self.raw: Mapping[str, Mapping[Any, Sequence[Any]]] = known
        self.lists: dict[Direction, Lists] = {}

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions that have lists."""
        return tuple(direction for direction in DIRECTIONS if direction in self.raw)

    def align(self, benchmark: Benchmark) -> RankingsRun:
        """Return the run with ids turned into the benchmark's indices."""
        if self.benchmark is benchmark:
            return self
        aligned = copy(self)
        aligned.benchmark = benchmark
        aligned.lists = {direction: self._index(benchmark, direction) for direction in self.directions}
        return aligned

    def _index(self, benchmark: Benchmark, direction: Direction) -> Lists:
        queries, items = benchmark.queries(direction), benchmark.items(direction)
        where = f"{self.where or self.name}, {direction}"
        lists = self.raw[direction]
        query = queries.index(list(lists), where)
        if len(np.unique(query)) < len(query):
            raise InputError("a query is listed more than once", where=where, fix="give each query one list")
        outside = np.flatnonzero(query >= queries.size)
        if len(outside):
            strange = queries[query[outside[0]]]
            raise InputError(f"query {strange} is outside the gallery", where=where, fix="leave it out")
        for name, listed in lists.items():
            if not isinstance(listed, list | tuple | np.ndarray):
                raise InputError(f"query {name} has no list of ids", where=where, fix=FORM)
        lengths = np.array([len(listed) for listed in lists.values()])
        item = np.concatenate(
            [items.index(part, where).astype(np.int32) for part in in_parts(lists.values())]
        )
        row = np.repeat(query, lengths)[item < items.size]
        # What only judgments know cannot be ranked: dropped, as if the list had not named it.
        item = item[item < items.size]
        order = np.argsort(row, kind="stable")
        row, item = row[order], item[order]
        ptr = np.searchsorted(row, np.arange(queries.size + 1))
        check_listed_once(row, item, queries, items, where)
        return Lists(ptr, item, items.size)

    def scan(
        self, items: Sequence[JudgedItems], threads: int | None = None, first: bool = False
    ) -> tuple[list[JudgedItems], FirstResults]:
        """Look the items up in the lists."""
        with thread_loop(threads) as loop:
            placed = [self._place(part, loop) for part in items]
        return placed, {direction: heads(lists) for direction, lists in self.lists.items()} if first else {}

    def _place(self, items: JudgedItems, loop: Loop) -> JudgedItems:
        from karat.runs.kernels import count_in_lists

        lists = self.lists[items.direction]
        n_queries = len(lists.ptr) - 1
        inside = np.ones(lists.n_items, np.bool_)
        if items.gallery is not None:
            inside[:] = False
            inside[items.gallery] = True
        ptr = np.searchsorted(items.query_of_row, np.arange(n_queries + 1))
        above = np.full(len(items.item), -1, np.int64)
        depth = np.zeros(n_queries, np.int64)
        loop(
            lambda b, e: count_in_lists(
                lists.ptr, lists.item, inside, items.gallery is None, b, e, ptr, items.item,
                lists.n_items, above, depth,
            ),
            0,
            n_queries,
        )  # fmt: skip
        zeros = np.zeros(len(above), np.int64)
        size = np.full(len(items.queries), inside.sum())
        return replace(items, above=above, tied=zeros, earlier=zeros, size=size, depth=depth[items.queries])

    def top(
        self,
        direction: Direction,
        k: int,
        queries: np.ndarray | None = None,
        gallery: np.ndarray | None = None,
        whole_ties: bool = False,
    ) -> Top:
        """Return the heads of the lists, as far as they go; the score is minus the place."""
        lists = self.lists[direction]
        queries = np.arange(len(lists.ptr) - 1) if queries is None else np.asarray(queries)
        tops = []
        for q in queries:
            listed = lists.item[lists.ptr[q] : lists.ptr[q + 1]]
            tops.append((listed if gallery is None else listed[np.isin(listed, gallery)])[:k])
        ptr = np.r_[0, np.cumsum([len(top) for top in tops])]
        item = np.concatenate(tops) if tops else np.zeros(0, np.int32)
        place = np.arange(len(item)) - np.repeat(ptr[:-1], np.diff(ptr))
        return Top(ptr, item.astype(np.int64), -1.0 - place)


def heads(lists: Lists) -> np.ndarray:
    """Return the first item of every list; one past the last item where a list is empty."""
    first = np.full(len(lists.ptr) - 1, lists.n_items, np.int64)
    some = np.diff(lists.ptr) > 0
    first[some] = lists.item[lists.ptr[:-1][some]]
    return first


def in_parts(lists: Iterable[Sequence[Any]], most: int = 1 << 20) -> Iterator[Any]:
    """Yield the ids of many lists, joined to parts of about a million: few calls, bounded memory."""
    part: list[Any] = []
    for listed in lists:
        part.extend(listed)
        if len(part) >= most:
            yield part
            part = []
    yield part


def check_listed_once(row: np.ndarray, item: np.ndarray, queries: Ids, items: Ids, where: str) -> None:
    """Raise when a query lists an item twice."""
    key = np.sort(row.astype(np.int64) * len(items) + item)
    again = key[1:][key[1:] == key[:-1]]
    if len(again):
        q, i = divmod(int(again[0]), len(items))
        raise InputError(
            f"query {queries[q]} lists {items[i]} more than once", where=where, fix="list it once"
        )
