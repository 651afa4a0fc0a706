"""Ranked lists as a long table, a row per listed item: query, item, score and perhaps direction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.benchmarks import asks_first, is_direction
from karat.errors import InputError
from karat.runs.formats.content import Content, by_direction, plain

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("query", "item", "score")
FIX = "name its columns query, item, score and, if it has both directions, direction"
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


def is_long(columns: Sequence[Any]) -> bool:
    """Whether these are the columns of a long table, or meant to be.

    >>> is_long(["query", "item", "score"]), is_long(["id", "embedding"])
    (True, False)
    """
    return "query" in columns or "item" in columns


def read_long(frame: pl.DataFrame, path: Path, first_line: int = 1) -> Content:
    """Return ranked lists: items by falling score, equal ones by `rank` where there is one, then by row.

    Text that is a whole number in every row is taken as one, for each side separately.
    """
    import polars as pl

    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise InputError(f"has no column {missing[0]!r}", where=path, fix=FIX)
    if frame.is_empty():
        raise InputError("holds no ranking", where=path, fix="write a row per listed item")
    columns = [name for name in (*COLUMNS, "direction", "rank") if name in frame.columns]
    frame = with_scores(frame.select(columns).with_row_index("row"), path, first_line)
    if "direction" not in columns:
        lists, scores = group(frame, path)
        return Content(lists=lists, scores=scores)
    ways = frame["direction"].cast(pl.String)
    known = sorted(filter(is_direction, ways.unique(maintain_order=True)), key=asks_first, reverse=True)
    strange = frame.filter(~ways.is_in(known))
    if len(strange):
        raise InputError(
            f"row {strange['row'][0] + first_line} has the direction {strange['direction'][0]!r}",
            where=path,
            fix="write one such as i2t, t2i or q2d",
        )
    parts = {direction: group(frame.filter(ways == direction), path) for direction in known}
    return Content(
        lists={direction: part[0] for direction, part in parts.items()},
        scores={direction: part[1] for direction, part in parts.items()},
    )


def with_scores(frame: pl.DataFrame, path: Path, first_line: int) -> pl.DataFrame:
    """Return a table with its scores as numbers, or raise on the first cell that is empty or no number."""
    import polars as pl

    texts = frame["score"]
    if not (texts.dtype.is_numeric() or texts.dtype == pl.String):
        raise InputError(f"score is a column of {texts.dtype}", where=path, fix="give numbers")
    frame = frame.with_columns(pl.col("score").cast(pl.Float64, strict=False))
    for name in frame.columns:
        empty = frame[name].is_null().arg_true()
        if len(empty):
            row = int(empty[0])
            shown = f"score is {texts[row]!r}" if name == "score" and texts[row] is not None else f"no {name}"
            raise InputError(f"row {row + first_line} has {shown}", where=path, fix="fill in every row")
    wrong = (~frame["score"].is_finite()).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"row {row + first_line} has the score {frame['score'][row]}",
            where=path,
            fix="scores must be finite",
        )
    return frame


def group(frame: pl.DataFrame, path: Path) -> tuple[dict[Any, list[Any]], dict[Any, list[float]]]:
    """Return the items and scores of every query, queries in the order of their first rows."""
    import polars as pl

    frame = frame.with_columns(id_column(frame["query"], path), id_column(frame["item"], path))
    ties = ["rank", "row"] if "rank" in frame.columns else ["row"]
    frame = frame.with_columns(first=pl.col("row").min().over("query")).sort(
        ["first", "score", *ties], descending=[False, True, *(False for _ in ties)]
    )
    first = frame["first"].to_numpy()
    starts = np.r_[0, np.flatnonzero(first[1:] != first[:-1]) + 1]
    ends = np.r_[starts[1:], len(first)]
    query = frame["query"].gather(starts).to_list()
    item, score = shared(frame["item"]), frame["score"].to_list()
    spans = list(zip(starts.tolist(), ends.tolist()))
    items, scores = ([column[b:e] for b, e in spans] for column in (item, score))
    return dict(zip(query, items)), dict(zip(query, scores))


def shared(column: pl.Series, most: int = 1 << 20) -> list[Any]:
    """Return the values of a column, equal ones as one object: an id that is listed often is kept once."""
    known: dict[Any, Any] = {}
    values: list[Any] = []
    for begin in range(0, len(column), most):
        values += [known.setdefault(value, value) for value in column[begin : begin + most].to_list()]
    return values


def id_column(column: pl.Series, path: Path) -> pl.Series:
    """Return ids as whole numbers where all are, else as text."""
    import polars as pl

    if column.dtype.is_integer():
        return column
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise InputError(
            f"{column.name} is a column of {column.dtype}",
            where=path,
            fix="give whole numbers or text as ids",
        )
    column = column.cast(pl.String)
    return column.cast(pl.Int64) if column.str.contains(WHOLE).all() else column


def long_frame(content: Content) -> pl.DataFrame:
    """Return ranked lists as a long table; where scores are unknown, minus the place is used."""
    import polars as pl

    columns: dict[str, list[Any]] = {name: [] for name in (*COLUMNS, "direction")}
    scores = by_direction(content.scores or {})
    for direction, lists in by_direction(content.lists or {}).items():
        for query, listed in lists.items():
            items = plain(listed)
            known = scores.get(direction, {}).get(query)
            columns["query"] += [query] * len(items)
            columns["item"] += items
            columns["score"] += [-float(k + 1) for k in range(len(items))] if known is None else plain(known)
            columns["direction"] += [direction] * len(items)
    frame = pl.DataFrame(
        {
            "query": as_column(columns["query"]),
            "item": as_column(columns["item"]),
            "score": pl.Series(columns["score"], dtype=pl.Float64),
            "direction": pl.Series(columns["direction"], dtype=pl.String),
        }
    )
    return frame.drop("direction") if "" in columns["direction"] else frame


def as_column(ids: list[Any]) -> pl.Series:
    """Return ids as a column of whole numbers or, where one is not, of text."""
    import polars as pl

    if all(isinstance(value, int | np.integer) for value in ids):
        return pl.Series([int(value) for value in ids], dtype=pl.Int64)
    return pl.Series([str(value) for value in ids], dtype=pl.String)
