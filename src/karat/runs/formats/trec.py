"""TREC run files: a line ``query Q0 item rank score tag`` per listed item.

Lines that are blank or begin with # are skipped.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from karat._util import first_text, parsing, text_blocks
from karat.errors import InputError, KaratError
from karat.runs.formats.content import Content, FormatWriter, by_direction, register
from karat.runs.formats.long_table import long_frame, read_long

if TYPE_CHECKING:
    import polars as pl

LINE = r"^\s*(?<query>\S+)\s+\S+\s+(?<item>\S+)\s+(?<rank>[-+]?[0-9]{1,18})\s+(?<score>\S+)(?:\s+\S.*)?$"
NO_SCORE = ("-", "na", "nan", "none", "null")
SKIPPED = r"^(#|$)"
NUMBER = r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?"
FIX = "write lines of query, Q0, item, rank, score, tag"


def read_trec(path: Path) -> Content:
    """Read ranked lists by falling score; the direction follows from their ids.

    Equal scores tie: the rank is their order in the list, which the tie policy "stable" keeps. Where the file
    has no scores (- or NA in every line), the rank is the order.
    """
    import polars as pl

    frames: list[pl.DataFrame] = []
    before = 0
    with parsing(path, "is not text", FIX):
        # Block by block: lines with all their parts take ten times the file.
        for block in text_blocks(path):
            frames += parts_of(block, before, path)
            before += block.count("\n")
    if not frames:
        raise InputError("is empty", where=path, fix=FIX)
    frame = pl.concat(frames, rechunk=True)
    frames.clear()
    if frame["score"].str.to_lowercase().is_in(NO_SCORE).all():
        frame = frame.with_columns(score=-pl.col("rank").cast(pl.Float64))
    return read_long(frame, path)


def parts_of(block: str, before: int, path: Path) -> list[pl.DataFrame]:
    """Return the parts of a block of lines as a table, none where all lines are skipped.

    Parameters
    ----------
    block
        Whole lines.
    before
        How many lines the file has before them.
    path
        The file, for messages.
    """
    import polars as pl

    lines = pl.Series("line", block.split("\n"))
    filled = pl.DataFrame({"line": lines, "number": range(before + 1, before + len(lines) + 1)}).filter(
        ~pl.col("line").str.strip_chars().str.contains(SKIPPED)
    )
    if filled.is_empty():
        return []
    frame = filled.select("number", pl.col("line").str.extract_groups(LINE).alias("part")).unnest("part")
    wrong = frame.filter(pl.col("query").is_null())
    if len(wrong):
        raise InputError(f"line {wrong['number'][0]} is not a line of a TREC run", where=path, fix=FIX)
    # Parts are views of the whole line until they are copied.
    return [frame.drop("number").with_columns(pl.col("rank").cast(pl.Int64, strict=False)).rechunk()]


def begins_like_trec(path: Path) -> bool:
    """Whether the first line of a file is one of a TREC run."""
    try:
        lines = (
            line.split() for line in first_text(path).split("\n") if not re.search(SKIPPED, line.strip())
        )
    except KaratError:
        return False
    first = next(lines, [])
    return len(first) >= 5 and all(re.fullmatch(NUMBER, cell) for cell in first[3:5])


def write_trec(content: Content, path: Path) -> None:
    """Write ranked lists of one direction; the format has no place for its name."""
    import polars as pl

    directions = by_direction(content.lists or {})
    if len(directions) > 1:
        raise InputError("holds one direction", where=path, fix="choose --direction, such as i2t, t2i or q2d")
    frame = long_frame(content).with_columns(pl.col("query", "item").cast(pl.String))
    for name in ("query", "item"):
        odd = frame.filter(pl.col(name).str.contains(r"\s") | (pl.col(name) == ""))
        if len(odd):
            raise InputError(
                f"the id {odd[name][0]!r} is empty or has a space, which separates fields of a TREC run",
                where=path,
                fix="convert to json or csv instead",
            )
    rank = pl.int_range(1, pl.len() + 1).over("query").alias("rank")
    frame.select(
        "query", pl.lit("Q0").alias("q0"), "item", rank, "score", pl.lit("karat").alias("tag")
    ).write_csv(path, separator=" ", include_header=False, quote_style="never")


register(
    ".trec",
    read_trec,
    FormatWriter(write_trec, ("lists",), one_direction=True),
    aliases=[".run"],
    recognise=begins_like_trec,
)
