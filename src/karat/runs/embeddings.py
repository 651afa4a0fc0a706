"""A run kept as two embedding tables, whose products are the scores."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Literal

import numpy as np

from karat._util import Loop, check_choice, check_table, not_finite, threads
from karat.benchmarks import Benchmark, Direction, JudgedItems
from karat.errors import InputError
from karat.runs.matrix import as_float
from karat.runs.run import FirstResults
from karat.runs.table import Counting, TableRun, other_benchmark

Similarity = Literal["dot", "cosine"]
SIMILARITIES = ("dot", "cosine")


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

    Examples
    --------
    >>> images, captions = np.eye(2), np.array([[1, 0], [0.6, 0.8], [0, 1]])
    >>> EmbeddingRun(images, captions).top("i2t", 1).item.tolist()
    [0, 2]
    """

    kind = "embeddings"

    # Threads of the matrix library go on spinning for a while after each product.
    most_rows = 512

    def __init__(
        self,
        images: Any,
        captions: Any,
        name: str = "run",
        similarity: Similarity = "dot",
        ids: dict[str, Any] | None = None,
        where: str | None = None,
    ) -> None:
        super().__init__(name, ids, where)
        self.similarity = check_choice(similarity, SIMILARITIES, "similarity")
        tables = [check_table(table, where) for table in (images, captions)]
        dimensions = [table.shape[1] for table in tables]
        if dimensions[0] != dimensions[1]:
            raise InputError(
                f"image embeddings have {dimensions[0]} dimensions, caption embeddings {dimensions[1]}: they "
                "are of different models, or of layers before the shared space",
                where=where,
                fix="give two tables of the same width, from the layer whose products the model compares",
            )
        for table, kind in zip(tables, ("image", "caption")):
            check_finite(table, f"{where or name} ({kind} embeddings)")
        self.images, self.captions = (within_range(as_float(table)) for table in tables)
        norms = [lengths(table) for table in (self.images, self.captions)]
        self.unit_length = all(np.abs(norm - 1).max() < 0.01 for norm in norms)
        if self.similarity == "cosine":
            self.images, self.captions = (
                table / np.where(norm > 0, norm, 1.0)[:, None].astype(table.dtype)
                for table, norm in zip((self.images, self.captions), norms)
            )
            norms = [lengths(table) for table in (self.images, self.captions)]
        self.norms = norms
        # Single precision overflows or underflows outside these: take double then.
        largest = float(norms[0].max() * norms[1].max())
        both_single = self.images.dtype == self.captions.dtype == np.float32
        self.use(np.float32 if both_single and 1e-12 < largest < 1e30 else np.float64)

    def use(self, precision: type[np.floating]) -> None:
        """Multiply in this precision from now on; the scores, exact as they are, stay the same."""
        self.dtype = np.dtype(precision)
        self.images = self.images.astype(self.dtype, copy=False)
        self.captions = self.captions.astype(self.dtype, copy=False)
        unit = float(np.finfo(self.dtype).eps) / 2
        terms = self.images.shape[1] + 8
        # Twice in double precision, where the recomputed score is no more exact than the product.
        sums = 2 if self.dtype == np.float64 else 1
        bound = 1.01 * sums * terms * unit / (1 - terms * unit)
        # One bound for all items of a query; the last term covers products that underflow.
        image_norm, caption_norm = self.norms
        self.image_error = bound * image_norm * caption_norm.max() + 1e-42
        self.caption_error = bound * caption_norm * image_norm.max() + 1e-42

    def too_close(self) -> bool:
        """Whether single precision cannot distinguish most scores, as with a collapsed model."""
        some = np.linspace(0, len(self.images) - 1, min(8, len(self.images))).astype(int)
        spread = (self.images[some] @ self.captions.T).std(axis=1)
        return bool(np.median(self.image_error[some]) > 0.01 * np.median(spread))

    def scan(
        self, items: Sequence[JudgedItems], threads: int | None = None, first: bool = False
    ) -> tuple[list[JudgedItems], FirstResults]:
        """Return where items come out and the first item of every query, in one pass over the products."""
        if self.dtype == np.float32 and self.too_close():
            double = copy(self)
            double.use(np.float64)
            return double.scan(items, threads, first)
        return super().scan(items, threads, first)

    @property
    def extent(self) -> str:
        """Images and captions, and the dimensions of their vectors."""
        dimensions = f"{self.images.shape[1]:,} dimensions, similarity {self.similarity}"
        return f"{self.images.shape[0]:,} images and {self.captions.shape[0]:,} captions, {dimensions}"

    @property
    def shape(self) -> tuple[int, int]:
        """Images by captions."""
        return len(self.images), len(self.captions)

    def check(self, benchmark: Benchmark) -> None:
        """Raise where there is not one row per image and per caption."""
        expected = (benchmark.images.size, benchmark.captions.size)
        for size, known, kind in zip(self.shape, expected, ("image", "caption")):
            if size != known:
                raise InputError(
                    f"has {size:,} {kind} embeddings, but {benchmark.name} has {known:,} {kind}s",
                    where=self.where or self.name,
                    fix=other_benchmark(self.shape)
                    or f"embed every {kind}, in the order that {benchmark.order_shown}",
                )

    def pair_scores(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the exact scores of single pairs."""
        from karat.runs.kernels import exact_pairs

        out = np.empty(len(row), np.float64)
        with threads() as loop:
            loop(lambda b, e: exact_pairs(self.images, self.captions, row, column, b, e, out), 0, len(row))
        return out

    def block(self, begin: int, end: int) -> np.ndarray:
        """Return the rounded scores of images begin to end."""
        return self.images[begin:end] @ self.captions.T

    def query_scores(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return the rounded scores of all items for some queries."""
        vectors, items = (self.images, self.captions) if direction == "i2t" else (self.captions, self.images)
        return vectors[queries] @ items.T

    def slack(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return twice the error of a score, and a little: of the k-th and of the one compared with it."""
        return 3 * (self.image_error if direction == "i2t" else self.caption_error)[queries]

    def check_block(self, block: np.ndarray, row0: int, loop: Loop) -> None:
        """Nothing to do: finite embeddings within range have finite products."""

    def count_rows(
        self, counting: Counting, block: np.ndarray, row0: int, span: tuple[int, int], loop: Loop
    ) -> None:
        """Add to the counts of the queries that are the rows of `span` of the block."""
        from karat.runs.kernels import count_near_in_rows

        items, scores, order = counting
        loop(
            lambda b, e: count_near_in_rows(
                block, row0, b, e, items.ptr, items.item, scores, counting.gallery, order,
                self.images, self.captions, self.image_error, items.above, items.tied, items.earlier,
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
        from karat.runs.kernels import count_near_in_columns

        items, scores, order = counting
        loop(
            lambda b, e: count_near_in_columns(
                block, row0, rows, b, e, items.ptr, items.item, scores, order,
                self.captions, self.images, self.caption_error, items.above, items.tied, items.earlier,
            ),
            *span,
        )  # fmt: skip


def lengths(table: np.ndarray) -> np.ndarray:
    """Return the length of every row, in double precision."""
    return np.sqrt(np.einsum("ij,ij->i", table, table, dtype=np.float64))


def within_range(table: np.ndarray) -> np.ndarray:
    """Return a table whose squares neither overflow nor vanish, scaled by a power of two if need be.

    Scaling all vectors of one side changes no ranking.
    """
    largest = float(np.abs(table).max())
    if largest == 0 or 1e-15 < largest < 1e15:
        return table
    return np.ldexp(table.astype(np.float64), -int(np.frexp(largest)[1]))


def check_finite(table: np.ndarray, where: str) -> None:
    """Raise on the first NaN or infinity."""
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        row, column = bad[0]
        raise not_finite(where, row, column, float(table[row, column]), table.dtype)
