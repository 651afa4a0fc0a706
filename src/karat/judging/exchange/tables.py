"""Reading comma-separated tables strictly, with the line of each row, and writing them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np

from karat.errors import InputError
from karat.judging.exchange.given import bad_line, shorten
from karat.judging.exchange.texts import Texts

QUOTES = 'write a cell with commas, quotes or line ends as "…", and " within it as ""'
LONGEST = 131_072
"""The most characters of a cell, which is the csv module's own limit."""
BLOCK = 50_000
Columns = dict[str, Texts]


def read_table(data: bytes, where: Path) -> tuple[np.ndarray, Columns]:
    """Return the line that each row starts in, and the cells of each column by its name.

    Every row must have as many cells as the first, which names the columns. Empty lines are passed over.

    Examples
    --------
    >>> lines, columns = read_table(b'a,b\\n1,"x\\ny"\\n2,z\\n', Path("t.csv"))
    >>> lines.tolist(), list(columns["b"])
    ([2, 4], ['x\\ny', 'z'])
    """
    top = data[: data.find(b"\n") + 1 or None].decode()
    # A name that holds a line end is cut here; such tables have quotes and are read the other way.
    first = top.rstrip("\r\n").split(",")
    if first == [""]:
        raise InputError("line 1 is empty", where=where, fix="name the columns there")
    found = None
    if b'"' not in data:
        plain = data.replace(b"\r\n", b"\n")
        found = None if b"\r" in plain or b"\n\n" in plain else read_plain(plain, first)
    return read_quoted(data, where) if found is None else found


def read_plain(data: bytes, names: Sequence[str]) -> tuple[np.ndarray, Columns] | None:
    """Read a table without quotes by polars, which is faster; None where any row is not as it should be.

    polars is not asked about quotes, which it reads as it likes when they are wrong. It fills short rows
    silently and refuses long ones: the number of commas tells whether there are any.
    """
    import polars as pl

    if len(set(names)) < len(names) or len(names) < 2:
        return None
    try:
        table = pl.read_csv(data, infer_schema=False, quote_char=None, raise_if_empty=False)
    except pl.exceptions.PolarsError:
        # The other way says what is wrong, and in which line.
        return None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if (
        table.columns != list(names)
        or table.height != lines - 1
        or data.count(b",") != lines * (len(names) - 1)
    ):
        return None
    columns = {}
    for series in table.fill_null(""):
        different = series.unique(maintain_order=True)
        if (different.str.len_chars() > LONGEST).any():
            return None
        place = pl.DataFrame({"text": different, "code": np.arange(len(different))})
        code = pl.DataFrame({"text": series}).join(place, on="text", how="left", maintain_order="left")[
            "code"
        ]
        columns[series.name] = Texts(different.to_list(), code.to_numpy())
    return np.arange(2, table.height + 2), columns


def read_quoted(data: bytes, where: Path) -> tuple[np.ndarray, Columns]:
    """Read any table by Python's csv module, which is strict about quotes and knows the lines."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline=""), strict=True)
    start, lines = 1, []
    try:
        names = next(reader, [])
        check_names(names, where)
        places: list[dict[str, int]] = [{} for _ in names]
        codes: list[list[np.ndarray]] = [[] for _ in names]
        start = reader.line_num + 1
        rows = []
        for row in reader:
            if len(row) == len(names):
                lines.append(start)
                rows.append(row)
            elif row:
                what = f"has {len(row)} cells, but line 1 names {len(names)} columns"
                raise bad_line(where, start, what, QUOTES)
            start = reader.line_num + 1
            if len(rows) == BLOCK:
                add_block(rows, places, codes)
                rows = []
        add_block(rows, places, codes)
    except csv.Error as error:
        huge = "field larger" in str(error)
        what = f"has a cell of more than {LONGEST:,} characters" if huge else "has broken quotes"
        raise bad_line(where, start, what, QUOTES) from None
    columns = {
        name: Texts(list(place), np.concatenate([np.zeros(0, np.int64), *code]))
        for name, place, code in zip(names, places, codes)
    }
    return np.array(lines, dtype=np.int64), columns


def add_block(rows: list[list[str]], places: list[dict[str, int]], codes: list[list[np.ndarray]]) -> None:
    """Add some rows to the columns."""
    for place, code, cells in zip(places, codes, zip(*rows)):
        code.append(np.fromiter((place.setdefault(one, len(place)) for one in cells), np.int64, len(cells)))


def check_names(names: Sequence[str], where: Path) -> None:
    """Raise when two columns have one name."""
    for at, name in enumerate(names):
        if name in names[:at]:
            raise bad_line(where, 1, f"the column {shorten(name)} stands twice", "keep one of them")


def check_columns(columns: Columns, known: Sequence[str], needed: Iterable[str], where: Path) -> None:
    """Raise on a column that is missing, and on one that means nothing here."""
    fix = f"the columns are {', '.join(known)}"
    for name in needed:
        if name not in columns:
            raise bad_line(where, 1, f"there is no column {name!r}", fix)
    for name in columns:
        if name not in known:
            raise bad_line(where, 1, f"there is a column {shorten(name)}", fix)


def write_rows(stream: TextIO, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table; None becomes an empty cell, and numbers come back exactly."""
    # With other line ends Python 3.11 would leave a lone carriage return without quotes.
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows(rows)
