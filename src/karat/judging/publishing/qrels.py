"""TREC qrels of a truth: what other tools read; a line ``query 0 item relevance`` for each judged pair."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat._util import write_file
from karat.benchmarks import DIRECTIONS, Benchmark, Direction, Truth
from karat.errors import InputError

if TYPE_CHECKING:
    import polars as pl

FINEST = 100
"""Relevance in qrels is a whole number: grades that are no simple fractions are rounded to hundredths."""


def write_qrels(benchmark: Benchmark, truth: Truth, folder: str | Path) -> dict[Direction, Path]:
    """Write qrels-i2t.trec and qrels-t2i.trec, one for each direction that the truth covers.

    Relevance is the grade times the smallest whole number that makes every grade whole, at most 100: with the
    grades 0, 0.5 and 1 it is 0, 1 and 2. A relevant pair never becomes 0. Ids with blanks cannot stand in
    such a file, and raise.

    Examples
    --------
    >>> import tempfile
    >>> from karat.benchmarks import Ids, Judgments, Provenance, Share
    >>> graded = [Provenance("people", "grade", Share(top=1))]
    >>> judged = Judgments([0, 0], [0, 1], rating=[0.5, 0], sources=graded)
    >>> truth = Truth("new", judged, {"i2t": np.arange(1)})
    >>> made = Benchmark("b", Ids(["dog.jpg"]), Ids([7, 8]), {"new": truth})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_qrels(made, truth, folder)["i2t"].read_text(), end="")
    dog.jpg 0 7 1
    dog.jpg 0 8 0
    """
    covered = [direction for direction in DIRECTIONS if len(truth.queries.get(direction, ()))]
    tables = {direction: qrels_table(benchmark, truth, direction) for direction in covered}
    written: dict[Direction, Path] = {}
    for direction, table in tables.items():
        written[direction] = Path(folder) / f"qrels-{direction}.trec"
        text = table.write_csv(include_header=False, separator=" ", quote_style="never")
        write_file(written[direction], partial(Path.write_text, data=text, encoding="utf-8", newline="\n"))
    return written


def qrels_table(benchmark: Benchmark, truth: Truth, direction: Direction) -> pl.DataFrame:
    """Return the lines of a file as a table."""
    import polars as pl

    rows = truth.judged(direction)
    query, item = benchmark.queries(direction)[rows.query_of_row], benchmark.items(direction)[rows.item]
    for ids in (query, item):
        check_plain(ids)
    relevance = whole_grades(rows.grade)
    return pl.DataFrame(
        {"query": query, "zero": np.zeros_like(relevance), "item": item, "relevance": relevance}
    )


def check_plain(ids: np.ndarray) -> None:
    """Raise when an id would break a line of a TREC file."""
    if ids.dtype.kind != "U":
        return
    for one in np.unique(ids).tolist():
        if not one or one.split() != [one]:
            raise InputError(
                f"the id {one!r} has a blank or nothing in it, which ends a field of a qrels file",
                fix="rename it, or publish without qrels",
            )


def whole_grades(grade: np.ndarray) -> np.ndarray:
    """Return grades as whole numbers, above 0 where the grade is.

    >>> whole_grades(np.array([0.0, 0.5, 1.0])).tolist(), whole_grades(np.array([0.0, 1 / 3])).tolist()
    ([0, 1, 2], [0, 1])
    >>> whole_grades(np.array([0.0, 0.001, 0.777])).tolist()
    [0, 1, 78]
    """
    different = np.unique(grade)
    for scale in range(1, FINEST + 1):
        scaled = different * scale
        if np.allclose(scaled, np.round(scaled), atol=1e-9):
            break
    return np.where(grade > 0, np.maximum(np.round(grade * scale), 1), 0).astype(np.int64)
