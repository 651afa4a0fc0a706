"""Crisscrossed Captions' ratings of pairs (Parekh et al., EACL 2021), aggregated or raw."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from karat._util import parsing
from karat.benchmarks.ids import Ids
from karat.errors import InputError, MissingDataError

CXC_SCALE = "0 (unrelated) to 5 (complete), mean of five raters"
RELEVANT_FROM = 3.0
"""The rating from which CxC counts a pair as relevant; it gives the published 35,585 pairs."""

SCORES = ("agg_score", "score", "raw_score", "rating", "annotation")
"""What the column of ratings may be called; the aggregated file says agg_score."""


def read_ratings(path: Path, images: Ids, captions: Ids) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return image index, caption index and rating of every rated pair."""
    image, caption, rating = read_pairs(path)
    return images.index(image, where=path), captions.index(caption, where=path), rating


def read_pairs(
    path: Path, columns: tuple[str, str] = ("image", "caption"), task: str = "sits"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the two ids and the rating of every rated pair; `columns` name the ids.

    ``sits_test.csv`` has one row per pair with its aggregated rating; ``sits_test_raw.csv`` has one row
    per rater, and the mean of a pair's rows is its rating. Captions are named like
    ``COCO_val2014:sentid:732091`` and images like ``COCO_val2014_000000365325.jpg``: the last number of
    each is the id.
    """
    import polars as pl

    fix = f"give the complete {task}_test.csv or {task}_test_raw.csv"
    if not Path(path).is_file():
        raise MissingDataError("there is no such file", where=path, fix=fix)
    with parsing(path, "is not a csv table", fix):
        table = pl.read_csv(path, infer_schema=False)
    score = next((name for name in SCORES if name in table.columns), SCORES[0])
    for column in (*columns[::-1], score):
        if column not in table.columns:
            raise InputError(f"has no column {column!r}", where=path, fix=fix)
    if table.is_empty():
        raise InputError("has no rows", where=path, fix=fix)
    rows = table.select(
        *(pl.col(name).str.extract(r"(\d+)(?:\.\w+)?$").cast(pl.Int64, strict=False) for name in columns),
        pl.col(score).cast(pl.Float64, strict=False),
    )
    for column in rows.columns:
        if rows[column].null_count():
            row = int(np.flatnonzero(rows[column].is_null().to_numpy())[0])
            raise InputError(
                f"row {row + 2} has no readable {column}", where=path, fix="fix or remove the row"
            )
    if not rows[score].is_between(0, 5).all():
        raise InputError("holds a rating outside 0 to 5", where=path, fix=fix)
    pairs = rows.group_by(*columns, maintain_order=True).agg(pl.col(score).mean())
    first, second, rating = (pairs[column].to_numpy() for column in (*columns, score))
    return first, second, rating
