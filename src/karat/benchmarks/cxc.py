"""Crisscrossed Captions' raw caption–image ratings (Parekh et al., EACL 2021), ``sits_test.csv``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from karat.benchmarks.ids import Ids
from karat.validation import InputError, MissingDataError, parsing

CXC_SCALE = "0 (unrelated) to 5 (complete), mean of five raters"
RELEVANT_FROM = 3.0
"""The rating from which CxC counts a pair as relevant; it gives the published 35,585 pairs."""

COLUMNS = ("caption", "image", "agg_score")


def read_ratings(path: Path, images: Ids, captions: Ids) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return image index, caption index and rating of every row.

    Captions are named like ``COCO_val2014:sentid:732091`` and images like
    ``COCO_val2014_000000365325.jpg``: the last number of each is the id.
    """
    import polars as pl

    if not Path(path).is_file():
        raise MissingDataError("there is no such file", where=path, fix="give the path of sits_test.csv")
    with parsing(path, "is not a csv table", "give the complete sits_test.csv"):
        table = pl.read_csv(path, infer_schema=False)
    missing = [column for column in COLUMNS if column not in table.columns]
    if missing:
        raise InputError(f"has no column {missing[0]!r}", where=path, fix=f"it needs {', '.join(COLUMNS)}")
    if table.is_empty():
        raise InputError("has no rows", where=path, fix="give the complete sits_test.csv")
    ids = table.select(
        pl.col("image").str.extract(r"(\d+)(?:\.\w+)?$").cast(pl.Int64, strict=False),
        pl.col("caption").str.extract(r"(\d+)$").cast(pl.Int64, strict=False),
        pl.col("agg_score").cast(pl.Float64, strict=False),
    )
    for column in ids.columns:
        if ids[column].null_count():
            row = int(np.flatnonzero(ids[column].is_null().to_numpy())[0])
            raise InputError(
                f"row {row + 2} has no readable {column}", where=path, fix="mend or remove the row"
            )
    rating = ids["agg_score"].to_numpy()
    if ((rating < 0) | (rating > 5) | np.isnan(rating)).any():
        raise InputError("holds a rating outside 0 to 5", where=path, fix="give the aggregated scores")
    image = images.index(ids["image"].to_numpy(), where=path)
    return image, captions.index(ids["caption"].to_numpy(), where=path), rating
