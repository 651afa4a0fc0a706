"""Parquet: ranked lists as a long table, embeddings of one side, or a table of scores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import parsing
from karat.errors import InputError
from karat.runs.formats.blocks import Blocks, check_declared, finite_blocks, rows_per_block
from karat.runs.formats.content import Content, FormatWriter, plain, register, shape_of
from karat.runs.formats.long_table import as_column, is_long, long_frame, read_long

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

    frame = pl.scan_parquet(path, glob=False)
    return frame, dict(frame.collect_schema()), int(frame.select(pl.len()).collect().item())


def read_parquet(path: Path) -> Content:
    """Read whichever of the three a file holds; tables are read on demand."""
    with parsing(path, *BROKEN):
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
            ids = frame.select("id").collect()["id"] if "id" in schema else None
            return Content(
                tables=(embeddings(frame, schema["embedding"], rows, path),),
                vectors=True,
                rows=None if ids is None else check_id_column(ids, path),
            )
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


def embeddings(frame: pl.LazyFrame, kind: Any, rows: int, path: Path) -> Blocks:
    """Return a column of lists of numbers as a table."""
    import polars as pl

    inner = getattr(kind, "inner", None)
    if str(inner) not in TYPES or not isinstance(kind, pl.List | pl.Array):
        raise InputError(f"embedding is a column of {kind}", where=path, fix="give lists of float32")
    column = pl.col("embedding")
    lengths = frame.select((column.list if isinstance(kind, pl.List) else column.arr).len()).collect()
    sizes = lengths["embedding"].unique().to_list()
    if len(sizes) != 1 or sizes[0] is None:
        shown = " and ".join(str(size) for size in sorted(sizes, key=str)[:2]) or "no"
        raise InputError(f"embeddings have {shown} numbers", where=path, fix="give each row as many")
    dtype = numpy_type(inner)
    check_declared(path, rows * int(sizes[0]) * dtype.itemsize, path.stat().st_size)
    table = (rows, int(sizes[0]))
    return Blocks(table, dtype, lambda: vector_blocks(frame, table, dtype, path))


def vector_blocks(
    frame: pl.LazyFrame, table: tuple[int, int], dtype: np.dtype, path: Path
) -> Iterator[np.ndarray]:
    """Yield rows of a column of lists."""
    step = rows_per_block(table, dtype.itemsize)
    with parsing(path, *BROKEN):
        for begin in range(0, table[0], step):
            part = frame.select("embedding").slice(begin, step).collect()["embedding"]
            flat = part.explode()
            if flat.null_count():
                row = begin + int(flat.is_null().arg_true()[0]) // table[1]
                raise InputError(f"row {row} lacks a number", where=path, fix="embed it again")
            yield flat.to_numpy().astype(dtype, copy=False).reshape(len(part), table[1])


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
    kind = getattr(
        pl, table.dtype.name.replace("uint", "UInt").replace("int", "Int").replace("float", "Float")
    )
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

    # One group would gather the whole table; many would each describe every one of 25,000 columns.
    rows = 4 * rows_per_block(table.shape, table.dtype.itemsize)
    register_io_source(parts, schema=schema).sink_parquet(path, row_group_size=rows)


register(
    ".parquet",
    read_parquet,
    FormatWriter(write_parquet, ("scores", "vectors", "lists"), keeps_ids=("vectors",)),
    shape=shape,
)
