"""csv and tsv, for small runs: ranked lists as a long table, or numbers without a header."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat._util import parsing
from karat.errors import InputError
from karat.runs.formats.blocks import finite_blocks
from karat.runs.formats.content import Content, FormatWriter, register
from karat.runs.formats.long_table import is_long, long_frame, read_long

if TYPE_CHECKING:
    import polars as pl

MOST_BYTES = 200_000_000
FIX = "give rows of numbers without a header, or the columns query, item, score with one"


class Separated:
    """Text with a separator between its cells.

    Parameters
    ----------
    sign
        A comma or a tab.
    """

    def __init__(self, sign: str) -> None:
        self.sign = sign

    def cells(self, path: Path) -> pl.DataFrame:
        """Return all cells as text; blank lines are left out."""
        import polars as pl

        size = path.stat().st_size
        if size > MOST_BYTES:
            raise InputError(
                f"is too large ({size / 1e6:,.0f} MB)", where=path, fix="save a run of this size as npy"
            )
        with parsing(path, f"is not a table with {self.sign!r} between cells", FIX):
            frame = pl.read_csv(path, separator=self.sign, has_header=False, infer_schema=False)
            frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        if frame.is_empty():
            raise InputError("is empty", where=path, fix=FIX)
        return frame

    def read(self, path: Path) -> Content:
        """Read ranked lists or a table of scores."""
        cells = self.cells(path)
        head = [str(cell or "").strip("\ufeff ") for cell in cells.row(0)]
        if not is_long(head):
            return Content(tables=(numbers(cells, path),))
        if len(set(head)) < len(head):
            raise InputError("has two columns of the same name", where=path, fix=FIX)
        return read_long(cells[1:].rename(dict(zip(cells.columns, head))), path, first_line=2)

    def shape(self, path: Path) -> tuple[int, ...]:
        """Return the shape of the table; () for ranked lists."""
        with parsing(path, "is not text", FIX), path.open(encoding="utf-8-sig") as handle:
            head = handle.readline(1 << 20)
        if is_long([cell.strip(' "\n\r') for cell in head.split(self.sign)]):
            return ()
        return self.cells(path).shape

    def write(self, content: Content, path: Path) -> None:
        """Write ranked lists with a header, or a table without one, block by block."""
        import polars as pl

        with path.open("wb") as handle:
            if content.lists is not None:
                long_frame(content).write_csv(handle, separator=self.sign)
                return
            for block in finite_blocks(content.tables[0], content.where or path):
                # Halves and singles are exact as doubles, whose shortest text reads back the same.
                exact = block.astype(np.float64 if block.dtype.kind == "f" else np.int64)
                pl.from_numpy(exact).write_csv(handle, separator=self.sign, include_header=False)


def numbers(cells: pl.DataFrame, path: Path) -> np.ndarray:
    """Return cells as numbers; the first that is not a number is named."""
    import polars as pl

    table = cells.select(pl.all().str.strip_chars().cast(pl.Float64, strict=False))
    wrong = [
        (int(column.is_null().arg_true()[0]), k) for k, column in enumerate(table) if column.null_count()
    ]
    if wrong:
        row, column = min(wrong)
        cell = cells[row, column]
        shown = "is empty" if cell is None else f"is {cell[:40]!r}, not a number"
        raise InputError(f"row {row + 1}, column {column + 1} {shown}", where=path, fix=FIX)
    return table.to_numpy()


for extension, sign in ((".csv", ","), (".tsv", "\t")):
    form = Separated(sign)
    register(extension, form.read, FormatWriter(form.write, ("scores", "vectors", "lists")), shape=form.shape)
