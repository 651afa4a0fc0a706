"""Table files of users, leaderboards and ratings: csv, tsv, txt and Parquet as cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat._util import check_parquet, check_text, parsing, unguard_table
from karat.errors import InputError, MissingDataError, unknown_name

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
MISSING = ("", "-", "–", "—", "na", "n/a", "nan", "none", "null")
"""How files mark that a cell is empty."""
ANSWERS = {"yes": "1", "true": "1", "no": "0", "false": "0"}
MOST_BYTES = 1_000_000_000
FIX = "give rows of equally many cells, the first row naming the columns"


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table whose cells are still text, or numbers where the file says so.

    Parameters
    ----------
    frame
        The cells.
    where
        The file.
    first_row
        The number of the first row, counted from 1: 2 below a header.
    answers
        Whether yes and no, true and false are the numbers 1 and 0.
    """

    frame: pl.DataFrame
    where: Path
    first_row: int = 2
    answers: bool = False

    def __len__(self) -> int:
        return len(self.frame)

    def text(self, column: str) -> np.ndarray:
        """Return a column as text, which must be there in every row."""
        import polars as pl

        cells = self.frame[column]
        if not (cells.dtype.is_integer() or cells.dtype in (pl.String, pl.Categorical, pl.Enum)):
            fix = "give whole numbers or text as ids"
            raise InputError(f"column {column!r} holds {cells.dtype}", where=self.where, fix=fix)
        cells = cells.cast(pl.String).str.strip_chars()
        empty = (cells.is_null() | (cells == "")).arg_true()
        if len(empty):
            row = int(empty[0]) + self.first_row
            raise InputError(f"row {row} has no {column}", where=self.where, fix="fill in every row")
        return cells.to_numpy().astype(str)

    def numbers(self, column: str) -> np.ndarray:
        """Return a column as numbers, NaN where a cell holds nothing; anything else is named and refused."""
        import polars as pl

        cells = self.frame[column]
        if cells.dtype.is_numeric() or (self.answers and cells.dtype == pl.Boolean):
            parsed = cells.cast(pl.Float64)
        elif cells.dtype == pl.String:
            texts = cells.fill_null("").str.strip_chars()
            plain = self._plain(texts)
            parsed = plain.cast(pl.Float64, strict=False)
            wrong = (parsed.is_null() & ~plain.is_in(MISSING)).arg_true()
            if len(wrong):
                row = int(wrong[0])
                what = f"row {row + self.first_row}, column {column!r} is {texts[row][:40]!r}, not a number"
                raise InputError(what, where=self.where, fix="write a number, or nothing where there is none")
        else:
            raise InputError(f"column {column!r} holds {cells.dtype}", where=self.where, fix="save numbers")
        numbers = parsed.fill_null(np.nan).to_numpy()
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers))) + self.first_row
            raise InputError(
                f"row {row}, column {column!r} is infinite", where=self.where, fix="give a number"
            )
        return numbers

    def holds_numbers(self, column: str) -> bool:
        """Whether any cell of a column is a number; a column of names is not meant as one."""
        import polars as pl

        cells = self.frame[column]
        if cells.dtype == pl.String:
            cells = self._plain(cells.str.strip_chars())
        elif not (cells.dtype.is_numeric() or (self.answers and cells.dtype == pl.Boolean)):
            return False
        return cells.cast(pl.Float64, strict=False).is_not_nan().any()

    def _plain(self, texts: pl.Series) -> pl.Series:
        """Return text in lower case, answers as numbers where they are."""
        plain = texts.str.to_lowercase()
        return plain.replace(ANSWERS) if self.answers else plain

    def choose(self, names: Sequence[str]) -> list[str]:
        """Return the columns of these names, or raise for the first that is not there."""
        for name in names:
            if name not in self.frame.columns:
                raise unknown_name("column", name, self.frame.columns, owner=str(self.where))
        return list(dict.fromkeys(names))


def read_cells(path: Path, head: bool = True, answers: bool = False) -> TableFile:
    """Read a table by its extension; in text files the first row names the columns, by default."""
    import polars as pl

    if not path.is_file():
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise MissingDataError(what, where=path, fix="give the path of the file")
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"has {path.stat().st_size / 1e6:,.0f} MB", where=path, fix="give a smaller table")
    if path.suffix.lower() == ".parquet":
        with parsing(path, "is not a Parquet table", "write it again"):
            check_parquet(path)
            return TableFile(pl.read_parquet(path, glob=False), path, 1, answers)
    if path.suffix.lower() not in SEPARATORS:
        known = ", ".join([*SEPARATORS, ".parquet"])
        raise InputError(f"has the extension {path.suffix!r}", where=path, fix=f"use one of {known}")
    check_text(path)
    if not path.stat().st_size:
        raise InputError("is empty", where=path, fix=FIX)
    sign = SEPARATORS[path.suffix.lower()]
    name = "commas" if sign == "," else "tabs"
    with parsing(path, f"is not a table with {name} between cells", FIX):
        frame = pl.read_csv(path, separator=sign, has_header=False, infer_schema=False, glob=False)
    if sign == ",":
        # What karat wrote for people to open has an apostrophe before what looks like a formula.
        frame = unguard_table(frame)
    blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if blank.all():
        raise InputError("is empty", where=path, fix=FIX)
    # Blank lines at the end go; one between rows keeps its number, and is refused when its ids are read.
    frame = frame[: int(blank.not_().arg_true()[-1]) + 1]
    if not head:
        return TableFile(frame, path, 1, answers)
    names = [(cell or "").strip("\ufeff ") or f"column {k}" for k, cell in enumerate(frame.row(0), start=1)]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"has two columns {twice[0]!r}", where=path, fix="give each column its own name")
    frame = frame[1:].rename(dict(zip(frame.columns, names)))
    if frame.is_empty():
        raise InputError("has no rows below its header", where=path, fix=FIX)
    return TableFile(frame, path, 2, answers)
