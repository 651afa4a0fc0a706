"""npy: one table, mapped and not read."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import IO, Any

import numpy as np

from karat._util import holds_objects, parsing
from karat.runs.formats.blocks import MappedShard, check_unpacked, stored_type, write_rows
from karat.runs.formats.content import Content, FormatWriter, register, shape_of
from karat.runs.vectors import Shard

BROKEN = ("is not a complete npy file", "write it with np.save")


def map_npy(path: Path) -> np.ndarray:
    """Map a npy file into memory; one that holds Python objects is refused without reading it."""
    with parsing(path, *BROKEN), warnings.catch_warnings():
        # A broken header may look like one of Python 2, of which numpy warns.
        warnings.simplefilter("ignore")
        check_unpacked(path)
        # Not np.load, which would also open archives and offer to unpickle.
        return np.lib.format.open_memmap(path, mode="r")


def read_npy(path: Path) -> Content:
    """Read a score table, or the embeddings of one side."""
    return Content(tables=(map_npy(path),))


def read_header(handle: IO[bytes], where: Path | str) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return the shape, whether columns come first, and the type of an npy stream, read up to its data."""
    version = np.lib.format.read_magic(handle)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shape, fortran, dtype = header(handle)
    if dtype.hasobject:
        raise holds_objects(where)
    if any(size < 0 for size in shape):
        raise ValueError(shape)
    return shape, fortran, dtype


def npy_shards(path: Path) -> dict[str, Shard]:
    """Return the table of a file as a part of a larger one, from its header alone."""
    with parsing(path, *BROKEN), path.open("rb") as handle:
        check_unpacked(path)
        shape, fortran, dtype = read_header(handle, path)
        return {"": MappedShard(path, shape, dtype, handle.tell(), "F" if fortran else "C")}


def write_array(handle: IO[bytes], table: Any, where: Path | str) -> None:
    """Write a table as an npy stream, block by block.

    Not through a memory map: a full disk would end the process there instead of raising.
    """
    descr = np.lib.format.dtype_to_descr(stored_type(table).newbyteorder("<"))
    np.lib.format.write_array_header_1_0(
        handle, {"descr": descr, "fortran_order": False, "shape": tuple(table.shape)}
    )
    write_rows(handle, table, where)


def write_npy(content: Content, path: Path) -> None:
    """Write the one table."""
    with path.open("wb") as handle:
        write_array(handle, content.tables[0], content.where or path)


register(
    ".npy",
    read_npy,
    FormatWriter(write_npy, ("scores", "vectors")),
    shape=lambda path: shape_of(read_npy(path)),
    shards=npy_shards,
)
