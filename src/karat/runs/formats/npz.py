"""npz: arrays by key in a zip archive, mapped where they are stored, unpacked in blocks where compressed."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from karat._util import parsing
from karat.runs.formats.blocks import Blocks, check_declared, rows_per_block
from karat.runs.formats.content import (
    MADE_WITH,
    Content,
    FormatWriter,
    arrays_of,
    content_of,
    register,
    shape_of,
)
from karat.runs.formats.npy import read_header, write_array

BROKEN = ("is not a complete npz file", "write it with np.savez")


def read_npz(path: Path) -> Content:
    """Read a score table or two embedding tables, with ids where they are there."""
    with parsing(path, *BROKEN), zipfile.ZipFile(path) as archive:
        arrays = {
            info.filename.removesuffix(".npy"): read_member(archive, info, path)
            for info in archive.infolist()
            if info.filename.endswith(".npy")
        }
        facts = None
        if arrays.pop(MADE_WITH, None) is not None:
            with archive.open(f"{MADE_WITH}.npy") as handle:
                facts = str(np.lib.format.read_array(handle, allow_pickle=False).tolist())
        return content_of(arrays, path, facts)


def check_npz(path: Path) -> None:
    """Raise where an array of an archive declares more than the archive holds; for use inside `parsing`."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.filename.endswith(".npy"):
                read_member(archive, info, path)


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> Any:
    """Return one array: a map of the file itself, or what unpacks it."""
    check_declared(path, info.file_size, info.compress_size)
    with archive.open(info) as handle:
        shape, fortran, dtype = read_header(handle, path)
        offset = handle.tell()
    # What the array declares must be what the archive declares: memory is taken by it.
    if offset + math.prod(shape) * dtype.itemsize != info.file_size:
        raise ValueError(shape)
    if 0 in shape or dtype.itemsize == 0:
        return np.empty(shape, dtype)
    stored = info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1
    start = data_offset(path, info) + offset
    # The compiled kernels want numbers at their natural boundaries, which zip does not keep.
    if stored and start % dtype.alignment == 0 and info.file_size == info.compress_size:
        return np.memmap(path, dtype, "r", start, shape, "F" if fortran else "C")
    return Blocks(shape, dtype, lambda: unpack(path, info, shape, fortran, dtype))


def data_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Return where a member's bytes start, after its local header of variable length."""
    with path.open("rb") as handle:
        handle.seek(info.header_offset + 26)
        lengths = handle.read(4)
    return (
        info.header_offset
        + 30
        + int.from_bytes(lengths[:2], "little")
        + int.from_bytes(lengths[2:], "little")
    )


def unpack(
    path: Path, info: zipfile.ZipInfo, shape: tuple[int, ...], fortran: bool, dtype: np.dtype
) -> Iterator[np.ndarray]:
    """Yield the rows of a compressed array in blocks."""
    with parsing(path, *BROKEN), zipfile.ZipFile(path) as archive, archive.open(info) as handle:
        read_header(handle, path)
        # Columns first: no row is complete before the end.
        step = len(shape) and shape[0] if fortran or len(shape) < 2 else rows_per_block(shape, dtype.itemsize)
        row_bytes = dtype.itemsize * math.prod(shape[1:])
        for begin in range(0, shape[0] if shape else 1, max(1, step)):
            rows = (min(step, shape[0] - begin), *shape[1:]) if shape else ()
            data = handle.read(row_bytes * rows[0] if rows else dtype.itemsize)
            yield np.frombuffer(data, dtype).reshape(rows, order="F" if fortran else "C")


def write_npz(content: Content, path: Path) -> None:
    """Write tables block by block, not compressed, so that they can be mapped."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays_of(content).items():
            with open_member(archive, name) as handle:
                write_array(handle, array, content.where or path)
        if content.made_with is not None:
            with open_member(archive, MADE_WITH) as handle:
                np.lib.format.write_array(handle, np.array(content.made_with.to_json()), allow_pickle=False)


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open an array of an archive for writing, with a fixed date: the same content gives the same bytes."""
    return archive.open(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), "w", force_zip64=True)


register(
    ".npz",
    read_npz,
    FormatWriter(
        write_npz, ("scores", "embeddings"), keeps_ids=("scores", "embeddings"), keeps_made_with=True
    ),
    shape=lambda path: shape_of(read_npz(path)),
)
