"""Runs that are tables of scores, given or computed: read in blocks, in one orientation or the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from karat._util import Loop
from karat._util import threads as thread_loop
from karat.benchmarks import DIRECTIONS, Benchmark, Direction, JudgedItems, of_size
from karat.errors import InputError
from karat.runs.run import FirstResults, Run, Top, id_places

BLOCK_BYTES = 64 << 20


class Counting(NamedTuple):
    """What is counted while a table is read.

    `items` are in the table's own rows and columns, their counts filled in as blocks are read; `scores` are
    theirs; `order` is that of the benchmark, which decides which of equal items comes earlier.
    """

    items: JudgedItems
    scores: np.ndarray
    order: np.ndarray

    @property
    def gallery(self) -> np.ndarray:
        """The rows or columns of the table that are ranked."""
        assert self.items.gallery is not None
        return self.items.gallery


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

    def in_table(self, items: JudgedItems) -> JudgedItems:
        """Return items in the table's own rows and columns, every query included, their counts at 0."""
        query_of, item_of = self.maps(items.direction)
        query = query_of[items.query_of_row]
        sorting = np.argsort(query, kind="stable")
        above, tied, earlier = (np.zeros(len(query), np.int64) for _ in range(3))
        gallery = np.arange(len(item_of)) if items.gallery is None else np.sort(item_of[items.gallery])
        return JudgedItems(
            items.direction,
            np.arange(len(query_of)),
            np.searchsorted(query[sorting], np.arange(len(query_of) + 1)),
            item_of[items.item][sorting],
            items.grade,
            gallery,
            above=above,
            tied=tied,
            earlier=earlier,
        )

    def from_table(self, items: JudgedItems, counted: JudgedItems) -> JudgedItems:
        """Return items with what was counted in the table's own order; an item does not tie with itself."""
        sorting = np.argsort(self.maps(items.direction)[0][items.query_of_row], kind="stable")
        columns = []
        for column in (counted.above, counted.tied - 1, counted.earlier):
            columns.append(np.empty_like(column))
            columns[-1][sorting] = column
        assert counted.gallery is not None
        size = np.full(len(items.queries), len(counted.gallery))
        above, tied, earlier = columns
        return replace(items, above=above, tied=tied, earlier=earlier, size=size, depth=size)

    def order(self, direction: Direction) -> np.ndarray:
        """Return, for each row or column of the table that is an item, its place in the benchmark's order."""
        item_of = self.maps(direction)[1]
        order = np.empty(len(item_of), np.int64)
        order[item_of] = np.arange(len(item_of))
        return order

    def tie_order(self, direction: Direction) -> np.ndarray:
        """Return the same in the order in which items with equal scores are."""
        order = self.order(direction)
        assert not self.by_id or self.benchmark is not None
        return (
            order
            if self.benchmark is None or not self.by_id
            else id_places(self.benchmark.items(direction))[order]
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

    def scan(
        self, items: Sequence[JudgedItems], threads: int | None = None, first: bool = False
    ) -> tuple[list[JudgedItems], FirstResults]:
        """Return where items come out and the first item of every query, in one pass over the blocks."""
        counts = [self.counting(part) for part in items]
        largest = LargestCells(self.shape) if first else None
        with thread_loop(threads) as loop:
            for row0, block in self.blocks():
                self.check_block(block, row0, loop)
                if largest is not None:
                    largest.add(block, row0, loop)
                for counting in counts:
                    self._count(counting, block, row0, loop)
        placed = [self.from_table(part, counting.items) for part, counting in zip(items, counts)]
        return placed, {} if largest is None else self._first_results(largest)

    def counting(self, items: JudgedItems) -> Counting:
        """Return items in the table's own rows and columns, with what is needed to count for them."""
        inside = self.in_table(items)
        cells = (inside.query_of_row, inside.item)
        scores = self.pair_scores(*(cells if self.asks_by_rows(items.direction) else cells[::-1]))
        return Counting(inside, scores, self.tie_order(items.direction))

    def _count(self, counting: Counting, block: np.ndarray, row0: int, loop: Loop) -> None:
        ptr, gallery = counting.items.ptr, counting.gallery
        # The first query with an item, and one past the last.
        begin, end = int(np.searchsorted(ptr, 0, side="right")) - 1, int(np.searchsorted(ptr, ptr[-1]))
        if begin >= end:
            return
        if self.asks_by_rows(counting.items.direction):
            first, last = np.clip((begin, end), row0, row0 + len(block)) - row0
            if ptr[row0 + first] < ptr[row0 + last]:
                self.count_rows(counting, block, row0, (int(first), int(last)), loop)
            return
        lo, hi = np.searchsorted(gallery, (row0, row0 + len(block)))
        if lo < hi:
            self.count_columns(counting, block, row0, gallery[lo:hi] - row0, (begin, end), loop)

    def _first_results(self, largest: LargestCells) -> FirstResults:
        first: FirstResults = {}
        for direction in DIRECTIONS:
            cells = largest.of_row if self.asks_by_rows(direction) else largest.of_column
            first[direction] = self.order(direction)[cells[self.maps(direction)[0]]]
        return first

    @abstractmethod
    def check_block(self, block: np.ndarray, row0: int, loop: Loop) -> None:
        """Raise where a block holds something that cannot be ranked."""

    @abstractmethod
    def count_rows(
        self, counting: Counting, block: np.ndarray, row0: int, span: tuple[int, int], loop: Loop
    ) -> None:
        """Add to the counts of the queries that are the rows of `span` of the block."""

    @abstractmethod
    def count_columns(
        self,
        counting: Counting,
        block: np.ndarray,
        row0: int,
        rows: np.ndarray,
        span: tuple[int, int],
        loop: Loop,
    ) -> None:
        """Add to the counts of the queries that are columns of `span`, over the given rows of the block."""

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
            raise InputError(f"the first {k} items were requested", fix="give 1 or more")
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


class LargestCells:
    """Where the largest cell of every row and of every column of a table is, block by block."""

    def __init__(self, shape: tuple[int, int]) -> None:
        # As wide as a score, so that both are compared and replaced together.
        self.of_row, self.of_column = (np.zeros(size, np.int32) for size in shape)
        self._largest: np.ndarray | None = None

    def add(self, block: np.ndarray, row0: int, loop: Loop) -> None:
        """Look at the rows of a block, which starts at row `row0`."""
        from karat.runs.kernels import largest_in_columns

        if self._largest is None:
            self._largest = np.full(len(self.of_column), -np.inf, block.dtype)
        self.of_row[row0 : row0 + len(block)] = block.argmax(axis=1)
        largest = self._largest
        loop(lambda b, e: largest_in_columns(block, row0, b, e, largest, self.of_column), 0, len(largest))


def other_benchmark(shape: tuple[int, int]) -> str:
    """Return the advice for a run whose images and captions are as many as another benchmark has; else "".

    >>> other_benchmark((5000, 25000)), other_benchmark((3, 7))
    ('as many as coco has: name its benchmark with -b', '')
    """
    names = of_size(*shape) or of_size(*shape[::-1])
    if not names:
        return ""
    return f"as many as {' and '.join(names)} ha{'ve' if len(names) > 1 else 's'}: name its benchmark with -b"


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
