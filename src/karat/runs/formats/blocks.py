"""Tables that are not in memory: read or made block by block, and refused where they are too large."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from karat._util import GZIP, not_finite, parsing, stage
from karat.errors import InputError
from karat.runs.vectors import Shard, Vectors

BLOCK_BYTES = 64 << 20
MOST_BYTES = 64 << 30
BOMB_BYTES = 2 << 30
BOMB_RATIO = 1000


class Blocks:
    """A table of known shape and type whose rows are made on demand.

    Parameters
    ----------
    shape, dtype
        Of the whole table.
    make
        Returns an iterator over arrays of consecutive rows.

    Examples
    --------
    >>> table = Blocks((4, 2), np.float32, lambda: iter([np.zeros((3, 2)), np.ones((1, 2))]))
    >>> np.asarray(table)[:, 0].tolist()
    [0.0, 0.0, 0.0, 1.0]
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, make: Callable[[], Iterator[np.ndarray]]) -> None:
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.make = make

    def __iter__(self) -> Iterator[np.ndarray]:
        with stage("rows of the table", self.shape[0]) as rows:
            for block in self.make():
                yield block
                rows.advance(len(block))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        out = np.empty(self.shape, dtype or self.dtype)
        row = 0
        for block in self:
            out[row : row + len(block)] = block
            row += len(block)
        return out


class MappedShard(Shard):
    """Numbers at a place in a file, mapped and not read."""

    def __init__(
        self,
        path: Path,
        shape: tuple[int, ...],
        dtype: Any,
        offset: int,
        order: Any = "C",
        stored_as: str = "",
    ) -> None:
        super().__init__(path, shape, dtype, stored_as)
        self.offset, self.order = offset, order
        if path.stat().st_size < offset + math.prod(shape) * self.stored.itemsize:
            raise ValueError(shape)

    def open(self) -> Any:
        """Map the file."""
        return self.map(self.stored)

    def map(self, dtype: np.dtype) -> np.ndarray:
        """Map numbers of a type; the file may have changed since its header was read."""
        with parsing(self.path, "is no longer complete", "write it again"):
            return np.memmap(self.path, dtype, "r", self.offset, self.shape, self.order)


def check_unpacked(path: Path) -> None:
    """Raise where a file that is read in place is compressed, whatever it is called."""
    with path.open("rb") as handle:
        if handle.read(2) == GZIP:
            what = "is compressed with gzip, and tables are read in place"
            raise InputError(what, where=path, fix="unpack it with gunzip")


def rows_per_block(shape: tuple[int, ...], itemsize: int) -> int:
    """Return how many rows make a block of bounded size."""
    return max(1, BLOCK_BYTES // max(1, itemsize * math.prod(shape[1:])))


def blocks(table: Any) -> Iterator[np.ndarray]:
    """Yield the rows of an array, a memory map, vectors or `Blocks` in parts of bounded size."""
    if isinstance(table, Blocks):
        yield from table
        return
    if isinstance(table, Vectors):
        for begin, end in table.spans(rows_per_block(table.shape, table.stored.itemsize)):
            yield table.read_stored(begin, end)
        return
    step = rows_per_block(table.shape, table.dtype.itemsize)
    for begin in range(0, len(table), step):
        yield np.asarray(table[begin : begin + step])


def stored_type(table: Any) -> np.dtype:
    """Return the type in which a table is kept, and in which it is written elsewhere."""
    return table.stored if isinstance(table, Vectors) else table.dtype


def finite_blocks(table: Any, where: str | Path) -> Iterator[np.ndarray]:
    """Yield blocks and raise on the first NaN or infinity."""
    begin = 0
    for block in blocks(table):
        if block.dtype.kind == "f" and not np.isfinite(block).all():
            row, column = np.argwhere(~np.isfinite(block))[0]
            file, number = table.place(begin + row) if isinstance(table, Vectors) else (where, begin + row)
            raise not_finite(file, int(number), int(column), float(block[row, column]))
        yield block
        begin += len(block)


def write_rows(handle: IO[bytes], table: Any, where: str | Path) -> None:
    """Write the bare numbers of a table, block by block, least byte first."""
    dtype = stored_type(table).newbyteorder("<")
    for block in finite_blocks(table, where):
        handle.write(np.ascontiguousarray(block, dtype).tobytes())


def check_declared(path: Path | str, declared: int, stored: int) -> None:
    """Raise where a file would unpack to more than memory or sense allows, before it is unpacked.

    >>> check_declared("scores.npz", 5 << 30, 1 << 20)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: scores.npz: would unpack 1,048,576 bytes to 5,368,709,120; save it as npy.
    """
    bomb = declared > BOMB_BYTES and declared > BOMB_RATIO * max(stored, 1)
    if declared > MOST_BYTES or bomb:
        raise InputError(f"would unpack {stored:,} bytes to {declared:,}", where=path, fix="save it as npy")
