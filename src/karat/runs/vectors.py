"""Tables of vectors, in memory or in files: read a part at a time, whatever they are kept in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from karat._util import check_table
from karat.errors import InputError
from karat.runs.matrix import as_float

OPEN_SHARDS = 32
"""How many files of one table are open at the same time."""


class Vectors(ABC):
    """Rows of numbers that need not be in memory.

    `shape` is known without reading; `dtype` is what `read` and `take` return: float32, or float64 where the
    numbers need it; `stored` is what `read_stored` returns: the type in the file, or float32 for bfloat16,
    which numpy lacks. `where` names the file for messages. Several threads may read at the same time.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    stored: np.dtype
    where: str | None = None

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def read_stored(self, begin: int, end: int) -> np.ndarray:
        """Return rows begin to end in the type in which they are kept."""

    def read(self, begin: int, end: int) -> np.ndarray:
        """Return rows begin to end as contiguous floats; a view where they are in memory already."""
        return as_float(np.require(self.read_stored(begin, end), requirements="A"))

    @abstractmethod
    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return single rows, in the order given."""

    def place(self, row: int) -> tuple[str | None, int]:
        """Return the file that a row is in and its number there, for messages."""
        return self.where, row

    def spans(self, step: int) -> Iterator[tuple[int, int]]:
        """Yield begin and end of parts of at most `step` rows, none of which crosses a file."""
        for begin in range(0, len(self), step):
            yield begin, min(begin + step, len(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.read_stored(0, len(self)).astype(dtype or self.stored, copy=bool(copy))


class ArrayVectors(Vectors):
    """Vectors in an array or a memory map.

    >>> ArrayVectors(np.eye(3, dtype=np.float16)).read(1, 2)
    array([[0., 1., 0.]], dtype=float32)
    """

    def __init__(self, table: Any, where: str | None = None) -> None:
        self.table = check_table(table, where)
        self.where = where
        self.shape = self.table.shape
        self.stored = self.table.dtype
        self.dtype = as_float(self.table[:0]).dtype

    def read_stored(self, begin: int, end: int) -> np.ndarray:
        """Return rows begin to end as they are."""
        return np.asarray(self.table[begin:end])

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return single rows."""
        return as_float(np.asarray(self.table[rows]))


def is_mapped(table: Any) -> bool:
    """Whether a table is a file that is mapped, or a view of one, which no longer says so by its type.

    >>> is_mapped(ArrayVectors(np.eye(2)))
    False
    """
    array = table.table if isinstance(table, ArrayVectors) else table
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


class Shard(ABC):
    """One file of a table, or one table of a file: known by its header, opened where rows are read.

    `stored_as` is the name of its type in the file, such as bfloat16.
    """

    def __init__(self, path: Path, shape: Sequence[int], stored: Any, stored_as: str = "") -> None:
        self.path = path
        self.stored = np.dtype(stored)
        self.stored_as = stored_as or self.stored.name
        # A table of this shape that takes no memory: what is wrong with it is said in the same words.
        check_table(np.broadcast_to(np.zeros((), self.stored), tuple(shape)), path)
        self.shape = (int(shape[0]), int(shape[1]))
        self.named: Sequence[Any] | None = None

    @abstractmethod
    def open(self) -> Any:
        """Return the rows: what slices and arrays of indices can be taken of; or raise `InputError`."""

    def ids(self) -> Sequence[Any] | None:
        """Return the ids of the rows, None where the file has none."""
        return self.named

    def only_count(self, ids: Sequence[Any]) -> bool:
        """Whether the ids of a whole table are only numbers of its rows, and name nothing."""
        return False


class Shards(Vectors):
    """Vectors in files, one after the other; a bounded number of them is open at the same time.

    Parameters
    ----------
    shards
        In the order of the rows.
    where
        What to call the table in messages; by default its first file or, of several, their folder.
    """

    def __init__(self, shards: Sequence[Shard], where: str | None = None) -> None:
        self.shards = list(shards)
        check_widths(self.shards)
        first = self.shards[0].path
        self.where = where or str(first if len(self.shards) == 1 else first.parent)
        self.starts = np.r_[0, np.cumsum([shard.shape[0] for shard in self.shards])]
        self.shape = (int(self.starts[-1]), self.shards[0].shape[1])
        self.stored = np.result_type(*{shard.stored for shard in self.shards})
        self.dtype = as_float(np.empty((0, 1), self.stored)).dtype
        self._open: OrderedDict[int, Any] = OrderedDict()
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Return it for a worker on another machine: the names of its files, whatever folder that is in."""
        shards = [copy(shard) for shard in self.shards]
        for shard in shards:
            shard.path = shard.path.resolve()
        return {**vars(self), "shards": shards, "_open": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _open=OrderedDict(), _lock=Lock())

    def rows_of(self, number: int) -> Any:
        """Return the rows of a shard, opened if need be; the one that was used longest ago is closed."""
        with self._lock:
            rows = self._open.pop(number, None)
            if rows is None:
                rows = self.shards[number].open()
                while len(self._open) >= OPEN_SHARDS:
                    # Closed when the last thread that reads it lets go.
                    self._open.popitem(last=False)
            self._open[number] = rows
            return rows

    def read_stored(self, begin: int, end: int) -> np.ndarray:
        """Return rows begin to end; a view where they are in one mapped file."""
        first = int(np.searchsorted(self.starts, begin, side="right")) - 1
        if end <= self.starts[first + 1]:
            rows = self.rows_of(first)[begin - self.starts[first] : end - self.starts[first]]
            return np.asarray(rows).astype(self.stored, copy=False)
        table = np.empty((end - begin, self.shape[1]), self.stored)
        number = first
        while number < len(self.shards) and self.starts[number] < end:
            b, e = max(begin, int(self.starts[number])), min(end, int(self.starts[number + 1]))
            table[b - begin : e - begin] = self.rows_of(number)[
                b - self.starts[number] : e - self.starts[number]
            ]
            number += 1
        return table

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return single rows."""
        rows = np.asarray(rows)
        table = np.empty((len(rows), self.shape[1]), self.dtype)
        numbers = np.searchsorted(self.starts, rows, side="right") - 1
        for number in np.unique(numbers).tolist():
            here = np.flatnonzero(numbers == number)
            table[here] = self.rows_of(number)[rows[here] - self.starts[number]]
        return table

    def place(self, row: int) -> tuple[str | None, int]:
        """Return the file that a row is in and its number there."""
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return str(self.shards[number].path), row - int(self.starts[number])

    def spans(self, step: int) -> Iterator[tuple[int, int]]:
        """Yield begin and end of parts of at most `step` rows, none of which crosses a file."""
        for first, last in zip(self.starts[:-1].tolist(), self.starts[1:].tolist()):
            for begin in range(first, last, step):
                yield begin, min(begin + step, last)


class ChosenRows(Vectors):
    """Some rows of other vectors, in a given order.

    >>> ChosenRows(ArrayVectors(np.eye(3)), np.array([2, 0])).read(0, 1)
    array([[0., 0., 1.]])
    """

    def __init__(self, vectors: Vectors, rows: Any) -> None:
        self.vectors, self.rows = vectors, np.asarray(rows, np.int64)
        self.shape = (len(self.rows), vectors.shape[1])
        self.dtype = self.stored = vectors.dtype
        self.where = vectors.where

    def read_stored(self, begin: int, end: int) -> np.ndarray:
        """Return rows begin to end of those chosen."""
        return self.vectors.take(self.rows[begin:end])

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return single rows of those chosen."""
        return self.vectors.take(self.rows[rows])

    def place(self, row: int) -> tuple[str | None, int]:
        """Return the file that a row is in and its number there."""
        return self.vectors.place(int(self.rows[row]))


def ids_of(shards: Sequence[Shard]) -> list[Any] | None:
    """Return the ids of the rows of a table, None where its files name none."""
    listed: list[Any] = []
    parts = [shard.ids() for shard in shards]
    for part, shard in zip(parts, shards):
        if (part is None) != (parts[0] is None):
            has = "has no ids, unlike" if part is None else "has ids, unlike"
            raise InputError(f"{has} {shards[0].path.name}", where=shard.path, fix="give an id column to all")
        listed.extend(part or ())
    return listed if parts[0] is not None and not shards[0].only_count(listed) else None


def as_vectors(table: Any, where: str | None = None) -> Vectors:
    """Return a table as vectors; nothing is read that is in a file and can be mapped."""
    return table if isinstance(table, Vectors) else ArrayVectors(table, where)


def check_widths(shards: Sequence[Shard]) -> None:
    """Raise where the shards of one table have different widths."""
    width, first = shards[0].shape[1], shards[0].path.name
    for shard in shards:
        if shard.shape[1] != width:
            raise InputError(
                f"has {shard.shape[1]} columns, but {first} has {width}",
                where=shard.path,
                fix="give shards of one model",
            )
