"""One pass over the scores of a table: what is asked, tiles, and partial results that merge.

A table of scores is cut into tiles. Every tile adds to a `Partial`: for each judged item how many items
score higher or the same, and for each query the first k so far. Counts add up, and lists merge by exact score
and the order of equals; so the result does not depend on how the table is cut, on the order of the tiles, or
on where they are computed. A tile, a shard, a device or a machine is the same thing: something that adds to
a partial result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from karat._util import threads

Span = tuple[int, int]
"""A begin and an end."""
GAP = 16
"""Columns between the rows of a block. Rows that begin at multiples of 4 KB would share a place in a
processor's cache, and turning the block would take four times as long."""


@dataclass(frozen=True)
class Tile:
    """Rows begin to end and columns begin to end of a table."""

    rows: Span
    columns: Span

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns."""
        return self.rows[1] - self.rows[0], self.columns[1] - self.columns[0]

    def parts(self, step: tuple[int, int]) -> Iterator[Tile]:
        """Yield parts of at most so many rows and columns, one strip of columns after the other."""
        rows, columns = (list(spans(*span, size)) for span, size in zip((self.rows, self.columns), step))
        yield from (Tile(r, c) for c in columns for r in rows)

    def sides(self, by_rows: bool) -> tuple[Span, Span]:
        """Return the spans of the queries and of the items."""
        return (self.rows, self.columns) if by_rows else (self.columns, self.rows)


@dataclass(frozen=True)
class Grid:
    """A table cut into tiles of at most so many rows and columns.

    >>> [tile.columns for tile in Grid((2, 5), (4, 3)).tiles()]
    [(0, 3), (3, 5)]
    """

    shape: tuple[int, int]
    step: tuple[int, int]

    def __len__(self) -> int:
        return int(np.prod([-(-size // step) for size, step in zip(self.shape, self.step)]))

    def tiles(self) -> Iterator[Tile]:
        """Yield all tiles, one strip of columns after the other."""
        yield from Tile((0, self.shape[0]), (0, self.shape[1])).parts(self.step)


def spaced(room: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return a table in a part of `room` with `GAP` more columns than asked for."""
    rows, columns = shape[0], shape[1] + GAP
    return room[: rows * columns].reshape(rows, columns)


def spans(begin: int, end: int, step: int) -> Iterator[Span]:
    """Yield begin and end of the parts of a range.

    >>> list(spans(0, 5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    yield from ((at, min(at + step, end)) for at in range(begin, end, step))


@dataclass(frozen=True, eq=False)
class TileScores:
    """What a device needs to know of a tile.

    Parameters
    ----------
    tile
        Which rows and columns of the table.
    left, right
        The vectors of its rows and of its columns, whose products are the scores; without columns where the
        scores themselves are given.
    row_error, column_error
        Per row and per column, how far a product in the precision of the vectors is from the exact score at
        most; 0 where scores are given.
    scores, first_column
        The scores themselves, where they are given, in contiguous rows; the tile's first column among theirs.
    refuse
        Returns the error for a row and column of the table whose given score is not a number.
    """

    tile: Tile
    left: np.ndarray
    right: np.ndarray
    row_error: np.ndarray
    column_error: np.ndarray
    scores: np.ndarray | None = None
    first_column: int = 0
    refuse: Callable[[int, int, float], Exception] | None = None

    @property
    def dtype(self) -> np.dtype:
        """The type of the scores."""
        return self.left.dtype if self.scores is None else self.scores.dtype

    def block(self, part: Tile, room: np.ndarray) -> tuple[np.ndarray, int]:
        """Return an array with the scores of a part of the tile, and the column where they begin."""
        (r0, r1), (c0, c1) = part.rows, part.columns
        row, column = self.tile.rows[0], self.tile.columns[0]
        if self.scores is not None:
            return self.scores[r0 - row : r1 - row], self.first_column + c0 - column
        out = spaced(room, part.shape)
        left, right = self.left[r0 - row : r1 - row], self.right[c0 - column : c1 - column]
        np.matmul(left, right.T, out=out[:, : c1 - c0])
        return out, 0

    def finite(self, block: np.ndarray, left: int, width: int) -> bool:
        """Whether all scores of a block are numbers; products of vectors that were checked always are."""
        from karat.runs.kernels import first_not_finite

        return self.refuse is None or first_not_finite(block, left, left + width)[0] < 0

    def refusal(self) -> Exception:
        """Return the error for the first score, row by row, that is not a number."""
        from karat.runs.kernels import first_not_finite

        assert self.scores is not None
        assert self.refuse is not None
        left = self.first_column
        row, column = first_not_finite(self.scores, left, left + self.tile.shape[1])
        place = self.tile.rows[0] + row, self.tile.columns[0] + column - left
        return self.refuse(*place, float(self.scores[row, column]))

    def sides(self, by_rows: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
        """Return the vectors of queries and of items, the queries' errors, and the first query and item."""
        first = self.tile.rows[0], self.tile.columns[0]
        if by_rows:
            return self.left, self.right, self.row_error, *first
        return self.right, self.left, self.column_error, *first[::-1]


@dataclass(frozen=True, eq=False)
class RankCounts:
    """For judged items, how many items of the gallery score higher or the same, as far as was counted.

    Parameters
    ----------
    by_rows
        Whether the queries are the rows of the table.
    ptr, item
        Of every row or column that is a query, its judged items, as indices of the table.
    threshold
        The exact scores of the judged items.
    gallery, order
        The items that are ranked, sorted; and for each item its place among equals.
    above, tied, earlier
        What was counted; an item ties with itself.
    """

    by_rows: bool
    ptr: np.ndarray
    item: np.ndarray
    threshold: np.ndarray
    gallery: np.ndarray
    order: np.ndarray
    above: np.ndarray
    tied: np.ndarray
    earlier: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what was counted."""
        return {"above": self.above, "tied": self.tied, "earlier": self.earlier}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Replace what was counted, or raise where it cannot have been."""
        if any(a.size and not 0 <= a.min() <= a.max() <= len(self.gallery) for a in arrays.values()):
            raise ValueError("it counts more items than there are")
        for name, array in self.arrays().items():
            array[:] = arrays[name]

    def empty(self) -> RankCounts:
        """Return the same with nothing counted."""
        above, tied, earlier = (np.zeros_like(array) for array in self.arrays().values())
        return replace(self, above=above, tied=tied, earlier=earlier)

    def merge(self, other: RankCounts) -> None:
        """Add what was counted elsewhere."""
        for name, array in other.arrays().items():
            getattr(self, name)[:] += array


@dataclass(frozen=True, eq=False)
class Shortlists:
    """The first k of some queries so far, by exact score and the order of equals.

    Parameters
    ----------
    by_rows, k
        Whether the queries are the rows of the table; how many items are wanted.
    slot
        For every row or column that may be a query, the number of its list; -1 where none is wanted.
    gallery, order
        As in `RankCounts`.
    score, item, size
        The lists, sorted, and how long they are.
    """

    by_rows: bool
    k: int
    slot: np.ndarray
    gallery: np.ndarray
    order: np.ndarray
    score: np.ndarray = field(repr=False)
    item: np.ndarray = field(repr=False)
    size: np.ndarray = field(repr=False)

    @property
    def room(self) -> int:
        """How many items a device may note for a query before it has to decide."""
        return self.k + max(32, min(self.k, 256))

    @classmethod
    def of(
        cls, by_rows: bool, k: int, queries: np.ndarray, n: int, gallery: np.ndarray, order: np.ndarray
    ) -> Shortlists:
        """Return empty lists for queries, rows or columns of `n`."""
        slot = np.full(n, -1, np.int64)
        slot[queries] = np.arange(len(queries))
        score, item = np.full((len(queries), k), -np.inf), np.full((len(queries), k), -1, np.int64)
        return cls(by_rows, k, slot, gallery, order, score, item, np.zeros(len(queries), np.int64))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the lists."""
        return {"score": self.score, "item": self.item, "size": self.size}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Replace the lists, or raise where they cannot be: what compiled loops read is not checked there."""
        item, size = arrays["item"], arrays["size"]
        if item.size and not -1 <= item.min() <= item.max() < len(self.order):
            raise ValueError("it lists items that there are not")
        if (size.size and not 0 <= size.min() <= size.max() <= self.k) or np.isnan(arrays["score"]).any():
            raise ValueError("its lists are not lists of scores")
        for name, array in self.arrays().items():
            array[:] = arrays[name]

    def empty(self) -> Shortlists:
        """Return the same with empty lists."""
        return replace(
            self,
            score=np.full_like(self.score, -np.inf),
            item=np.full_like(self.item, -1),
            size=np.zeros_like(self.size),
        )

    def merge(self, other: Shortlists) -> None:
        """Add the lists of other items."""
        self.add_lists(np.arange(len(self.size)), other.item, other.score)

    def add_lists(self, slots: np.ndarray, item: np.ndarray, score: np.ndarray) -> None:
        """Add sorted lists of other items to some lists; item -1 fills up."""
        from karat.runs.top_kernels import merge_lists

        own = (self.item, self.score, self.size)
        with threads() as loop:
            loop(lambda b, e: merge_lists(b, e, slots, item, score, self.order, *own), 0, len(slots))


@dataclass(frozen=True, eq=False)
class Partial:
    """What the tiles so far have added."""

    counts: tuple[RankCounts, ...]
    lists: tuple[Shortlists, ...]

    @property
    def parts(self) -> tuple[RankCounts | Shortlists, ...]:
        """All counts and lists."""
        return (*self.counts, *self.lists)

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return sum(array.nbytes for part in self.parts for array in vars(part).values() if np.ndim(array))

    def empty(self) -> Partial:
        """Return the same request with nothing added yet, for another device or machine."""
        return Partial(tuple(c.empty() for c in self.counts), tuple(one.empty() for one in self.lists))

    def merge(self, other: Partial) -> None:
        """Add what other tiles have added elsewhere."""
        for own, theirs in zip(self.counts, other.counts):
            own.merge(theirs)
        for mine, its in zip(self.lists, other.lists):
            mine.merge(its)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything that changes, by name, for a file."""
        return {
            f"{number}.{name}": array
            for number, part in enumerate(self.parts)
            for name, array in part.arrays().items()
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Replace everything by what `arrays` returned."""
        for number, part in enumerate(self.parts):
            part.restore({name: arrays[f"{number}.{name}"] for name in part.arrays()})
