"""A GPU: tiles as large as memory allows, and everything about them computed there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import require
from karat.errors import InputError
from karat.runs.device import DEVICES
from karat.runs.memory import free_memory
from karat.runs.scan import Partial, RankCounts, Shortlists, Span, Tile, TileScores, spans

if TYPE_CHECKING:
    from karat.runs.fused_pass import Asked, TableAnswers

Part = RankCounts | Shortlists

MOST_LAYERS = 4
"""Judged items of a query that one look at the scores counts for; more take more looks."""
BUFFER = 64 << 20
"""Bytes that are copied at once between main memory and the GPU."""


class Gpu:
    """Computes the products of vectors with PyTorch; tables of given scores stay with the processor.

    Parameters
    ----------
    place
        Where PyTorch computes: "cuda", or "cpu", which computes the same more slowly.
    """

    step = (1 << 21, 1 << 21)
    """Rows and columns of a tile at most. What does not fit the GPU's memory is divided further there."""

    def __init__(self, place: str = "cuda") -> None:
        self.place = place

    @property
    def working(self) -> int:
        """Half of the memory that is free: the larger the tiles, the less is copied and merged."""
        return free_memory() // 2

    def check(self) -> None:
        """Raise where PyTorch finds no GPU."""
        require("torch", extra_name="train")
        import torch

        if self.place == "cuda" and not torch.cuda.is_available():
            raise InputError("torch finds no GPU", fix="choose --device cpu")

    def add(self, scores: TileScores, partial: Partial, threads: int) -> None:
        """Add all scores of a tile."""
        self.check()
        import torch

        if scores.scores is not None or scores.dtype != np.float32:
            # Nothing is multiplied, or single precision does not tell scores from each other.
            DEVICES["cpu"].add(scores, partial, threads)
            return
        copies = Copies(self.place)
        tables = None
        with suppress(torch.OutOfMemoryError):
            tables = [copies.to_device(side) for side in (scores.left, scores.right)]
        if tables is None:
            for half in halves_of(scores):
                self.add(half, partial, threads)
            return
        sides = (scores.tile.rows, scores.tile.columns)
        try:
            for group in groups(partial.parts, sides):
                TileQuestions(copies, tables, sides, group).add()
        except torch.OutOfMemoryError:
            from karat.runs.fused_pass import too_little_memory

            raise too_little_memory() from None


def halves_of(scores: TileScores) -> Iterator[TileScores]:
    """Yield two tiles of vectors instead of one that the device has no room for."""
    from karat.runs.fused_pass import LEAST, too_little_memory

    rows, columns = scores.tile.rows, scores.tile.columns
    by_rows = len(scores.left) >= len(scores.right)
    begin, end = rows if by_rows else columns
    if end - begin <= LEAST:
        raise too_little_memory()
    for span in ((begin, (begin + end) // 2), ((begin + end) // 2, end)):
        cut = slice(span[0] - begin, span[1] - begin)
        if by_rows:
            left, error = scores.left[cut], scores.row_error[cut]
            yield replace(scores, tile=Tile(span, columns), left=left, row_error=error)
        else:
            right, error = scores.right[cut], scores.column_error[cut]
            yield replace(scores, tile=Tile(rows, span), right=right, column_error=error)


def groups(parts: Sequence[Part], sides: tuple[Span, Span]) -> list[list[Part]]:
    """Return which counts and lists can share a look at a tile.

    Those of one direction can with the same items in the same order; those of different directions where
    all of the tile's rows and columns are items.
    """

    def items(part: Part) -> Span:
        return sides[1 if part.by_rows else 0]

    def whole(part: Part) -> bool:
        begin, end = items(part)
        return len(inside(part.gallery, (begin, end))) == end - begin

    def alike(one: Part, other: Part) -> bool:
        if one.by_rows != other.by_rows:
            return whole(one) and whole(other)
        span = items(one)
        return np.array_equal(inside(one.gallery, span), inside(other.gallery, span)) and np.array_equal(
            one.order[slice(*span)], other.order[slice(*span)]
        )

    found: list[list[Part]] = []
    for part in parts:
        group = next((group for group in found if all(alike(part, other) for other in group)), None)
        if group is None:
            found.append([part])
        else:
            group.append(part)
    return found


def inside(gallery: np.ndarray, span: Span) -> np.ndarray:
    """Return the items of a gallery that are in a span, counted from its begin.

    >>> inside(np.array([1, 4, 6, 9]), (4, 8))
    array([0, 2])
    """
    first, last = np.searchsorted(gallery, span)
    return gallery[first:last] - span[0]


@dataclass(frozen=True, eq=False)
class TileQuestions:
    """A tile with counts and lists that can share a look at it.

    Parameters
    ----------
    copies
        Brings arrays to the device and back.
    tables
        The vectors of its rows and of its columns, on the device.
    sides
        Its rows and its columns in the whole table.
    parts
        The counts and lists.
    """

    copies: Copies
    tables: Sequence[Any]
    sides: tuple[Span, Span]
    parts: Sequence[Part]

    def add(self) -> None:
        """Add to all counts and lists."""
        looks = [list(self.looks(side)) for side in (0, 1)]
        for number in range(max(map(len, looks))):
            asked = [
                look[number] if number < len(look) else self.nothing(side) for side, look in enumerate(looks)
            ]
            queries = [one.queries() for one in asked]
            if sum(len(some) / len(table) for some, table in zip(queries, self.tables)) >= 1:
                self.look(asked, [None, None])
                continue
            # A few queries of each side with all items take less than everything with everything.
            for side in (0, 1):
                if len(queries[side]):
                    alone = [asked[0], self.nothing(1)] if side == 0 else [self.nothing(0), asked[1]]
                    self.look(alone, [queries[0], None] if side == 0 else [None, queries[1]])

    def nothing(self, side: int) -> SideQuestions:
        """Return that one side asks nothing."""
        return SideQuestions(self.sides[side], self.sides[1 - side], [], [])

    def looks(self, side: int) -> Iterator[SideQuestions]:
        """Yield what one side asks in each look: as many judged items per query as one look takes."""
        begin, end = self.sides[side]
        layers: list[Layer] = []
        lists: list[Shortlists] = []
        for part in self.parts:
            if part.by_rows != (side == 0):
                continue
            if isinstance(part, Shortlists):
                lists.append(part)
                continue
            number = np.diff(part.ptr[begin : end + 1])
            for layer in range(int(number.max(initial=0))):
                query = np.flatnonzero(number > layer)
                layers.append(Layer(part, query, part.ptr[begin:end][query] + layer))
        # What most queries have comes first, so that later looks are about few.
        layers.sort(key=lambda layer: len(layer.query), reverse=True)
        for first in range(0, max(len(layers), bool(lists)), MOST_LAYERS):
            asked = layers[first : first + MOST_LAYERS]
            yield SideQuestions((begin, end), self.sides[1 - side], asked, [] if first else lists)

    def look(self, asked: Sequence[SideQuestions], some: Sequence[np.ndarray | None]) -> None:
        """Look at all scores of the tile once, or at those of some queries of the one side that asks."""
        from karat.runs.fused_pass import scan_in_parts

        # The rows of a side's table that are used: those that ask, or those that the other side ranks.
        used = [asked[1 - side].items() if some[side] is None else some[side] for side in (0, 1)]
        tables = [
            table if rows is None else table[self.copies.to_device(rows)]
            for table, rows in zip(self.tables, used)
        ]
        if not all(map(len, tables)):
            return
        questions = [
            one.on_device(self.copies, queries, items, len(table))
            for one, queries, items, table in zip(asked, some, used[::-1], tables)
        ]
        for one, answer, queries, items in zip(asked, scan_in_parts(*tables, *questions), some, used[::-1]):
            one.add(self.copies, answer, queries, items)


@dataclass(frozen=True, eq=False)
class Layer:
    """At most one judged item of every query: the counts it belongs to, the queries, and its rows there."""

    counts: RankCounts
    query: np.ndarray
    judged: np.ndarray


@dataclass(frozen=True, eq=False)
class SideQuestions:
    """What the queries of one side of a tile ask in one look.

    Parameters
    ----------
    query_span, item_span
        The queries and the items of the tile in the whole table.
    layers, lists
        The judged items to count for, and the lists to fill; all with the same items in the same order.
    """

    query_span: Span
    item_span: Span
    layers: Sequence[Layer]
    lists: Sequence[Shortlists]

    @property
    def parts(self) -> list[Part]:
        """All counts and lists."""
        return [*(layer.counts for layer in self.layers), *self.lists]

    def queries(self) -> np.ndarray:
        """Return the queries that ask something, counted from the tile's first."""
        begin, end = self.query_span
        asks = np.zeros(end - begin, bool)
        for layer in self.layers:
            asks[layer.query] = True
        for one in self.lists:
            asks |= one.slot[begin:end] >= 0
        return np.flatnonzero(asks)

    def items(self) -> np.ndarray | None:
        """Return the items that are ranked, counted from the tile's first; None for all."""
        if not self.parts:
            return None
        items = inside(self.parts[0].gallery, self.item_span)
        return None if len(items) == self.item_span[1] - self.item_span[0] else items

    def on_device(
        self, copies: Copies, some: np.ndarray | None, items: np.ndarray | None, queries: int
    ) -> Asked:
        """Return what is asked, by so many queries: all, or `some`."""
        from karat.runs.fused_pass import NOTHING, Asked

        # Kernels are compiled for a number of judged items: so there are two numbers.
        scores = np.full((1 if len(self.layers) < 2 else MOST_LAYERS, queries), NOTHING)
        places = np.zeros(scores.shape, np.int64)
        for number, layer in enumerate(self.layers):
            query = layer.query if some is None else np.searchsorted(some, layer.query)
            scores[number, query] = layer.counts.threshold[layer.judged]
            places[number, query] = layer.counts.order[layer.counts.item[layer.judged]]
        begin, end = self.item_span
        order = self.parts[0].order[begin:end] if self.parts else np.arange(end - begin)
        order = order if items is None else order[items]
        k = max((one.k for one in self.lists), default=0)
        return Asked(copies.to_device(scores), copies.to_device(places), copies.to_device(order), k)

    def add(
        self, copies: Copies, answer: TableAnswers, some: np.ndarray | None, items: np.ndarray | None
    ) -> None:
        """Add an answer to the counts and lists."""
        for number, layer in enumerate(self.layers):
            query = layer.query if some is None else np.searchsorted(some, layer.query)
            for name in ("above", "tied", "earlier"):
                counted = copies.to_host(getattr(answer, name)[number])
                getattr(layer.counts, name)[layer.judged] += counted[query]
        if not self.lists:
            return
        item, score = copies.to_host(answer.item.int()), copies.to_host(answer.score)
        item = self.item_span[0] + (item.astype(np.int64) if items is None else items[item])
        begin, end = self.query_span
        for one in self.lists:
            slot = one.slot[begin:end] if some is None else one.slot[begin:end][some]
            asked = slice(None) if (slot >= 0).all() else np.flatnonzero(slot >= 0)
            one.add_lists(slot[asked], item[asked, : one.k], score[asked, : one.k])


class Copies:
    """Copies between main memory and a device by way of two pinned buffers.

    While one is on its way, the other is filled or emptied.
    """

    def __init__(self, place: str) -> None:
        import torch

        self.place = place
        self.buffers = []
        if place == "cuda":
            self.buffers = [
                (torch.empty(BUFFER, dtype=torch.uint8, pin_memory=True), torch.cuda.Event())
                for _ in range(2)
            ]

    def to_device(self, array: np.ndarray) -> Any:
        """Return an array as a tensor there."""
        import torch

        if self.place != "cuda":
            return torch.tensor(array)
        kind = torch.from_numpy(np.empty(0, array.dtype)).dtype
        made = torch.empty(array.shape, dtype=kind, device=self.place)
        source, target = np.ascontiguousarray(array).reshape(-1), made.view(-1)
        for turn, (begin, end) in enumerate(spans(0, source.size, BUFFER // array.itemsize)):
            buffer, done = self.part(turn, end - begin, kind)
            done.synchronize()
            np.copyto(buffer.numpy(), source[begin:end])
            target[begin:end].copy_(buffer, non_blocking=True)
            done.record()
        return made

    def to_host(self, tensor: Any) -> np.ndarray:
        """Return a tensor as an array here."""
        if self.place != "cuda":
            return tensor.numpy()
        source = tensor.contiguous().view(-1)
        made = np.empty(len(source), tensor[:0].cpu().numpy().dtype)
        arriving: tuple[Any, Any, Span] | None = None
        for turn, (begin, end) in enumerate(spans(0, len(source), BUFFER // made.itemsize)):
            buffer, done = self.part(turn, end - begin, tensor.dtype)
            buffer.copy_(source[begin:end], non_blocking=True)
            done.record()
            self.take(made, arriving)
            arriving = buffer, done, (begin, end)
        self.take(made, arriving)
        return made.reshape(tuple(tensor.shape))

    def part(self, turn: int, size: int, kind: Any) -> tuple[Any, Any]:
        """Return a buffer for so many numbers, and what tells when it is free."""
        buffer, done = self.buffers[turn % 2]
        return buffer[: size * kind.itemsize].view(kind), done

    @staticmethod
    def take(made: np.ndarray, arriving: tuple[Any, Any, Span] | None) -> None:
        """Copy what has arrived to its place."""
        if arriving is not None:
            buffer, done, span = arriving
            done.synchronize()
            made[slice(*span)] = buffer.numpy()


DEVICES.add("cuda", Gpu())
