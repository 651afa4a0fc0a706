"""Runs that are tables of scores, given or computed: read in blocks, in one orientation or the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from karat._util import thread_count
from karat._util import threads as thread_loop
from karat.benchmarks import Benchmark, Direction, JudgedItems, asks_first, directions_of, of_size, same_side
from karat.runs.one_pass import one_pass
from karat.runs.run import SIDES, PassOptions, Run, Scanned, Top, TopRequest, id_places, with_whole_ties
from karat.runs.scan import Partial, RankCounts, Shortlists, Tile, TileScores

SIMILARITIES = ("dot", "cosine")
"""How two embeddings make a score."""
BLOCK_BYTES = 64 << 20
MOST_ROWS = 512
"""Rows that are read at once by what looks at whole rows."""


DEEP = 4
"""The first k are listed in the pass where the gallery has at least so many times k items."""
MOST_LISTED = 512 << 20
"""Bytes of lists that one pass makes at most; deeper requests are answered query by query."""


class TableRun(Run):
    """A run whose scores form a table of rows by columns, computed or read block by block.

    `rows` says which side the rows are; `row_of` and `column_of` give, for each index of the
    benchmark, the row or column of the table.
    """

    rows: str = "images"
    row_of: np.ndarray | None = None
    column_of: np.ndarray | None = None

    ids_where: str | None = None
    """The file of the ids, for messages."""

    def __init__(self, name: str, ids: dict[str, Any] | None = None, where: str | None = None) -> None:
        super().__init__(name, where)
        self.ids = ids or {}

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the table."""

    @property
    def images_by_captions(self) -> tuple[int, int]:
        """The number of items of each side."""
        return self.shape if self.rows == "images" else self.shape[::-1]

    @property
    def directions(self) -> tuple[Direction, ...]:
        """A table has all of its benchmark's."""
        return directions_of(self.sides)

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
        maps = [
            known.arrangement(self.ids[side], self.ids_where or self.where) if side in self.ids else None
            for side, known in zip(SIDES, benchmark.ids)
        ]
        aligned.row_of, aligned.column_of = maps if aligned.rows == "images" else maps[::-1]
        return aligned

    def asks_by_rows(self, direction: Direction) -> bool:
        """Whether the queries of `direction` are the table's rows."""
        return asks_first(direction) == (self.rows == "images")

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
        step = int(np.clip(BLOCK_BYTES // (4 * n_columns), 16, MOST_ROWS))
        for begin in range(0, n_rows, step):
            yield begin, self.block(begin, min(begin + step, n_rows))

    def _scan(self, items: list[JudgedItems], tops: list[TopRequest], options: PassOptions) -> Scanned:
        """Return where items come out and the first items of queries, in one pass over the tiles."""
        number = thread_count(options.threads)
        if options.memory is None:
            options = replace(options, memory=self.memory)
        # Of a collection that is searched with its own items each query is listed, and then taken out.
        requests = [replace(request, k=request.k + same_side(request.direction)) for request in tops]
        listed = self.listed_in_pass(requests, bool(items), options.memory)
        partial = Partial(
            tuple(self.counts(part) for part in items),
            tuple(self.shortlists(request) for request in listed),
        )
        if partial.parts:
            one_pass(self, partial, number, options)
        placed = [self.placed(part, counts) for part, counts in zip(items, partial.counts)]
        lists = dict(zip(listed, partial.lists))
        answers = [
            self.top_of(request, lists[request]) if request in lists else self.query_tops(request)
            for request in requests
        ]
        return Scanned(placed, tops=list(map(without_query, tops, answers)))

    def listed_in_pass(
        self, requests: Sequence[TopRequest], passes: bool, memory: int | None
    ) -> list[TopRequest]:
        """Return the requests that are answered in a pass over the whole table.

        Not those that go deep; and not a few queries alone, of whom the rest of the table is not needed.
        """
        sizes = {r.direction: [len(side) for side in self.maps(r.direction)] for r in requests}
        listed, room = [], MOST_LISTED if memory is None else memory // 4
        whole = passes
        for request in requests:
            n_queries, n_items = sizes[request.direction]
            n_asked = n_queries if request.queries is None else len(request.queries)
            gallery = n_items if request.gallery is None else len(request.gallery)
            size = 16 * n_asked * (request.k + 1)
            if gallery and (request.k == 1 or request.k * DEEP <= gallery) and size <= room:
                room -= size
                listed.append(request)
                whole = whole or 2 * n_asked >= n_queries
        return listed if whole else []

    def counts(self, items: JudgedItems) -> RankCounts:
        """Return what a pass has to count for judged items, in the table's own rows and columns."""
        query_of, item_of = self.maps(items.direction)
        by_rows = self.asks_by_rows(items.direction)
        query = query_of[items.query_of_row]
        sorting = np.argsort(query, kind="stable")
        query, item = query[sorting], item_of[items.item][sorting]
        cells = (query, item) if by_rows else (item, query)
        return RankCounts(
            by_rows,
            np.searchsorted(query, np.arange(len(query_of) + 1)),
            item,
            self.pair_scores(*cells).astype(np.float64),
            np.arange(len(item_of)) if items.gallery is None else np.sort(item_of[items.gallery]),
            self.tie_order(items.direction),
            *(np.zeros(len(query), np.int64) for _ in range(3)),
        )

    def placed(self, items: JudgedItems, counts: RankCounts) -> JudgedItems:
        """Return items with what was counted in the table's own order; an item does not tie with itself."""
        query_of, item_of = self.maps(items.direction)
        sorting = np.argsort(query_of[items.query_of_row], kind="stable")
        size = np.full(len(items.queries), len(counts.gallery))
        counted = np.stack([counts.above, counts.tied - 1, counts.earlier])
        if same_side(items.direction):
            counted -= self.own_counts(items.direction, items.query_of_row[sorting], counts)
            size -= np.isin(item_of[items.queries], counts.gallery)
        above, tied, earlier = np.empty_like(counted)
        above[sorting], tied[sorting], earlier[sorting] = counted
        return replace(items, above=above, tied=tied, earlier=earlier, size=size, depth=size)

    def own_counts(self, direction: Direction, query: np.ndarray, counts: RankCounts) -> np.ndarray:
        """Return what the query itself, which is an item here, adds to the counts of each judged item."""
        own = self.maps(direction)[1][query]
        # Scores are exact, so that they compare as they do in the pass.
        score = self.pairs(direction, query, query)
        inside = np.isin(own, counts.gallery)
        same = inside & (score == counts.threshold)
        before = same & (counts.order[own] < counts.order[counts.item])
        return np.stack([inside & (score > counts.threshold), same, before])

    def shortlists(self, request: TopRequest) -> Shortlists:
        """Return the lists that a pass has to make for a request."""
        query_of, item_of = self.maps(request.direction)
        queries = query_of if request.queries is None else query_of[np.unique(request.queries)]
        gallery = np.sort(item_of if request.gallery is None else item_of[request.gallery])
        return Shortlists.of(
            self.asks_by_rows(request.direction),
            # One more, which tells whether others tie with the last.
            min(request.k + request.whole_ties, len(gallery)),
            queries,
            len(query_of),
            gallery,
            self.order(request.direction),
        )

    def top_of(self, request: TopRequest, lists: Shortlists) -> Top:
        """Return the answer to a request from its lists."""
        listed = np.arange(lists.k) < lists.size[:, None]
        top = Top(np.r_[0, np.cumsum(lists.size)], lists.order[lists.item[listed]], lists.score[listed])
        asked = np.arange(len(lists.size)) if request.queries is None else request.queries
        distinct, place = np.unique(asked, return_inverse=True)
        if request.whole_ties:
            # Only where more items tie than are listed all scores of a query are looked at again.
            top = with_whole_ties(
                top, request.k, lambda some: self.query_tops(replace(request, queries=distinct[some]))
            )
        return top if request.queries is None else top.of(place)

    @abstractmethod
    def tile_bytes(self, step: tuple[int, int]) -> int:
        """Return how much memory it takes to read a tile of so many rows and columns."""

    @abstractmethod
    def tile_scores(self, tile: Tile, before: TileScores | None) -> TileScores:
        """Read a tile; `before` is the one that was read before it, in a pass along strips of columns."""

    @abstractmethod
    def digest(self) -> bytes:
        """Return what changes with the scores, to recognise them."""

    def query_tops(self, request: TopRequest) -> Top:
        """Return the answer to a request from all scores of its queries, a few queries at a time."""
        direction, k, whole_ties = request.direction, request.k, request.whole_ties
        query_of, item_of = self.maps(direction)
        queries = np.arange(len(query_of)) if request.queries is None else np.asarray(request.queries)
        items = np.arange(len(item_of)) if request.gallery is None else np.asarray(request.gallery)
        k = min(k, len(items))
        as_kept = request.gallery is None and np.array_equal(item_of, items)
        step = max(1, BLOCK_BYTES // (8 * len(item_of)))
        if not k:
            return Top(np.zeros(len(queries) + 1, int), np.zeros(0, int), np.zeros(0))
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


def without_query(request: TopRequest, top: Top) -> Top:
    """Return the answer to a request, from that for one item more where the query is among the items."""
    if not same_side(request.direction):
        return top
    lengths = np.diff(top.ptr)
    queries = np.arange(len(lengths)) if request.queries is None else request.queries
    return top.where(top.item != np.repeat(queries, lengths)).cut(request.k, request.whole_ties)


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
