"""A run kept as a table of scores, images by captions."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import check_table, not_finite
from karat.benchmarks import Benchmark, Direction, in_order
from karat.errors import InputError
from karat.runs.scan import Tile, TileScores
from karat.runs.table import TableRun, other_benchmark

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


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
    def extent(self) -> str:
        """Images by captions, or whatever the sides are."""
        counted = (side.counted(number) for side, number in zip(self.sides, self.images_by_captions))
        return f"{' by '.join(counted)}, {self.scores.dtype}"

    def align(self, benchmark: Benchmark) -> MatrixRun:
        """Return the run matched to the benchmark; what an item scores with itself may be no number."""
        aligned = super().align(benchmark)
        assert isinstance(aligned, MatrixRun)
        if aligned is not self and benchmark.one_collection:
            cells = aligned.maps(benchmark.directions[0])
            cells = cells if aligned.rows == "images" else cells[::-1]
            if not np.isfinite(self.scores[cells]).all():
                aligned.scores = np.array(self.scores)
                aligned.scores[cells] = 0
        return aligned

    def check(self, benchmark: Benchmark) -> None:
        """Raise where the table is not images by captions."""
        expected = (benchmark.images.size, benchmark.captions.size)
        shape = self.images_by_captions
        if shape == expected:
            return
        scores = f"{shape[0]:,} by {shape[1]:,}"
        one, other = benchmark.sides
        pairs = f"{one.counted(expected[0])} by {other.counted(expected[1])}"
        if shape == expected[::-1]:
            fix = "it is transposed: karat convert --transpose turns it, transpose=True in Python"
        elif shape[0] in expected:
            rows = f"one row per {one.one} and one per {other.one}"
            fix = f"embeddings come as two tables of the same width, {rows}"
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
            place = in_order(direction, queries[row], column)
            raise not_finite(self.where or self.name, *place, float(values[row, column]), self.scores.dtype)
        return values

    @property
    def in_place(self) -> bool:
        """Whether parts of the table can be looked at where they are, without a copy."""
        scores = self.scores
        return isinstance(scores, np.ndarray) and scores.flags.c_contiguous and scores.dtype in FLOATS

    def tile_bytes(self, step: tuple[int, int]) -> int:
        """Return the size of a tile that has to be copied."""
        return 0 if self.in_place else 8 * step[0] * (step[1] if self.cut_columns else self.shape[1])

    @property
    def cut_columns(self) -> bool:
        """Whether rows can be read in parts."""
        return isinstance(self.scores, np.ndarray)

    def tile_scores(self, tile: Tile, before: TileScores | None) -> TileScores:
        """Read a tile: a view where it is of contiguous floats."""
        (r0, r1), (c0, c1) = tile.rows, tile.columns
        if self.in_place or not self.cut_columns:
            scores, first = self.block(r0, r1), c0
        else:
            scores, first = as_float(self.scores[r0:r1, c0:c1]), 0
        left, right = (np.zeros((size, 0), scores.dtype) for size in tile.shape)
        errors = np.zeros(tile.shape[0]), np.zeros(tile.shape[1])
        return TileScores(tile, left, right, *errors, scores, first, self._refused)

    def _refused(self, row: int, column: int, value: float) -> Exception:
        # As the user's table has it, which may be the other way round than in memory.
        place = (row, column) if self.rows == "images" else (column, row)
        return not_finite(self.where or self.name, *place, value, self.scores.dtype)

    def digest(self) -> bytes:
        """Return a digest of all scores; of a file that of its size, its time and a sample of its rows."""
        digest = hashlib.blake2b(f"{self.shape} {self.scores.dtype} {self.rows}".encode())
        some = np.arange(self.shape[0])
        if self.where is not None and Path(self.where).is_file():
            status = Path(self.where).stat()
            digest.update(f"{status.st_size} {status.st_mtime_ns}".encode())
            some = np.unique(np.linspace(0, self.shape[0] - 1, 256).astype(int))
        for row in some:
            digest.update(self.scores[row].tobytes())
        return digest.digest()


def as_float(array: np.ndarray) -> np.ndarray:
    """Return contiguous float32 (from halves and small integers, exactly) or float64."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    single = size <= 4 if kind == "f" else size <= 2
    return np.ascontiguousarray(array, dtype=np.float32 if single else np.float64)
