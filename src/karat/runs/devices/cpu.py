"""The processor: blocks that stay in its cache, on several threads."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from karat._util import stage
from karat._util import threads as thread_loop
from karat.runs.device import DEVICES
from karat.runs.scan import (
    GAP,
    Partial,
    RankCounts,
    Shortlists,
    Span,
    Tile,
    TileScores,
    spaced,
    spans,
)

BLOCK = (512, 1024)
"""Rows and columns that are computed at once: their scores stay in a processor's second cache."""


class Processor:
    """Computes one block per thread and counts while it is in the cache.

    Each thread multiplies alone: threads of a matrix library that share one product wait for each other
    and go on spinning when it is done.
    """

    step = (8192, 32768)
    """A few seconds of work."""
    working = 1 << 30

    def check(self) -> None:
        """Every machine has one."""

    def add(self, scores: TileScores, partial: Partial, threads: int) -> None:
        """Add all scores of a tile."""
        work: list[Counting | Listing] = [Counting(scores, counts) for counts in partial.counts]
        work += [Listing(scores, lists) for lists in partial.lists]
        blocks = TileBlocks(scores.tile)
        stop, refused = threading.Event(), threading.Event()

        def compute() -> None:
            room, turned = (
                np.empty(height * (width + GAP), scores.dtype) for height, width in (BLOCK, BLOCK[::-1])
            )
            for part, row_lock, column_lock in blocks:
                if stop.is_set():
                    return
                block, left = scores.block(part, room)
                height, width = part.shape
                if not scores.finite(block, left, width):
                    refused.set()
                    stop.set()
                    return
                concerned = [one for one in work if one.concerns(part)]
                if any(one.by_rows for one in concerned):
                    with row_lock:
                        for one in concerned:
                            if one.by_rows:
                                one.add(block, left, part.rows, part.columns)
                if not all(one.by_rows for one in concerned):
                    across = spaced(turned, (width, height))
                    np.copyto(across[:, :height], block[:, left : left + width].T)
                    with column_lock:
                        for one in concerned:
                            if not one.by_rows:
                                one.add(across, 0, part.columns, part.rows)
                going.advance()

        workers = min(threads, len(blocks))
        with stage("blocks", len(blocks)) as going:
            if workers == 1:
                compute()
            else:
                with ThreadPoolExecutor(workers) as pool:
                    try:
                        for done in [pool.submit(compute) for _ in range(workers)]:
                            done.result()
                    finally:
                        stop.set()
        if refused.is_set():
            raise scores.refusal()
        for one in work:
            one.finish(threads)


class TileBlocks:
    """The blocks of a tile, handed out to threads, each with the locks of its rows and of its columns.

    Two that follow each other share neither rows nor columns where there are several, so that no lock waits
    for long.
    """

    def __init__(self, tile: Tile) -> None:
        self.rows, self.columns = (
            [(span, threading.Lock()) for span in spans(*whole, step)]
            for whole, step in zip((tile.rows, tile.columns), BLOCK)
        )
        self._next = itertools.count()

    def __len__(self) -> int:
        return len(self.rows) * len(self.columns)

    def __iter__(self) -> Iterator[tuple[Tile, threading.Lock, threading.Lock]]:
        while (number := next(self._next)) < len(self):
            turn, row = divmod(number, len(self.rows))
            rows, row_lock = self.rows[row]
            columns, column_lock = self.columns[(turn + row) % len(self.columns)]
            yield Tile(rows, columns), row_lock, column_lock


class Gallery:
    """The items that are ranked, as parts of spans of all items."""

    def __init__(self, items: np.ndarray) -> None:
        self.items = items
        self._parts: dict[Span, tuple[int, int, np.ndarray]] = {}

    def part(self, span: Span) -> tuple[int, int, np.ndarray]:
        """Return the first item in a span, one past the last, and all of them where some are missing."""
        if span not in self._parts:
            some = self.items[slice(*np.searchsorted(self.items, span))]
            begin, end = (int(some[0]), int(some[-1]) + 1) if len(some) else (0, 0)
            self._parts[span] = (begin, end, some[:0] if end - begin == len(some) else some)
        return self._parts[span]


class Counting:
    """What a tile adds to the counts of judged items."""

    def __init__(self, scores: TileScores, counts: RankCounts) -> None:
        self.by_rows, self.counts = counts.by_rows, counts
        self.gallery = Gallery(counts.gallery)
        self.sides = scores.sides(counts.by_rows)

    def concerns(self, part: Tile) -> bool:
        """Whether a block has queries with judged items, and items of the gallery."""
        queries, items = part.sides(self.by_rows)
        ptr = self.counts.ptr
        return bool(ptr[queries[0]] < ptr[queries[1]]) and self.gallery.part(items)[1] > 0

    def add(self, block: np.ndarray, left: int, queries: Span, items: Span) -> None:
        """Add a block, whose rows are the queries."""
        from karat.runs.kernels import count_in_block

        c, (begin, end, listed) = self.counts, self.gallery.part(items)
        count_in_block(
            block, left, begin, end, queries[0], items[0], listed,
            c.ptr, c.item, c.threshold, c.order, c.above, c.tied, c.earlier, *self.sides,
        )  # fmt: skip

    def finish(self, threads: int) -> None:
        """Nothing is left to do: the counts are those of all tiles."""


class Listing:
    """What a tile adds to the first k of queries: longer lists of what may be among them."""

    def __init__(self, scores: TileScores, lists: Shortlists) -> None:
        self.by_rows, self.lists = lists.by_rows, lists
        self.gallery = Gallery(lists.gallery)
        self.sides = scores.sides(lists.by_rows)
        begin, end = scores.tile.sides(lists.by_rows)[0]
        slot = lists.slot[begin:end]
        self.query = np.flatnonzero(slot >= 0)
        """Of each list, its query, counted from the first of the tile."""
        self.place = slot[self.query]
        self.slot = np.full(len(slot), -1, np.int64)
        self.slot[self.query] = np.arange(len(self.query))
        self.before = np.r_[0, np.cumsum(slot >= 0)]
        self.first = begin
        room = (len(self.query), lists.room)
        self.score, self.item, self.known = np.empty(room), np.empty(room, np.int64), np.ones(room, np.uint8)
        self.score[:, : lists.k], self.item[:, : lists.k] = lists.score[self.place], lists.item[self.place]
        self.size = lists.size[self.place]
        last = lists.score[self.place, -1] - 1.5 * self.sides[2][self.query]
        self.bar = np.where(self.size == lists.k, last, -np.inf)

    def concerns(self, part: Tile) -> bool:
        """Whether a block has queries whose first items are wanted, and items of the gallery."""
        queries, items = part.sides(self.by_rows)
        before = self.before[queries[0] - self.first], self.before[queries[1] - self.first]
        return bool(before[0] < before[1]) and self.gallery.part(items)[1] > 0

    def add(self, block: np.ndarray, left: int, queries: Span, items: Span) -> None:
        """Add a block, whose rows are the queries."""
        from karat.runs.top_kernels import list_in_block

        begin, end, listed = self.gallery.part(items)
        list_in_block(
            block, left, begin, end, queries[0], items[0], listed, self.slot, self.lists.k, self.lists.order,
            self.score, self.item, self.known, self.size, self.bar, *self.sides,
        )  # fmt: skip

    def finish(self, threads: int) -> None:
        """Keep the first k by their exact scores."""
        from karat.runs.top_kernels import settle_lists

        k, (queries, items, error, _, item0) = self.lists.k, self.sides
        with thread_loop(threads) as loop:
            loop(
                lambda begin, end: settle_lists(
                    begin, end, k, self.lists.order, self.score, self.item, self.known, self.size,
                    self.query, queries, items, error, item0,
                ),
                0,
                len(self.query),
            )  # fmt: skip
        self.lists.score[self.place] = self.score[:, :k]
        self.lists.item[self.place] = self.item[:, :k]
        self.lists.size[self.place] = self.size


DEVICES.add("cpu", Processor())
