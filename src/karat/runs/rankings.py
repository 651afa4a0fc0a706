"""A run kept as ranked lists of ids, complete or cut off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from karat._util import Loop
from karat._util import threads as thread_loop
from karat.benchmarks import (
    Benchmark,
    Direction,
    Ids,
    JudgedItems,
    as_id_array,
    asks_first,
    is_direction,
    query_side,
    same_side,
)
from karat.errors import InputError
from karat.runs.fingerprint import merge_fingerprints
from karat.runs.run import PassOptions, Run, Scanned, Top, TopRequest, id_places

FORM = 'give {"i2t": {image id: [caption ids, best first]}, "t2i": {caption id: [image ids]}}'

LISTED = (list, tuple, np.ndarray)


@dataclass(frozen=True, eq=False)
class Lists:
    """Ranked items of every query, as indices: query q has rows ptr[q] to ptr[q + 1].

    `score` falls within a query; rows of a query with the same score tie. Without scores nothing ties.
    """

    ptr: np.ndarray
    item: np.ndarray
    n_items: int
    score: np.ndarray | None = None

    @cached_property
    def group(self) -> np.ndarray:
        """A number per row that tied rows share."""
        if self.score is None:
            return np.arange(len(self.item))
        return equal_rows(self.query, self.score)

    @property
    def query(self) -> np.ndarray:
        """The query of each row."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))

    def in_trec_eval_order(self, items: Ids) -> Lists:
        """Return the lists as trec_eval ranks them: scores in single precision, equal ones by falling id."""
        if self.score is None:
            return self
        with np.errstate(over="ignore"):
            score = self.score.astype(np.float32)
        order = np.lexsort((id_places(items)[self.item], -score, self.query))
        return replace(self, item=self.item[order], score=score[order])


class RankingsRun(Run):
    """Ranked lists, best first, as the package `eccv_caption` takes them.

    Parameters
    ----------
    lists
        ``{"i2t": {image id: [caption ids]}, "t2i": {caption id: [image ids]}}``; one direction
        may be absent. Lists may be cut off: a measure does not guess what is cut off. Where a collection is
        searched with its own items, a query in its own list is left out.
    name, where
        See `karat.load_run`.
    scores
        Scores of the listed items in the same form, where they are known: equal ones tie. Without them the
        order of a list is its ranking.
    """

    kind = "ranked lists"

    def __init__(
        self,
        lists: Mapping[str, Mapping[Any, Sequence[Any]]],
        name: str = "run",
        where: str | None = None,
        scores: Mapping[str, Mapping[Any, Sequence[float]]] | None = None,
    ) -> None:
        super().__init__(name, where)
        ways = sorted(filter(is_direction, lists), key=asks_first, reverse=True)
        known: dict[str, Any] = {direction: lists[direction] for direction in ways if lists[direction]}
        if not known:
            raise InputError("holds no ranking", where=where, fix=FORM)
        for direction, ranked in known.items():
            if not isinstance(ranked, Mapping):
                raise InputError(f"{direction} is not a dictionary of ranked lists", where=where, fix=FORM)
        self.raw: Mapping[str, Mapping[Any, Sequence[Any]]] = known
        self.scores = scores or {}
        self.lists: dict[Direction, Lists] = {}
        self.ignored: dict[Direction, list[Any]] = {}
        """Per direction, the queries that the benchmark does not have, where its queries are open."""

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions that have lists."""
        return tuple(self.raw)

    @property
    def extent(self) -> str:
        """How many queries have a list in each direction."""
        return " and ".join(
            query_side(direction).counted(len(self.raw[direction])) for direction in self.directions
        )

    def align(self, benchmark: Benchmark) -> RankingsRun:
        """Return the run with ids turned into the benchmark's indices."""
        if self.benchmark is benchmark:
            return self
        aligned = copy(self)
        # Under the benchmark's own names of the directions.
        aligned.raw, aligned.scores = (
            {benchmark.direction(way): part for way, part in lists.items()}
            for lists in (self.raw, self.scores)
        )
        aligned.benchmark = benchmark = aligned.with_open_items(benchmark)
        aligned.ignored = {}
        aligned.lists = {direction: aligned._index(benchmark, direction) for direction in aligned.directions}
        return aligned

    def in_trec_eval_order(self) -> RankingsRun:
        """Return the aligned run with its lists in the order of trec_eval."""
        assert self.benchmark is not None
        ordered = copy(self)
        ordered.lists = {
            direction: lists.in_trec_eval_order(self.benchmark.items(direction))
            for direction, lists in self.lists.items()
        }
        return ordered

    def joined(self, other: RankingsRun, name: str) -> RankingsRun:
        """Return both directions as one run, from two runs of one direction each."""
        where = " and ".join(part for part in (self.where, other.where) if part) or None
        run = RankingsRun({**self.raw, **other.raw}, name, where, {**self.scores, **other.scores})
        run.made_with = merge_fingerprints(
            {"+".join(part.directions): part.made_with for part in (self, other)}
        )
        return run

    def with_open_items(self, benchmark: Benchmark) -> Benchmark:
        """Return the benchmark with the listed items that nobody judged, where its items are open."""
        for name, ranked in self.raw.items():
            direction = benchmark.direction(name)
            queries, items = benchmark.queries(direction), benchmark.items(direction)
            if not items.open:
                continue
            known = queries.find(list(ranked)) >= 0
            lists = (
                listed for listed, own in zip(ranked.values(), known) if own and isinstance(listed, LISTED)
            )
            parts = [as_id_array(part) for part in in_parts(lists)]
            new = [part[items.find(part) < 0].astype(str) for part in parts]
            if any(map(len, new)):
                benchmark = benchmark.with_items(direction, np.unique(np.concatenate(new)))
        return benchmark

    def _index(self, benchmark: Benchmark, direction: Direction) -> Lists:
        queries, items = benchmark.queries(direction), benchmark.items(direction)
        where = f"{self.where or self.name}, {direction}"
        lists, names = self.raw[direction], list(self.raw[direction])
        query = queries.find(names)
        if queries.open and (query >= 0).any():
            self.ignored[direction] = [name for name, at in zip(names, query) if at < 0]
            lists = {name: lists[name] for name, at in zip(names, query) if at >= 0}
        query = queries.index(list(lists), where)
        if len(np.unique(query)) < len(query):
            raise InputError("a query is listed more than once", where=where, fix="give each query one list")
        outside = np.flatnonzero(query >= queries.size)
        if len(outside):
            strange = queries[query[outside[0]]]
            raise InputError(f"query {strange} is outside the gallery", where=where, fix="leave it out")
        for name, listed in lists.items():
            if not isinstance(listed, LISTED):
                raise InputError(f"query {name} has no list of ids", where=where, fix=FORM)
        lengths = np.array([len(listed) for listed in lists.values()])
        item = np.concatenate(
            [items.index(part, where).astype(np.int32) for part in in_parts(lists.values())]
        )
        # What only judgments know cannot be ranked: dropped, as if the list had not named it.
        row, inside = np.repeat(query, lengths), item < items.size
        if same_side(direction):
            inside &= row != item
        row, item = row[inside], item[inside]
        score = self._scores(direction, lists, where)
        score = None if score is None else score[inside]
        order = np.argsort(row, kind="stable") if score is None else np.lexsort((-score, row))
        row, item = row[order], item[order]
        ptr = np.searchsorted(row, np.arange(queries.size + 1))
        check_listed_once(row, item, queries, items, where)
        return Lists(ptr, item, items.size, None if score is None else score[order])

    def _scores(
        self, direction: Direction, lists: Mapping[Any, Sequence[Any]], where: str
    ) -> np.ndarray | None:
        known = self.scores.get(direction)
        if known is None:
            return None
        wrong = [name for name, listed in lists.items() if len(known.get(name, ())) != len(listed)]
        if wrong:
            raise InputError(f"query {wrong[0]} has not a score for each item", where=where, fix="give them")
        return np.concatenate([np.zeros(0), *(np.asarray(known[name], np.float64) for name in lists)])

    def _scan(self, items: list[JudgedItems], tops: list[TopRequest], options: PassOptions) -> Scanned:
        """Look the items up in the lists."""
        with thread_loop(options.threads) as loop:
            return Scanned([self._place(part, loop) for part in items], tops=list(map(self._top, tops)))

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
        tied, earlier = np.zeros(len(above), np.int64), np.zeros(len(above), np.int64)
        depth = np.zeros(n_queries, np.int64)
        loop(
            lambda b, e: count_in_lists(
                lists.ptr, lists.item, lists.group, inside, items.gallery is None, b, e, ptr, items.item,
                lists.n_items, above, tied, earlier, depth,
            ),
            0,
            n_queries,
        )  # fmt: skip
        size = np.full(len(items.queries), inside.sum())
        if same_side(items.direction):
            size -= inside[items.queries]
        return replace(items, above=above, tied=tied, earlier=earlier, size=size, depth=depth[items.queries])

    def _top(self, request: TopRequest) -> Top:
        """Return the heads of lists, as far as they go; the score is minus the place: ties share it."""
        lists = self.lists[request.direction]
        top = Top(lists.ptr, lists.item, lists.group)
        top = top if request.queries is None else top.of(np.asarray(request.queries))
        top = top if request.gallery is None else top.where(np.isin(top.item, request.gallery))
        top = top.cut(request.k, request.whole_ties)
        query = np.repeat(np.arange(len(top.ptr) - 1), np.diff(top.ptr))
        tied = equal_rows(query, top.score)
        first = np.searchsorted(tied, tied)
        return Top(top.ptr, top.item.astype(np.int64), -1.0 - (first - top.ptr[query]))


def equal_rows(query: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Return a number per row that follows the rows, which neighbours of one query with one score share.

    >>> equal_rows(np.array([0, 0, 0, 1]), np.array([9.0, 7.0, 7.0, 7.0])).tolist()
    [0, 1, 1, 2]
    """
    new = np.ones(len(query), bool)
    new[1:] = (np.diff(query) != 0) | (np.diff(score) != 0)
    return np.cumsum(new) - 1


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
