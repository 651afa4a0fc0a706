"""Marking images and captions invalid from a file: an invalid.csv with decisions in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from karat._util import parsing
from karat.benchmarks import Benchmark
from karat.errors import InputError

FIX = "write a csv with the columns kind, id, status and why"
REMOVE, KEEP, UNDECIDED = ("remove", "removed"), ("keep", "valid"), ("candidate", "")
REASON = "by a list"
Mark = tuple[str, int, bool, str]
"""The kind, the index, whether it is invalid, and why."""


def read_marks(path: str | Path, benchmark: Benchmark) -> list[Mark]:
    """Return what a file decides, a row each.

    Parameters
    ----------
    path
        A csv file with the columns kind ("caption" or "image"), id and status, and why where somebody says.
        Status "remove" marks the item invalid, "keep" valid again; "candidate" or nothing decides nothing.
    benchmark
        Whose ids they are.
    """
    import polars as pl

    path = Path(path)
    if not path.is_file():
        raise InputError("there is no such file", where=path, fix=FIX)
    with parsing(path, "is no csv file", FIX):
        table = pl.read_csv(path, infer_schema=False).fill_null("")
    for name in ("kind", "id", "status"):
        if name not in table.columns:
            raise InputError(f"has no column {name!r}", where=path, fix=FIX)
    reasons = table["why"].to_list() if "why" in table.columns else [""] * len(table)
    marks: dict[tuple[str, int], Mark] = {}
    rows = zip(table["kind"].to_list(), table["id"].to_list(), table["status"].to_list(), reasons)
    for number, (kind, name, status, why) in enumerate(rows, start=2):
        where = f"{path}, row {number}"
        ids = {"image": benchmark.images, "caption": benchmark.captions}.get(kind)
        if ids is None:
            raise InputError(f"the kind is {kind!r}", where=where, fix="write image or caption")
        index = int(ids.index([name], where)[0])
        if status in UNDECIDED:
            continue
        if status not in REMOVE + KEEP:
            raise InputError(f"the status is {status!r}", where=where, fix="write remove, keep or candidate")
        if (kind, index) in marks:
            raise InputError(f"the {kind} {name!r} stands there twice", where=where, fix="decide once")
        marks[kind, index] = (kind, index, status in REMOVE, why)
    return list(marks.values())


def mark(project: Any, path: str | Path, by: str) -> int:
    """Mark what a file decides, and return how many marks changed; a wrong file changes nothing."""
    now = project.reviews.invalid()
    changed = 0
    for kind, index, invalid, why in read_marks(path, project.benchmark()):
        if invalid == (index in now.get(kind, {})):
            continue
        (project.reviews.mark_invalid if invalid else project.reviews.mark_valid)(
            kind, index, why or REASON, by
        )
        changed += 1
    return changed
