"""Tables that stand for others while a run is converted: never all of them in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat.runs.embeddings import EmbeddingRun
from karat.runs.formats import Blocks, Content
from karat.runs.formats.npy import write_npy
from karat.runs.formats.tables import rows_per_block
from karat.validation import write_file


def stand_in(table: Any) -> np.ndarray:
    """Return an array of a table's shape and type that takes no memory."""
    return np.broadcast_to(np.zeros((), table.dtype), table.shape)


def map_table(table: Any, scratch: Path) -> Any:
    """Return a table whose rows and columns can be asked for; one that cannot is unpacked to a file."""
    if not isinstance(table, Blocks):
        return table
    path = scratch / "table.npy"
    write_file(path, lambda path: write_npy(Content(tables=(table,)), path))
    return np.load(path, mmap_mode="r", allow_pickle=False)


def products(run: EmbeddingRun, tables: Sequence[Any]) -> Blocks:
    """Return the scores of embeddings, made in blocks.

    Summed in double precision and then rounded, so that no two scores change their order.
    """
    run.use(np.float64)
    single = all(np.result_type(table.dtype, np.float16).itemsize <= 4 for table in tables)
    dtype = np.float32 if single else np.float64
    step = rows_per_block(run.shape, 8)

    def rows() -> Iterator[np.ndarray]:
        for begin in range(0, run.shape[0], step):
            # What overflows is found and named where it is written.
            with np.errstate(over="ignore"):
                block = run.block(begin, begin + step).astype(dtype)
            yield block

    return Blocks(run.shape, dtype, rows)
