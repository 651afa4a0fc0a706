"""Writing Parquet: tables group by group of rows, ranked lists at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.runs.formats.content import Content
from karat.runs.formats.json import plain
from karat.runs.formats.long import as_column, long_frame
from karat.runs.formats.tables import finite_blocks, rows_per_block

if TYPE_CHECKING:
    import polars as pl


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
