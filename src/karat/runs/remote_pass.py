"""The tiles of a pass on the workers of a cluster: what is sent, and what comes back.

Every worker gets the request and the table once. A table that is mapped from a file is sent as the name of
the file, which the worker opens itself; vectors in memory are sent. A tile comes back as what it adds to the
counts and lists of its own queries, and is merged at once.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import Workers
from karat.errors import InputError, MissingDataError
from karat.runs.device import DEVICES
from karat.runs.scan import Partial, RankCounts, Shortlists, Tile

Arrays = dict[str, np.ndarray]
LEFT_HERE: dict[str, Any] = {
    "benchmark": None,
    "ids": {},
    "ids_where": None,
    "made_with": None,
    "row_of": None,
    "column_of": None,
}
"""What runs have and tiles do not need."""


def add_on_workers(
    workers: Workers, table: Any, partial: Partial, tiles: Iterable[tuple[int, Tile]], device: str
) -> Generator[int]:
    """Add tiles to a partial result as workers compute them; yield the number of each."""
    alike = copy(table)
    vars(alike).update({name: value for name, value in LEFT_HERE.items() if hasattr(alike, name)})
    listed = list(tiles)
    shared = (exchanged(alike, as_file), request_of(partial), device)
    with closing(workers.map(add_tile, shared, (tile for _, tile in listed))) as results:
        for (number, tile), arrays in zip(listed, results):
            merge(partial, tile, arrays)
            yield number


def add_tile(shared: tuple[Any, Partial, str], tile: Tile) -> Arrays:
    """Return what a tile adds; on a worker, on one thread."""
    table, request, device = shared
    part = part_of(request, tile)
    DEVICES[device].add(exchanged(table, open_file).tile_scores(tile, None), part, 1)
    return part.arrays()


def request_of(partial: Partial) -> Partial:
    """Return what is asked, without what was added."""
    counts, lists = (
        tuple(with_arrays(part, {name: array[:0] for name, array in part.arrays().items()}) for part in parts)
        for parts in (partial.counts, partial.lists)
    )
    return Partial(counts, lists)


def with_arrays(part: Any, arrays: Arrays) -> Any:
    """Return counts or lists with other arrays in place of those that change."""
    return replace(part, **arrays)


def judged_in(counts: RankCounts, tile: Tile) -> slice:
    """Return which judged items belong to the queries of a tile."""
    (begin, end), _ = tile.sides(counts.by_rows)
    return slice(int(counts.ptr[begin]), int(counts.ptr[end]))


def lists_in(lists: Shortlists, tile: Tile) -> tuple[np.ndarray, np.ndarray]:
    """Return the queries of a tile that have a list, and the numbers of their lists."""
    (begin, end), _ = tile.sides(lists.by_rows)
    query = begin + np.flatnonzero(lists.slot[begin:end] >= 0)
    return query, lists.slot[query]


def part_of(request: Partial, tile: Tile) -> Partial:
    """Return the request for the queries of a tile, with nothing added yet."""
    counts = []
    for asked in request.counts:
        rows = judged_in(asked, tile)
        nothing = (np.zeros(rows.stop - rows.start, np.int64) for _ in range(3))
        ptr = np.clip(asked.ptr, rows.start, rows.stop) - rows.start
        counts.append(
            RankCounts(
                asked.by_rows,
                ptr,
                asked.item[rows],
                asked.threshold[rows],
                asked.gallery,
                asked.order,
                *nothing,
            )
        )
    lists = tuple(
        Shortlists.of(
            asked.by_rows, asked.k, lists_in(asked, tile)[0], len(asked.slot), asked.gallery, asked.order
        )
        for asked in request.lists
    )
    return Partial(tuple(counts), lists)


def merge(partial: Partial, tile: Tile, arrays: Arrays) -> None:
    """Add what a tile added elsewhere."""
    for number, part in enumerate(partial.parts):
        added = {name: arrays[f"{number}.{name}"] for name in part.arrays()}
        if isinstance(part, RankCounts):
            rows = judged_in(part, tile)
            for name, array in part.arrays().items():
                array[rows] += added[name]
        else:
            part.add_lists(lists_in(part, tile)[1], added["item"], added["score"])


@dataclass(frozen=True)
class FileArray:
    """An array that is mapped from a file: where it is, and what says that it is the same file elsewhere."""

    path: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    size: int
    time: int

    def open(self) -> np.ndarray:
        """Map the array, or raise where this machine does not have the file."""
        machine = socket.gethostname()
        fix = "workers read files by the same path: keep them where all machines see them, or pass arrays"
        try:
            status = os.stat(self.path)
            if (status.st_size, int(status.st_mtime)) != (self.size, self.time):
                raise InputError(f"is another file on the worker {machine}", where=self.path, fix=fix)
            whole = np.memmap(self.path, np.uint8, "r")
        except OSError as error:
            what = f"cannot be read on the worker {machine} ({error.strerror})"
            raise MissingDataError(what, where=self.path, fix=fix) from None
        return np.ndarray(self.shape, self.dtype, whole, self.offset, self.strides)


def as_file(value: Any) -> Any:
    """Return an array that is mapped from a file as the name of the file; anything else as it is."""
    root, base = None, value
    while isinstance(base, np.ndarray):
        root = base if isinstance(base, np.memmap) else root
        base = base.base
    if root is None or root.mode != "r" or root.filename is None or min(value.strides) < 0:
        return value
    begin, first = (array.__array_interface__["data"][0] for array in (root, value))
    path = os.fspath(root.filename)
    status = os.stat(path)
    return FileArray(
        path, root.offset + first - begin, value.shape, value.strides, value.dtype,
        status.st_size, int(status.st_mtime),
    )  # fmt: skip


def open_file(value: Any) -> Any:
    """Return the array of a file that was sent by its name; anything else as it is."""
    return value.open() if isinstance(value, FileArray) else value


def exchanged(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a table, and the vectors in it, with changed arrays."""
    if isinstance(value, np.ndarray | FileArray):
        return change(value)
    if type(value) in (tuple, list):
        return type(value)(exchanged(one, change) for one in value)
    if hasattr(value, "tile_scores") or hasattr(value, "take"):
        alike = copy(value)
        vars(alike).update({name: exchanged(one, change) for name, one in vars(value).items()})
        return alike
    return value
