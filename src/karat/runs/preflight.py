"""The pre-flight pass over embedding tables: one read that finds what would make hours of scoring worthless.

Missing and broken files, and files of another width, are found before it by their names and headers.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from karat._util import not_finite, plural, stage, thread_count
from karat.benchmarks import Benchmark
from karat.errors import InputError, KaratError
from karat.runs.table import other_benchmark
from karat.runs.vectors import ArrayVectors, ChosenRows, Shards, Vectors

PART_BYTES = 16 << 20
MOST_SHOWN = 3


@dataclass(frozen=True, eq=False)
class VectorCheck:
    """What one read of a table of vectors found.

    Parameters
    ----------
    norms
        The length of every row, in double precision; NaN where a number is not finite or could not be read.
    largest
        The largest magnitude among the finite rows.
    errors
        What keeps the table from being used: the first of each file, which names the row.
    warnings
        What a reader should know.
    source
        The files and their types, in words.
    """

    norms: np.ndarray
    largest: float
    errors: tuple[KaratError, ...] = ()
    warnings: tuple[str, ...] = ()
    source: str = ""

    def raise_errors(self) -> None:
        """Raise the first error, and say how many files have one."""
        if len(self.errors) > 1:
            first = self.errors[0]
            others = [Path(str(error.where)).name for error in self.errors[1:]]
            shown = ", ".join(others[:MOST_SHOWN]) + (", …" if len(others) > MOST_SHOWN else "")
            what = f"{first.what} (and something in {plural(len(others), 'other file')}: {shown})"
            raise InputError(what, where=first.where, fix=first.fix)
        if self.errors:
            raise self.errors[0]


def check_vectors(
    vectors: Vectors,
    kind: str = "image",
    *,
    cosine: bool = False,
    threads: int | None = None,
) -> VectorCheck:
    """Read a table once, part by part on several threads, and return what is wrong with it and its norms.

    Parameters
    ----------
    vectors
        The table.
    kind
        What a row is, "image" or "caption", for messages.
    cosine
        Whether vectors are to be scaled to length 1: of those of length 0 there is a warning then.
    threads
        How many; all by default.

    Examples
    --------
    >>> from karat.runs import ArrayVectors
    >>> check = check_vectors(ArrayVectors(np.array([[3.0, 4.0], [0.0, np.nan]]), "img.npy"))
    >>> check.norms.tolist(), str(check.errors[0]).split(";")[0]
    ([5.0, nan], 'img.npy (image embeddings): row 1, column 1 is nan')
    """
    step = max(1, PART_BYTES // (vectors.dtype.itemsize * vectors.shape[1]))
    norms = np.full(len(vectors), np.nan)
    errors: dict[str | None, KaratError] = {}
    largest = 0.0

    def read(span: tuple[int, int]) -> tuple[float, KaratError | None]:
        try:
            block = vectors.read(*span)
        except KaratError as unreadable:
            return 0.0, unreadable
        with np.errstate(over="ignore", invalid="ignore"):
            double = block.astype(np.float64, copy=False)
            norms[slice(*span)] = np.sqrt(np.einsum("ij,ij->i", double, double))
            most = max(float(block.max()), -float(block.min()))
        if np.isfinite(most):
            return most, None
        finite = np.isfinite(block)
        row, column = np.argwhere(~finite)[0]
        norms[slice(*span)][~finite.all(axis=1)] = np.nan
        where, number = vectors.place(span[0] + int(row))
        place = f"{where} ({kind} embeddings)"
        value = float(block[row, column])
        return (
            float(np.abs(block[finite]).max(initial=0)),
            not_finite(place, number, int(column), value, vectors.stored),
        )

    checking = stage(f"checking the {kind} embeddings", len(vectors))
    with ThreadPoolExecutor(thread_count(threads)) as pool, checking:
        spans = list(vectors.spans(step))
        for (begin, end), (most, error) in zip(spans, pool.map(read, spans)):
            largest = max(largest, most)
            if error is not None:
                errors.setdefault(vectors.place(begin)[0], error)
            checking.advance(end - begin)
    warnings = mixed_types(vectors, kind)
    zero = np.flatnonzero(norms == 0)
    if cosine and len(zero):
        where, row = vectors.place(int(zero[0]))
        many = f"{plural(len(zero), f'{kind} vector')} {'is' if len(zero) == 1 else 'are'} zero"
        warnings.append(f"{many}, first row {row} of {where}: all cosines with a zero vector are 0")
    return VectorCheck(norms, largest, tuple(errors.values()), tuple(warnings), source_of(vectors))


def source_of(vectors: Vectors) -> str:
    """Return the files of a table and their types, in words."""
    while isinstance(vectors, ChosenRows):
        vectors = vectors.vectors
    if not isinstance(vectors, Shards):
        return f"{vectors.where or 'an array'} of {vectors.stored}"
    types = " and ".join(dict.fromkeys(shard.stored_as for shard in vectors.shards))
    return f"{plural(len(vectors.shards), 'file')} of {types} in {vectors.where}"


def mixed_types(vectors: Vectors, kind: str) -> list[str]:
    """Return a note where the files of one table are of different types."""
    shards = vectors.shards if isinstance(vectors, Shards) else []
    first: dict[str, str] = {}
    for shard in shards:
        first.setdefault(shard.stored_as, shard.path.name)
    if len(first) < 2:
        return []
    shown = " and ".join(f"{dtype} (first {name})" for dtype, name in first.items())
    return [f"the files of the {kind} embeddings are of {shown}: perhaps not all are of one model"]


def check_embeddings(
    tables: tuple[Vectors, Vectors], benchmark: Benchmark | None, where: str | None, *, cosine: bool = False
) -> tuple[VectorCheck, ...] | None:
    """Check two tables before a run is made of them: their numbers of rows first, then what is in them.

    Raises for the first thing that cannot be scored, by its file and row. What is mapped as a whole is not
    read here: the run itself sees it.
    """
    if all(isinstance(table, ArrayVectors) for table in tables):
        return None
    if benchmark is not None:
        check_rows(tables, benchmark, where)
    checks = []
    for table, kind in zip(tables, ("image", "caption")):
        checks.append(check_vectors(table, kind, cosine=cosine))
        checks[-1].raise_errors()
    return tuple(checks)


def check_rows(tables: Sequence[Vectors], benchmark: Benchmark, where: str | None) -> None:
    """Raise where there is not one row per item of each side."""
    for table, side, known in zip(tables, benchmark.sides, benchmark.ids):
        if len(table) != known.size:
            raise InputError(
                f"has {len(table):,} {side.one} embeddings{in_files(table)}, "
                f"but {benchmark.name} has {side.counted(known.size)}",
                where=table.where or where,
                fix=other_benchmark((len(tables[0]), len(tables[1])))
                or f"embed every {side.one}, in the order that {benchmark.order_shown}",
            )


def check_dimensions(images: int, captions: int, where: str | None) -> None:
    """Raise where image and caption embeddings have different widths."""
    if images != captions:
        raise InputError(
            f"image embeddings have {images} dimensions, caption embeddings {captions}: they "
            "are of different models, or of layers before the shared space",
            where=where,
            fix="give two tables of the same width, from the layer whose products the model compares",
        )


def in_files(table: Vectors) -> str:
    """Return how many rows the files of a table have, in words; "" for a single file.

    Numbers of rows show what is missing: the last file is shorter than others, or the last one is not there.
    """
    if not isinstance(table, Shards) or len(table.shards) == 1:
        return ""
    rows = [shard.shape[0] for shard in table.shards]
    most = max(set(rows), key=rows.count)
    odd = [shard for shard in table.shards if shard.shape[0] != most]
    named = ", ".join(f"{shard.path.name} {shard.shape[0]:,}" for shard in odd[:MOST_SHOWN])
    more = f", and {len(odd) - MOST_SHOWN:,} more differ" if len(odd) > MOST_SHOWN else ""
    return f" in {len(rows):,} files of {most:,}{f' ({named}{more})' if odd else ''}"
