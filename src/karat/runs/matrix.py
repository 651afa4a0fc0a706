"""A run kept as a table of scores, images by captions."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat._util import Loop, check_table, not_finite
from karat.benchmarks import Benchmark, Direction
from karat.errors import InputError
from karat.runs.table import Counting, TableRun, other_benchmark


class MatrixRun(TableRun):
    """Scores of every image with every caption; higher is better.

    Parameters
    ----------
    scores
        Images by captions: an array or a memory map of float16, float32, float64 or integers.
        It is read block by block and never copied as a whole.
    name, ids, where
        See `karat.load_run`.

    Examples
    --------
    >>> run = MatrixRun(np.array([[0.9, 0.1, 0.5], [0.2, 0.8, 0.5]]))
    >>> run.top("i2t", 2).item.tolist(), run.top("t2i", 1).item.tolist()
    ([0, 2, 1, 2], [0, 1, 0])
    """

    kind = "score table"

    def __init__(
        self, scores: Any, name: str = "run", ids: dict[str, Any] | None = None, where: str | None = None
    ) -> None:
        super().__init__(name, ids, where)
        scores = check_table(scores, where)
        if scores.flags.f_contiguous and not scores.flags.c_contiguous:
            # Read it along its memory: its rows are then the captions.
            scores, self.rows = scores.T, "captions"
        self.scores = scores

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns as kept in memory."""
        return self.scores.shape

    @property
    def images_by_captions(self) -> tuple[int, int]:
        """The number of images and captions."""
        return self.shape if self.rows == "images" else self.shape[::-1]

    @property
    def extent(self) -> str:
        """Images by captions."""
        images, captions = self.images_by_captions
        return f"{images:,} images by {captions:,} captions, {self.scores.dtype}"

    def check(self, benchmark: Benchmark) -> None:
        """Raise where the table is not images by captions."""
        expected = (benchmark.images.size, benchmark.captions.size)
        shape = self.images_by_captions
        if shape == expected:
            return
        scores = f"{shape[0]:,} by {shape[1]:,}"
        pairs = f"{expected[0]:,} images by {expected[1]:,} captions"
        if shape == expected[::-1]:
            fix = "it is transposed: pass --transpose, or transpose=True in Python"
        elif shape[0] in expected:
            fix = "embeddings come as two tables of the same width, one row per image and one per caption"
        else:
            fix = other_benchmark(shape) or f"score every pair, in the order that {benchmark.order_shown}"
        raise InputError(
            f"has {scores} scores, but {benchmark.name} has {pairs}", where=self.where or self.name, fix=fix
        )

    def pair_scores(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the scores of single cells."""
        return as_float(np.asarray(self.scores[row, column]))

    def block(self, begin: int, end: int) -> np.ndarray:
        """Return rows begin to end; a view where they are contiguous floats already."""
        return as_float(np.asarray(self.scores[begin:end]))

    def query_scores(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return the scores of all items for some queries."""
        scores = self.scores if self.asks_by_rows(direction) else self.scores.T
        values = as_float(np.asarray(scores[queries]))
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            place = (queries[row], column) if direction == "i2t" else (column, queries[row])
            raise not_finite(self.where or self.name, *place, float(values[row, column]), self.scores.dtype)
        return values

    def check_block(self, block: np.ndarray, row0: int, loop: Loop) -> None:
        """Raise on the first NaN or infinity."""
        from karat.runs.kernels import first_not_finite

        cells: list[Any] = loop(lambda b, e: first_not_finite(block, b, e), 0, len(block))
        for row, column in cells:
            if row >= 0:
                # As the user's table has it, which may be the other way round than in memory.
                place = (row0 + row, column) if self.rows == "images" else (column, row0 + row)
                raise not_finite(
                    self.where or self.name, *place, float(block[row, column]), self.scores.dtype
                )

    def count_rows(
        self, counting: Counting, block: np.ndarray, row0: int, span: tuple[int, int], loop: Loop
    ) -> None:
        """Add to the counts of the queries that are the rows of `span` of the block."""
        from karat.runs.kernels import count_in_rows

        items, gallery = counting.items, counting.gallery
        lo, hi = int(gallery[0]), int(gallery[-1]) + 1
        listed = gallery[:0] if hi - lo == len(gallery) else gallery
        loop(
            lambda b, e: count_in_rows(
                block, row0, b, e, items.ptr, items.item, listed, lo, hi, counting.order,
                items.above, items.tied, items.earlier,
            ),
            *span,
        )  # fmt: skip

    def count_columns(
        self,
        counting: Counting,
        block: np.ndarray,
        row0: int,
        rows: np.ndarray,
        span: tuple[int, int],
        loop: Loop,
    ) -> None:
        """Add to the counts of the queries that are columns of `span`, over the given rows of the block."""
        from karat.runs.kernels import count_in_columns

        items, scores, order = counting
        loop(
            lambda b, e: count_in_columns(
                block, row0, rows, b, e, items.ptr, items.item, scores, order,
                items.above, items.tied, items.earlier,
            ),
            *span,
        )  # fmt: skip


def as_float(array: np.ndarray) -> np.ndarray:
    """Return contiguous float32 (from halves and small integers, exactly) or float64."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    single = size <= 4 if kind == "f" else size <= 2
    return np.ascontiguousarray(array, dtype=np.float32 if single else np.float64)
