"""The bound on memory: what scoring a run needs at least, and what is left of a bound for the pass."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

from karat._util import GZIP, bytes_of, bytes_text, parsing, setting_of, unpacked, ways_to_set
from karat.errors import InputError
from karat.runs.embeddings import EmbeddingRun
from karat.runs.formats import SHAPES, format_of
from karat.runs.matrix import MatrixRun
from karat.runs.run import Run
from karat.runs.vectors import ArrayVectors, Vectors, is_mapped

BASE_BYTES = 256 << 20
"""What Python and the libraries take."""
ROW_BYTES = 64
"""What is kept of each row and of each column: its length, its error, its place, its counts."""
TILE_BYTES = 16 << 20
"""What the smallest tile takes, with its vectors and lists."""

LIST_BYTES = {
    ".trec": (140, 4.5), ".run": (140, 4.5), ".csv": (220, 4.0), ".tsv": (220, 4.0), ".json": (100, 8.0),
    ".parquet": (240, 3.0),
}  # fmt: skip
"""By format, what ranked lists take per listed item and per byte of their text, measured with short and long
ids from reading to the end of `evaluate`, and rounded up."""


def least_memory(shape: tuple[int, int], tables: Sequence[Any] = ()) -> int:
    """Return how many bytes scoring a table of rows by columns needs at least.

    Parameters
    ----------
    shape
        Rows and columns of the scores.
    tables
        Embeddings, or the table of scores. Those in files are read tile by tile and take nothing; packed
        scores are unpacked as a whole.

    Examples
    --------
    >>> least_memory((1000, 5000)) >> 20
    272
    """
    return BASE_BYTES + kept_bytes(tables) + ROW_BYTES * sum(shape) + TILE_BYTES


def kept_bytes(tables: Sequence[Any]) -> int:
    """Return what tables take that are in memory, or have to be read into it, and are not used in files."""
    arrays = [table.table if isinstance(table, ArrayVectors) else table for table in tables]
    return sum(
        math.prod(array.shape) * array.dtype.itemsize
        for array in arrays
        if not isinstance(array, Vectors) and not is_mapped(array)
    )


def check_memory(
    memory: int | float | str | None, shape: tuple[int, int], tables: Sequence[Any] = (), name: str = "run"
) -> int | None:
    """Return the bound in bytes, given or set, or raise where it is less than the scores need."""
    memory = setting_of("memory", memory)
    if memory is None:
        return None
    bound, least = bytes_of(memory), least_memory(shape, tables)
    if bound < least:
        raise InputError(
            f"{name} does not fit into {bytes_text(bound)}",
            fix=f"give {bytes_text(least)} or more: {ways_to_set('memory')}",
        )
    return bound


def check_list_memory(memory: int | float | str | None, paths: Sequence[Path], name: str = "run") -> None:
    """Raise where reading and scoring the ranked lists in files needs more than the bound, given or set.

    Files that hold no lists, or that cannot be read at all, count nothing; they are not unpacked here.
    """
    memory = setting_of("memory", memory)
    if memory is None:
        return
    bound, lists = bytes_of(memory), sum(map(list_bytes, paths))
    if lists and bound < BASE_BYTES + lists:
        raise InputError(
            f"the ranked lists of {name} do not fit into {bytes_text(bound)}",
            fix=f"give {bytes_text(BASE_BYTES + lists)} or more: {ways_to_set('memory')}",
        )


def list_bytes(path: Path) -> int:
    """Return about how many bytes the ranked lists in a file take, from reading to scores; 0 for tables."""
    kind = format_of(path) if path.is_file() else ""
    if kind not in LIST_BYTES or (kind in SHAPES and SHAPES[kind](path) != ()):
        return 0
    if kind == ".parquet":
        rows, size = parquet_size(path)
    else:
        rows, size = text_size(path, b"," if kind == ".json" else b"\n")
    each, per_byte = LIST_BYTES[kind]
    return int(each * rows + per_byte * size)


def text_size(path: Path, sign: bytes) -> tuple[int, int]:
    """Return how often a sign is in a file, unpacked where gzip made it, and how many bytes it has."""
    count = size = 0
    with suppress(OSError, EOFError, zlib.error), path.open("rb") as raw:
        packed = raw.read(2) == GZIP
        raw.seek(0)
        with gzip.open(raw) if packed else raw as handle:
            for data in unpacked(handle, path, 1 << 20):
                count, size = count + data.count(sign), size + len(data)
    return count + 1, size


def parquet_size(path: Path) -> tuple[int, int]:
    """Return how many rows a long table has, and about how many bytes of text their ids have."""
    import polars as pl

    with parsing(path, "is not a complete Parquet file", "write it with polars or pandas"):
        table = pl.scan_parquet(path)
        rows = int(table.select(pl.len()).collect().item())
        ids = [name for name in table.collect_schema().names() if name in ("query", "item")]
        head = table.select(pl.col(ids)).head(1000).collect().with_columns(pl.all().cast(pl.String))
    lengths = [head[name].str.len_bytes().mean() or 0.0 for name in head.columns]
    return rows, int(rows * sum(map(float, lengths)))  # type: ignore[arg-type]


def with_memory(run: Run, memory: int | float | str | None) -> Run:
    """Return a run whose pass over the scores stays within a bound on the memory of the process, or raise.

    Ranked lists are in memory as they are: whether they fit was checked before they were read. A run that
    was loaded with a bound keeps it where nothing else is given.
    """
    if not isinstance(run, EmbeddingRun | MatrixRun) or (memory is None and run.memory is not None):
        return run
    tables = run.vectors if isinstance(run, EmbeddingRun) else (run.scores,)
    if (bound := check_memory(memory, run.shape, tables, run.name)) is None:
        return run
    bounded = copy(run)
    bounded.memory = bound - BASE_BYTES - kept_bytes(tables)
    return bounded


def free_memory() -> int:
    """Return about how many bytes this process can still take, of the machine's and of its container's."""
    free = [1 << 30]
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = [1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))]
    with suppress(OSError, ValueError):
        bound, used = (
            int(Path("/sys/fs/cgroup", name).read_text(encoding="ascii"))
            for name in ("memory.max", "memory.current")
        )
        free.append(bound - used)
    return max(0, min(free))
