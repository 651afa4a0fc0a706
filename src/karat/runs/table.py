"""Runs that are tables of scores, given or computed: read in blocks, in one orientation or the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import Loop
from karat._util import threads as thread_loop
from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.errors import InputError
from karat.runs.run import PlaceRequest, Places, Run, Top

BLOCK_BYTES = 64 << 20


@dataclass(eq=False)
class PlacePlan:
    """A request for places in the table's own rows and columns, with room for the counts."""

    by_rows: bool
    ptr: np.ndarray
    query: np.ndarray
    item: np.ndarray
    gallery: np.ndarray
    order: np.ndarray
    sorting: np.ndarray
    threshold: np.ndarray
    above: np.ndarray
    tied: np.ndarray
    earlier: np.ndarray

    @property
    def span(self) -> tuple[int, int]:
        """The first query with a pair, and one past the last."""
        return (int(self.query[0]), int(self.query[-1]) + 1) if len(self.query) else (0, 0)

    def places(self) -> Places:
        """Return the counts in the request's own order; an item does not tie with itself."""
        columns = []
        for counted in (self.above, self.tied - 1, self.earlier):
            column = np.empty_like(counted)
            column[self.sorting] = counted
            columns.append(column)
        return Places(*columns)


class TableRun(Run):
    """A run whose scores form a table of rows by columns, computed or read block by block.

    `rows` says which side the rows are; `row_of` and `column_of` give, for each index of the
    benchmark, the row or column of the table.
    """

    most_rows = 256
    """Rows of a block at most: a transposed tile of its columns then fits the first-level cache."""
    rows: str = "images"
    row_of: np.ndarray | None = None
    column_of: np.ndarray | None = None

    ids_where: str | None = None
    """The file of the ids, for messages."""

    def __init__(self, name: str, ids: dict[str, Any] | None = None, where: str | None = None) -> None:
        super().__init__(name, where)
        self.ids = ids or {}
        self.block_rows: int | None = None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the table."""

    @property
    def directions(self) -> tuple[Direction, ...]:
        """A table has both."""
        return DIRECTIONS

    @abstractmethod
    def check(self, benchmark: Benchmark) -> None:
        """Raise where the table's shape does not fit the benchmark."""

    def align(self, benchmark: Benchmark) -> TableRun:
        """Return the run with its rows and columns matched to the benchmark's ids."""
        if self.benchmark is benchmark:
            return self
        aligned = copy(self)
        aligned.benchmark = benchmark
        aligned.check(benchmark)
        maps = {
            kind: known.arrangement(self.ids[kind], self.ids_where or self.where)
            if kind in self.ids
            else None
            for kind, known in (("images", benchmark.images), ("captions", benchmark.captions))
        }
        columns = "captions" if aligned.rows == "images" else "images"
        aligned.row_of, aligned.column_of = maps[aligned.rows], maps[columns]
        return aligned

    def asks_by_rows(self, direction: Direction) -> bool:
        """Whether the queries of `direction` are the table's rows."""
        return (direction == "i2t") == (self.rows == "images")

    def maps(self, direction: Direction) -> tuple[np.ndarray, np.ndarray]:
        """Return the table index of every query and of every item of the benchmark."""
        by_rows = self.asks_by_rows(direction)
        row_of = np.arange(self.shape[0]) if self.row_of is None else self.row_of
        column_of = np.arange(self.shape[1]) if self.column_of is None else self.column_of
        return (row_of, column_of) if by_rows else (column_of, row_of)

    def pairs(self, direction: Direction, query: np.ndarray, item: np.ndarray) -> np.ndarray:
        """Return the scores of given pairs, by the benchmark's indices."""
        query_of, item_of = self.maps(direction)
        pair = (query_of[query], item_of[item])
        return self.pair_scores(*(pair if self.asks_by_rows(direction) else pair[::-1]))

    def plan(self, request: PlaceRequest) -> PlacePlan:
        """Translate a request into rows and columns."""
        query_of, item_of = self.maps(request.direction)
        query, item = query_of[request.query], item_of[request.item]
        sorting = np.argsort(query, kind="stable")
        query, item = query[sorting], item[sorting]
        order = np.empty(len(item_of), np.int64)
        order[item_of] = np.arange(len(item_of))
        counts = [np.zeros(len(query), np.int64) for _ in range(3)]
        return PlacePlan(
            by_rows=self.asks_by_rows(request.direction),
            ptr=np.searchsorted(query, np.arange(len(query_of) + 1)),
            query=query,
            item=item,
            gallery=np.arange(len(item_of)) if request.gallery is None else np.sort(item_of[request.gallery]),
            order=order,
            sorting=sorting,
            threshold=self.pair_scores(
                *((query, item) if self.asks_by_rows(request.direction) else (item, query))
            ),
            above=counts[0],
            tied=counts[1],
            earlier=counts[2],
        )

    @abstractmethod
    def pair_scores(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the scores of single cells."""

    @abstractmethod
    def block(self, begin: int, end: int) -> np.ndarray:
        """Return the scores of rows begin to end as contiguous floats."""

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the first row and the scores of each block."""
        n_rows, n_columns = self.shape
        step = self.block_rows or int(np.clip(BLOCK_BYTES // (4 * n_columns), 16, self.most_rows))
        for begin in range(0, n_rows, step):
            yield begin, self.block(begin, min(begin + step, n_rows))

    def place(self, requests: Sequence[PlaceRequest], threads: int | None = None) -> list[Places]:
        """Return the places that several requests ask for, in one pass over the blocks."""
        plans = [self.plan(request) for request in requests]
        with thread_loop(threads) as loop:
            for row0, block in self.blocks():
                self.check_block(block, row0, loop)
                for plan in plans:
                    if plan.by_rows:
                        first, last = np.clip(plan.span, row0, row0 + len(block)) - row0
                        if plan.ptr[row0 + first] < plan.ptr[row0 + last]:
                            self.count_rows(plan, block, row0, int(first), int(last), loop)
                    else:
                        lo, hi = np.searchsorted(plan.gallery, (row0, row0 + len(block)))
                        if lo < hi and len(plan.query):
                            self.count_columns(plan, block, row0, plan.gallery[lo:hi] - row0, loop)
        return [plan.places() for plan in plans]

    @abstractmethod
    def check_block(self, block: np.ndarray, row0: int, loop: Loop) -> None:
        """Raise where a block holds something that cannot be ranked."""

    @abstractmethod
    def count_rows(
        self, plan: PlacePlan, block: np.ndarray, row0: int, first: int, last: int, loop: Loop
    ) -> None:
        """Count for the queries that are rows first to last of the block."""

    @abstractmethod
    def count_columns(
        self, plan: PlacePlan, block: np.ndarray, row0: int, rows: np.ndarray, loop: Loop
    ) -> None:
        """Count for the queries that are columns, over the given rows of the block."""

    def top(
        self,
        direction: Direction,
        k: int,
        queries: np.ndarray | None = None,
        gallery: np.ndarray | None = None,
        whole_ties: bool = False,
    ) -> Top:
        """Return the first `k` items of each query, ties in the benchmark's order."""
        if k < 1:
            raise InputError(f"the first {k} items were asked for", fix="ask for 1 or more")
        query_of, item_of = self.maps(direction)
        queries = np.arange(len(query_of)) if queries is None else np.asarray(queries)
        items = np.arange(len(item_of)) if gallery is None else np.asarray(gallery)
        k = min(k, len(items))
        as_kept = gallery is None and np.array_equal(item_of, items)
        step = max(1, BLOCK_BYTES // (8 * len(item_of)))
        lengths, top_items, top_scores = [], [], []
        for begin in range(0, len(queries), step):
            table = query_of[queries[begin : begin + step]]
            values = self.query_scores(direction, table)
            if not as_kept:
                values = values[:, item_of[items]]
            row, column = reaching_kth(np.ascontiguousarray(values), k, self.slack(direction, table))
            pair = (table[row], item_of[items[column]])
            score = self.pair_scores(*(pair if self.asks_by_rows(direction) else pair[::-1]))
            score = score.astype(np.float64)
            order = np.lexsort((items[column], -score, row))
            row, column, score = row[order], column[order], score[order]
            first = np.searchsorted(row, np.arange(len(table)))
            keep = np.arange(len(row)) - first[row] < k
            if whole_ties:
                keep |= score == score[first + k - 1][row]
            lengths.append(np.bincount(row[keep], minlength=len(table)))
            top_items.append(items[column[keep]])
            top_scores.append(score[keep])
        ptr = np.r_[0, np.cumsum(np.concatenate(lengths))] if lengths else np.zeros(1, int)
        if not lengths:
            return Top(ptr, np.zeros(0, int), np.zeros(0))
        return Top(ptr, np.concatenate(top_items), np.concatenate(top_scores))

    @abstractmethod
    def query_scores(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return the scores of all items for some queries, both in the table's own order."""

    def slack(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return how far below the k-th score an item may truly belong to the first k."""
        return np.zeros(len(queries))


def reaching_kth(values: np.ndarray, k: int, slack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of the values that reach their row's k-th largest, less the row's slack.

    >>> reaching_kth(np.array([[1.0, 3.0, 2.0], [5.0, 5.0, 0.0]]), 1, np.zeros(2))
    (array([0, 1, 1]), array([1, 0, 1]))
    """
    from karat.runs.top_kernels import count_reaching, kth_largest, list_reaching

    rows = len(values)
    kth, count = np.empty(rows, values.dtype), np.empty(rows, np.int64)
    with thread_loop() as loop:
        loop(lambda begin, end: kth_largest(values, k, begin, end, kth), 0, rows)
        least = kth - slack
        loop(lambda begin, end: count_reaching(values, least, begin, end, count), 0, rows)
        ptr = np.concatenate([[0], np.cumsum(count)])
        column = np.empty(ptr[-1], np.int64)
        loop(lambda begin, end: list_reaching(values, least, begin, end, ptr, column), 0, rows)
    return np.repeat(np.arange(rows), count), column
