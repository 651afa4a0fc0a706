"""Parquet: ranked lists as a long table, embeddings of one side, or a table of scores."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import check_parquet, parsing
from karat.errors import InputError
from karat.runs.formats.blocks import (
    Blocks,
    check_declared,
    check_unpacked,
    finite_blocks,
    rows_per_block,
    stored_type,
)
from karat.runs.formats.content import Content, FormatWriter, one_file, plain, register, shape_of
from karat.runs.formats.long_table import as_column, is_long, long_frame, read_long
from karat.runs.vectors import Shard

if TYPE_CHECKING:
    import polars as pl


BROKEN = ("is not a complete Parquet file", "write it with polars or pandas")
FIX = (
    "give the columns query, item, score (ranked lists), or id and embedding (of images or of captions), "
    "or numbers alone (scores)"
)
TYPES = (
    "Float16",
    "Float32",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
)


def scan(path: Path) -> tuple[pl.LazyFrame, dict[str, pl.DataType], int]:
    """Return the table unread, its columns and their types, and the number of rows."""
    import polars as pl

    check_unpacked(path)
    frame = pl.scan_parquet(path, glob=False)
    return frame, dict(frame.collect_schema()), int(frame.select(pl.len()).collect().item())


def read_parquet(path: Path) -> Content:
    """Read whichever of the three a file holds; tables are read on demand."""
    with parsing(path, *BROKEN):
        check_parquet(path)
        frame, schema, rows = scan(path)
        if is_long(list(schema)):
            check_declared(path, 8 * rows * 3, path.stat().st_size)
            columns = [name for name in ("query", "item", "score", "direction") if name in schema]
            return read_long(frame.select(columns).collect(), path, first_line=0)
        return read_table(path)


def read_table(path: Path) -> Content:
    """Return the table of scores or of embeddings, unread, with the ids of embeddings."""
    with parsing(path, *BROKEN):
        frame, schema, rows = scan(path)
        if "embedding" in schema:
            return one_file({"": embeddings(frame, schema, rows, path)})
        strange = [name for name, dtype in schema.items() if str(dtype) not in TYPES]
        if strange or not schema:
            what = f"column {strange[0]!r} holds {schema[strange[0]]}" if strange else "has no columns"
            raise InputError(what, where=path, fix=FIX)
        dtype = np.result_type(*{numpy_type(kind) for kind in schema.values()})
        check_declared(path, rows * len(schema) * dtype.itemsize, path.stat().st_size)
        return Content(tables=(Blocks((rows, len(schema)), dtype, lambda: score_blocks(path, dtype)),))


def numpy_type(kind: Any) -> np.dtype:
    """Return numpy's name of a numeric type."""
    return np.dtype(str(kind).lower())


def shape(path: Path) -> tuple[int, ...]:
    """Return the shape of the table; () for ranked lists."""
    with parsing(path, *BROKEN):
        _, schema, _ = scan(path)
        return () if is_long(list(schema)) else shape_of(read_table(path))


def check_id_column(ids: pl.Series, path: Path) -> list[Any]:
    """Return the ids of embeddings, which must be whole numbers or text."""
    import polars as pl

    if not (ids.dtype.is_integer() or ids.dtype in (pl.String, pl.Categorical, pl.Enum)):
        raise InputError(
            f"id is a column of {ids.dtype}", where=path, fix="give whole numbers or text as ids"
        )
    if ids.null_count():
        raise InputError(f"row {ids.is_null().arg_true()[0]} has no id", where=path, fix="fill in every row")
    return ids.to_list()


def score_blocks(path: Path, dtype: np.dtype) -> Iterator[np.ndarray]:
    """Yield rows of a table of numbers."""
    with parsing(path, *BROKEN):
        frame, schema, rows = scan(path)
        step = rows_per_block((rows, len(schema)), dtype.itemsize)
        for begin in range(0, rows, step):
            part = frame.slice(begin, step).collect()
            for column in part:
                if column.null_count():
                    row = begin + int(column.is_null().arg_true()[0])
                    raise InputError(
                        f"row {row}, column {column.name!r} is empty", where=path, fix="score every pair"
                    )
            yield part.to_numpy().astype(dtype, copy=False)


class ParquetShard(Shard):
    """A column of lists of numbers, read some row groups at a time."""

    def __init__(self, path: Path, shape: tuple[int, int], dtype: Any, has_ids: bool = False) -> None:
        super().__init__(path, shape, dtype)
        self.has_ids = has_ids

    def open(self) -> ParquetRows:
        """Return the rows, unread."""
        return ParquetRows(self)

    def ids(self) -> list[Any] | None:
        """Return the column of ids."""
        if not self.has_ids:
            return None
        with parsing(self.path, *BROKEN):
            return check_id_column(scan(self.path)[0].select("id").collect()["id"], self.path)


class ParquetRows:
    """The rows of a column of lists: parts of the file are unpacked, and the last ones kept."""

    def __init__(self, shard: ParquetShard) -> None:
        self.shard = shard
        self.step = max(1, CHUNK_BYTES // (shard.stored.itemsize * shard.shape[1]))

    def __getitem__(self, key: Any) -> np.ndarray:
        if isinstance(key, slice):
            begin, end, _ = key.indices(self.shard.shape[0])
            parts = [
                self.chunk(number)[max(0, begin - number * self.step) : end - number * self.step]
                for number in range(begin // self.step, -(-end // self.step))
            ]
            empty = np.empty((0, self.shard.shape[1]), self.shard.stored)
            return parts[0] if len(parts) == 1 else np.concatenate([empty, *parts])
        rows = np.asarray(key)
        table = np.empty((len(rows), self.shard.shape[1]), self.shard.stored)
        for number in np.unique(rows // self.step).tolist():
            here = np.flatnonzero(rows // self.step == number)
            table[here] = self.chunk(number)[rows[here] - number * self.step]
        return table

    def chunk(self, number: int) -> np.ndarray:
        """Return a part of bounded size, from those kept where it is there."""
        key = (self.shard, number)
        with CHUNKS_LOCK:
            rows = CHUNKS.pop(key, None)
        if rows is None:
            rows = read_vectors(self.shard, number * self.step, self.step)
        with CHUNKS_LOCK:
            CHUNKS[key] = rows
            while len(CHUNKS) > KEPT_CHUNKS:
                CHUNKS.popitem(last=False)
        return rows


CHUNK_BYTES, KEPT_CHUNKS = 16 << 20, 8
CHUNKS: OrderedDict[tuple[ParquetShard, int], np.ndarray] = OrderedDict()
"""The parts that were unpacked last, of all files together: a pass asks for the same rows again and again."""
CHUNKS_LOCK = Lock()


def embeddings(frame: pl.LazyFrame, schema: dict[str, pl.DataType], rows: int, path: Path) -> ParquetShard:
    """Return a column of lists of numbers as a table; the first part is looked at now, the rest when read."""
    import polars as pl

    kind = schema["embedding"]
    inner = getattr(kind, "inner", None)
    if str(inner) not in TYPES or not isinstance(kind, pl.List | pl.Array):
        raise InputError(f"embedding is a column of {kind}", where=path, fix="give lists of float32")
    first = frame.select("embedding").slice(0, 1).collect()["embedding"]
    width = len(first[0]) if len(first) and first[0] is not None else 0
    dtype = numpy_type(inner)
    check_declared(path, rows * width * dtype.itemsize, path.stat().st_size)
    if rows and not width:
        raise ragged(path, 0, first[0], None)
    shard = ParquetShard(path, (rows, width), dtype, "id" in schema)
    # A list may have any length: what is wrong shows at the start in most files.
    read_vectors(shard, 0, min(rows, 1024))
    return shard


def read_vectors(shard: ParquetShard, begin: int, count: int) -> np.ndarray:
    """Return some rows of a column of lists."""
    import polars as pl

    width = shard.shape[1]
    with parsing(shard.path, *BROKEN):
        part = scan(shard.path)[0].select("embedding").slice(begin, count).collect()["embedding"]
        lengths = (part.list if isinstance(part.dtype, pl.List) else part.arr).len()
        other = (lengths != width).fill_null(True).arg_true()
        if len(other):
            row = int(other[0])
            raise ragged(shard.path, begin + row, part[row], width)
        flat = part.explode()
        if flat.null_count():
            row = begin + int(flat.is_null().arg_true()[0]) // width
            raise InputError(f"row {row} lacks a number", where=shard.path, fix="embed it again")
        return flat.to_numpy().astype(shard.stored, copy=False).reshape(len(part), width)


def ragged(path: Path, row: int, vector: Any, width: int | None) -> InputError:
    """Return the error for a row that has not as many numbers as the first."""
    size = "None" if vector is None else str(len(vector))
    sizes = size if width is None else f"{width} and {size}"
    return InputError(f"embeddings have {sizes} numbers (row {row})", where=path, fix="give each row as many")


def parquet_shards(path: Path) -> dict[str, Shard]:
    """Return the embeddings of a file as a part of a larger table."""
    with parsing(path, *BROKEN):
        check_parquet(path)
        frame, schema, rows = scan(path)
        if "embedding" not in schema:
            raise InputError("has no column 'embedding'", where=path, fix="give the columns id and embedding")
        return {"": embeddings(frame, schema, rows, path)}


def write_parquet(content: Content, path: Path) -> None:
    """Write ranked lists at once, tables block by block."""
    if content.lists is not None:
        long_frame(content).write_parquet(path)
    else:
        stream(content, path)


def stream(content: Content, path: Path) -> None:
    """Write a table of scores, a column each, or of embeddings, a list each."""
    import polars as pl
    from polars.io.plugins import register_io_source

    table, ids = content.tables[0], content.rows
    dtype = stored_type(table)
    kind = getattr(pl, dtype.name.replace("uint", "UInt").replace("int", "Int").replace("float", "Float"))
    names = [str(column) for column in range(table.shape[1])]
    schema: dict[str, Any] = dict.fromkeys(names, kind)
    known = None if ids is None else as_column(plain(ids)).alias("id")
    if content.vectors:
        schema = {} if known is None else {"id": known.dtype}
        schema["embedding"] = pl.Array(kind, table.shape[1])

    def parts(*_: Any) -> Iterator[pl.DataFrame]:
        begin = 0
        for block in finite_blocks(table, content.where or path):
            block = np.ascontiguousarray(block, block.dtype.newbyteorder("="))
            if content.vectors:
                frame = pl.DataFrame({"embedding": pl.Series(block, dtype=schema["embedding"])})
                if known is not None:
                    frame.insert_column(0, known.slice(begin, len(block)))
            else:
                frame = pl.from_numpy(block, schema=schema)
            begin += len(block)
            yield frame

    # One group would gather the whole table; many would each describe every one of 25,000 columns. A group
    # of vectors is what is unpacked at once.
    rows = 4 * rows_per_block(table.shape, dtype.itemsize)
    if content.vectors:
        rows = max(1, CHUNK_BYTES // (dtype.itemsize * table.shape[1]))
    register_io_source(parts, schema=schema).sink_parquet(path, row_group_size=rows)


register(
    ".parquet",
    read_parquet,
    FormatWriter(write_parquet, ("scores", "vectors", "lists"), keeps_ids=("vectors",)),
    shape=shape,
    shards=parquet_shards,
)
