"""A run kept as two embedding tables, whose products are the scores."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from copy import copy
from typing import Any, Literal, NamedTuple

import numpy as np

from karat._util import check_choice, not_finite
from karat._util import threads as thread_loop
from karat.benchmarks import Benchmark, Direction, JudgedItems, asks_first, in_order
from karat.runs.preflight import VectorCheck, check_dimensions, check_rows
from karat.runs.run import PassOptions, Scanned, TopRequest
from karat.runs.scan import Span, Tile, TileScores, spans
from karat.runs.table import SIMILARITIES, TableRun
from karat.runs.vectors import ArrayVectors, Vectors, as_vectors, is_mapped

PART_BYTES = 32 << 20
"""Bytes of vectors that are looked at at once."""
PAIR_BYTES = 64 << 20
"""The same of single pairs, of both sides."""

Similarity = Literal["dot", "cosine"]


class EmbeddingRun(TableRun):
    """Embeddings of images and of captions; a pair's score is their product.

    The score is defined as the product summed in double precision in one fixed order, and ranks
    are exact for it: a single-precision matrix product gives each score with a known error bound,
    γ_d ‖x‖‖y‖ with γ_d = d u / (1 − d u) (Higham 2002, §3.1), and only scores that are closer to
    a judged item's than this bound are computed again. So ranks depend neither on the block size
    nor on the number of threads or the library that multiplies.

    Parameters
    ----------
    images, captions
        Tables with a row per image and per caption, in the benchmark's order or that of `ids`.
    similarity
        "dot" takes the vectors as they are; "cosine" scales each to length 1 first.
    name, ids, where
        See `karat.load_run`.
    checks
        What a read of both tables has found already, by `karat.runs.check_vectors`.

    Examples
    --------
    >>> images, captions = np.eye(2), np.array([[1, 0], [0.6, 0.8], [0, 1]])
    >>> EmbeddingRun(images, captions).top("i2t", 1).item.tolist()
    [0, 2]
    """

    kind = "embeddings"

    def __init__(
        self,
        images: Any,
        captions: Any,
        name: str = "run",
        similarity: str = "dot",
        ids: dict[str, Any] | None = None,
        where: str | None = None,
        checks: tuple[VectorCheck, ...] | None = None,
    ) -> None:
        super().__init__(name, ids, where)
        self.checks = checks or ()
        self.similarity = check_choice(similarity, SIMILARITIES, "similarity")
        tables = [as_vectors(table, where) for table in (images, captions)]
        check_dimensions(tables[0].shape[1], tables[1].shape[1], where)
        surveys = []
        for n, kind in enumerate(("image", "caption")):
            known = None if checks is None else checks[n]
            surveys.append(survey(tables[n], f"{where or name} ({kind} embeddings)", known))
            if exponent := surveys[n].exponent:
                tables[n] = adjusted(tables[n], exponent=exponent)
                surveys[n] = survey(tables[n])
        self.unit_length = all(np.abs(one.norms - 1).max() < 0.01 for one in surveys)
        if self.similarity == "cosine":
            tables = [adjusted(table, norms=one.norms) for table, one in zip(tables, surveys)]
            surveys = [survey(table) for table in tables]
        self.vectors = tuple(tables)
        """Of the images and of the captions, as they are multiplied."""
        self.norms = [one.norms for one in surveys]
        # Single precision overflows or underflows outside these: take double then.
        largest = float(self.norms[0].max() * self.norms[1].max())
        both_single = all(table.dtype == np.float32 for table in tables)
        self.use(np.float32 if both_single and 1e-12 < largest < 1e30 else np.float64)

    @property
    def images(self) -> np.ndarray:
        """All image vectors, read into memory where they are in a file."""
        return whole(self.vectors[0], self.dtype)

    @property
    def captions(self) -> np.ndarray:
        """All caption vectors, read into memory where they are in a file."""
        return whole(self.vectors[1], self.dtype)

    def use(self, precision: type[np.floating]) -> None:
        """Multiply in this precision from now on; the scores, exact as they are, stay the same."""
        self.dtype = np.dtype(precision)
        # A mapped file stays one: its rows are converted where they are read.
        self.vectors = tuple(
            ArrayVectors(whole(table, self.dtype)) if in_memory(table) and not is_mapped(table) else table
            for table in self.vectors
        )
        unit = float(np.finfo(self.dtype).eps) / 2
        terms = self.vectors[0].shape[1] + 8
        # Twice in double precision, where the recomputed score is no more exact than the product.
        sums = 2 if self.dtype == np.float64 else 1
        bound = 1.01 * sums * terms * unit / (1 - terms * unit)
        # One bound for all items of a query; products that underflow lose half of the smallest number each.
        image_norm, caption_norm = self.norms
        underflow = 1e-42 + terms * float(np.finfo(np.float32).smallest_subnormal)
        self.image_error = bound * image_norm * caption_norm.max() + underflow
        self.caption_error = bound * caption_norm * image_norm.max() + underflow

    def too_close(self) -> bool:
        """Whether single precision cannot distinguish most scores, as with a collapsed model."""
        rows, columns = (
            np.unique(np.linspace(0, size - 1, min(most, size)).astype(int))
            for size, most in zip(self.shape, (8, 4096))
        )
        left, right = (table.take(some) for table, some in zip(self.vectors, (rows, columns)))
        spread = (left @ right.T).std(axis=1)
        return bool(np.median(self.image_error[rows]) > 0.01 * np.median(spread))

    def _scan(self, items: list[JudgedItems], tops: list[TopRequest], options: PassOptions) -> Scanned:
        """Return where items come out and the first items of queries, in one pass over the products."""
        if self.dtype == np.float32 and self.too_close():
            double = copy(self)
            double.use(np.float64)
            return double._scan(items, tops, options)
        return super()._scan(items, tops, options)

    @property
    def extent(self) -> str:
        """Images and captions, and the dimensions of their vectors."""
        dimensions = f"{self.vectors[0].shape[1]:,} dimensions, similarity {self.similarity}"
        counted = dict.fromkeys(side.counted(number) for side, number in zip(self.sides, self.shape))
        return f"{' and '.join(counted)}, {dimensions}"

    @property
    def shape(self) -> tuple[int, int]:
        """Images by captions."""
        return len(self.vectors[0]), len(self.vectors[1])

    def check(self, benchmark: Benchmark) -> None:
        """Raise where there is not one row per image and per caption."""
        check_rows(self.vectors, benchmark, self.where or self.name)

    def pair_scores(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the exact scores of single pairs."""
        out = np.empty(len(row), np.float64)
        # Rows of files are read in the order in which they are there, a part at a time.
        there = all(in_memory(table, self.dtype) for table in self.vectors)
        step = len(row) if there else PAIR_BYTES // (16 * self.vectors[0].shape[1])
        for begin, end in spans(0, len(row), max(1, step)):
            # In a function, so that one part is gone before the next is read.
            out[begin:end] = self._pair_scores(row[begin:end], column[begin:end])
        return out

    def _pair_scores(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the exact scores of as many pairs as fit in memory."""
        (left, first), (right, second) = (
            self._some(table, index) for table, index in zip(self.vectors, (row, column))
        )
        return exact_products(left, right, first, second)

    def _some(self, table: Vectors, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors in memory, and for each row where it is among them."""
        if in_memory(table, self.dtype):
            return whole(table, self.dtype), rows
        distinct, place = np.unique(rows, return_inverse=True)
        return table.take(distinct).astype(self.dtype, copy=False), place

    def block(self, begin: int, end: int) -> np.ndarray:
        """Return the rounded scores of images begin to end."""
        return self._products(0, np.arange(begin, min(end, self.shape[0])))

    def query_scores(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return the rounded scores of all items for some queries."""
        return self._products(0 if asks_first(direction) else 1, queries)

    def _products(self, side: int, rows: np.ndarray) -> np.ndarray:
        """Return the products of some vectors of one side with all of the other."""
        left = self.vectors[side].take(rows).astype(self.dtype, copy=False)
        items = self.vectors[1 - side]
        if in_memory(items, self.dtype):
            return left @ whole(items, self.dtype).T
        out = np.empty((len(rows), len(items)), self.dtype)
        for begin, end in parts_of(items):
            np.matmul(left, items.read(begin, end).astype(self.dtype, copy=False).T, out=out[:, begin:end])
        return out

    def slack(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return twice the error of a score, and a little: of the k-th and of the one compared with it."""
        return 3 * in_order(direction, self.image_error, self.caption_error)[0][queries]

    def tile_bytes(self, step: tuple[int, int]) -> int:
        """Return the size of the vectors that are read from files for a tile."""
        width = self.vectors[0].shape[1] * self.dtype.itemsize
        # Those in memory already take none; while one part is read, and perhaps scaled, the one before it is
        # still there.
        return sum(
            (3 if isinstance(table, AdjustedVectors) else 2) * size * width
            for size, table in zip(step, self.vectors)
            if not in_memory(table, self.dtype)
        )

    def tile_scores(self, tile: Tile, before: TileScores | None) -> TileScores:
        """Read the vectors of a tile; those of its columns stay where the strip is the same."""
        left = self._read(0, tile.rows)
        same = before is not None and before.tile.columns == tile.columns
        right = before.right if before is not None and same else self._read(1, tile.columns)
        errors = (self.image_error[slice(*tile.rows)], self.caption_error[slice(*tile.columns)])
        return TileScores(tile, left, right, *errors)

    def _read(self, side: int, span: Span) -> np.ndarray:
        return self.vectors[side].read(*span).astype(self.dtype, copy=False)

    def digest(self) -> bytes:
        """Return a digest of all vectors."""
        digest = hashlib.blake2b(f"{self.shape} {self.similarity}".encode())
        for table in self.vectors:
            for begin, end in parts_of(table):
                digest.update(table.read(begin, end).astype(np.float64).tobytes())
        return digest.digest()


def exact_products(
    left: np.ndarray, right: np.ndarray, first: np.ndarray, second: np.ndarray, threads: int | None = None
) -> np.ndarray:
    """Return the exact scores of pairs: products of vectors, summed in double precision in one fixed order.

    >>> exact_products(np.eye(2), np.array([[3.0, 4.0]]), np.array([0, 1]), np.array([0, 0]))
    array([3., 4.])
    """
    from karat.runs.kernels import exact_pairs

    out = np.empty(len(first), np.float64)
    with thread_loop(threads) as loop:
        loop(lambda b, e: exact_pairs(left, right, first, second, b, e, out), 0, len(first))
    return out


class Survey(NamedTuple):
    """What has to be known of a table of vectors before it is used."""

    norms: np.ndarray
    exponent: int


def survey(table: Vectors, where: str | None = None, known: VectorCheck | None = None) -> Survey:
    """Return the lengths of all vectors, and the power of two to scale by so that squares stay in range.

    Raises on the first NaN or infinity, if it is told where the table is from. A table that was checked
    already is not read again.
    """
    norms = np.empty(len(table)) if known is None else known.norms
    for begin, end in parts_of(table) if known is None else ():
        part = table.read(begin, end)
        norms[begin:end] = lengths(part)
        if where is not None and not np.isfinite(norms[begin:end]).all():
            check_finite(part, where, begin)
    if known is not None:
        largest = known.largest
    elif 1e-10 < (longest := norms.max(initial=0)) < 1e15:
        # The largest number is at most as large, and not so much smaller that it matters.
        largest = longest
    else:
        largest = max((float(np.abs(table.read(*part)).max()) for part in parts_of(table)), default=0.0)
    in_range = largest == 0 or 1e-15 < largest < 1e15
    return Survey(norms, 0 if in_range else -int(np.frexp(largest)[1]))


def parts_of(table: Vectors) -> Iterator[Span]:
    """Yield begin and end of parts that fit in memory."""
    return spans(0, len(table), max(1, PART_BYTES // (8 * max(1, table.shape[1]))))


class AdjustedVectors(Vectors):
    """Vectors that are scaled when they are read: all by a power of two, or each to length 1."""

    def __init__(self, table: Vectors, exponent: int = 0, norms: np.ndarray | None = None) -> None:
        self.table, self.exponent, self.norms = table, exponent, norms
        self.shape, self.where = table.shape, table.where
        self.dtype = self.stored = np.dtype(np.float64) if exponent else table.dtype

    def _scaled(self, part: np.ndarray, rows: slice | np.ndarray) -> np.ndarray:
        if self.exponent:
            part = np.ldexp(part.astype(np.float64), self.exponent)
        if self.norms is None:
            return part
        norm = self.norms[rows]
        return part / np.where(norm > 0, norm, 1.0)[:, None].astype(part.dtype)

    def read(self, begin: int, end: int) -> np.ndarray:
        """Return rows begin to end."""
        return self._scaled(self.table.read(begin, end), slice(begin, end))

    read_stored = read

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return single rows."""
        return self._scaled(self.table.take(rows), rows)


def adjusted(table: Vectors, exponent: int = 0, norms: np.ndarray | None = None) -> Vectors:
    """Return scaled vectors, computed now where they are in memory and not in a file.

    Scaling all vectors of one side by one number changes no ranking.
    """
    scaled = AdjustedVectors(table, exponent, norms)
    here = in_memory(table) and not is_mapped(table)
    return ArrayVectors(scaled.read(0, len(table))) if here else scaled


def in_memory(table: Vectors, dtype: np.dtype | None = None) -> bool:
    """Whether vectors are an array, perhaps a mapped one, that can be used as it is in a type."""
    return (
        isinstance(table, ArrayVectors)
        and table.table.dtype == (dtype or table.dtype)
        and table.table.flags.c_contiguous
    )


def whole(table: Vectors, dtype: np.dtype) -> np.ndarray:
    """Return all vectors; those in memory are not copied."""
    return table.read(0, len(table)).astype(dtype, copy=False)


def lengths(table: np.ndarray) -> np.ndarray:
    """Return the length of every row, in double precision, whatever rows are around it."""
    table = table.astype(np.float64, copy=False)
    return np.sqrt(np.einsum("ij,ij->i", table, table))


def check_finite(table: np.ndarray, where: str, first_row: int = 0) -> None:
    """Raise on the first NaN or infinity."""
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        row, column = bad[0]
        raise not_finite(where, first_row + row, column, float(table[row, column]), table.dtype)
