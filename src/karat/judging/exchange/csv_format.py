"""``csv``: a row per answer. Tasks are a sheet with a row per pair, to be filled in and imported."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from karat._util import guard, track, unguard
from karat.errors import InputError
from karat.judging.exchange.file_answers import (
    TEXTS,
    WRITTEN,
    Detail,
    ImportedAnswers,
    TextColumn,
    as_seconds,
    as_times,
    bad_line,
    shorten,
)
from karat.judging.exchange.files import writing
from karat.judging.exchange.formats import FORMATS, Format

if TYPE_CHECKING:
    from karat.forms import Form
    from karat.judging.exchange.file_answers import ExportedAnswers
    from karat.judging.exchange.tasks import ExportedTasks

SHOWN = ("image_address", "caption_text", "own_image_address")
"""Columns for the annotators who fill in a sheet; they are not read."""
COLUMNS = (*TEXTS, "seconds", "at")
JOIN = "|"
"""Separates the choices in a cell; codes never contain it."""
QUOTES = 'write a cell with commas, quotes or line ends as "…", and " inside it as ""'
LONGEST = 131_072
"""The most characters of a cell, which is the csv module's own limit."""
BLOCK = 50_000
"""How many rows are added to the columns at a time."""
Columns = dict[str, TextColumn]


def detail_columns(form: Form) -> list[str]:
    """Return the columns of the follow-up questions, such as ``details.shortcomings``."""
    return [f"details.{question.code}" for question in form.follow_ups]


def write_tasks(tasks: ExportedTasks, path: Path) -> list[Path]:
    """Write a sheet with a row per pair, and empty cells for the annotator and the answer."""
    details = detail_columns(tasks.form)
    empty = [""] * (2 + len(details))
    shown = SHOWN if tasks.form.own_image else SHOWN[:2]
    rows = (
        [
            task.name,
            item.number,
            *map(guard, (item.image, item.caption, item.own_image)[: len(shown)]),
            *empty,
        ]
        for task in tasks.tasks
        for item in task.items
    )
    with writing(path) as stream:
        write_rows(stream, ["task", "item", *shown, WRITTEN["annotator"], "answer", *details], rows)
    return [path]


def write_answers(answers: ExportedAnswers, path: Path) -> None:
    """Write a row per answer."""
    codes = [question.code for question in answers.form.follow_ups]
    names = [WRITTEN.get(name, name) for name in COLUMNS if name != "item"] + detail_columns(answers.form)
    rows = (
        [
            answer.task,
            id_cell(answer.image),
            id_cell(answer.caption),
            guard(answer.annotator),
            answer.kind,
            answer.code,
            answer.seconds,
            answer.at,
            *(detail_cell(answer.details.get(code, "")) for code in codes),
        ]
        for answer in track(answers.rows, "writing answers")
    )
    with writing(path) as stream:
        write_rows(stream, names, rows)


def write_rows(stream: TextIO, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table; None becomes an empty cell, and numbers are read back exactly."""
    # With other line ends Python 3.11 would leave a lone carriage return without quotes.
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows(rows)


def id_cell(value: object) -> object:
    """Return an id for a cell; numbers are not formulas."""
    return guard(value) if isinstance(value, str) else value


def detail_cell(value: str | list[str]) -> str:
    """Return the answer to a follow-up question for a cell."""
    return guard(value) if isinstance(value, str) else JOIN.join(value)


def read(data: bytes, form: Form, where: Path) -> ImportedAnswers:
    """Read a row per answer; rows of a sheet that were not filled in are left out."""
    lines, table = read_table(data, where)
    columns = renamed_columns(table, where)
    check_columns(columns, [*COLUMNS, *detail_columns(form), *SHOWN], where)
    filled = (columns["annotator"].numbers(bool) | columns["answer"].numbers(bool)).astype(bool)
    notes: tuple[str, ...] = ()
    if not filled.all():
        notes = (f"{int((~filled).sum()):,} rows without annotator and answer were left out",)
        lines, columns = lines[filled], {name: column.where(filled) for name, column in columns.items()}
    cells: dict[str, Any] = {name: columns.get(name, TextColumn.empty(len(lines))) for name in COLUMNS}
    for name in ("image", "caption", "annotator"):
        cells[name] = cells[name].texts(unguard)
    seconds, at = as_seconds(cells.pop("seconds"), lines, where), as_times(cells.pop("at"), lines, where)
    cells |= {"details": read_details(columns, form), "notes": notes}
    name = "annotator" if "annotator" in table else WRITTEN["annotator"]
    return ImportedAnswers(where, lines, **cells, seconds=seconds, at=at, annotator_column=name)


def renamed_columns(columns: Columns, where: Path) -> Columns:
    """Return the columns by karat's names: a file may call the annotator `worker`, but not both.

    >>> list(renamed_columns({"task": TextColumn.empty(1), "worker": TextColumn.empty(1)}, Path("a.csv")))
    ['task', 'annotator']
    """
    for name, written in WRITTEN.items():
        if name in columns and written in columns:
            what = f"the columns {written!r} and {name!r} mean the same"
            raise bad_line(where, 1, what, "keep one of them")
    names = {written: name for name, written in WRITTEN.items()}
    return {names.get(name, name): column for name, column in columns.items()}


def check_columns(columns: Columns, known: Sequence[str], where: Path) -> None:
    """Raise on a missing column, on one that is not known, and when none name the pair."""
    fix = f"the columns are {', '.join(WRITTEN.get(name, name) for name in known)}"
    for name in ("annotator", "answer"):
        if name not in columns:
            raise bad_line(where, 1, f"there is no column {WRITTEN.get(name, name)!r}", fix)
    for name in columns:
        if name not in known:
            raise bad_line(where, 1, f"there is an unknown column {shorten(name)}", fix)
    if not ({"task", "item"} <= columns.keys() or {"image", "caption"} <= columns.keys()):
        raise bad_line(where, 1, "no columns name the pair", "give task and item, or image and caption")


def read_details(columns: Columns, form: Form) -> list[Detail]:
    """Return the follow-ups of every row that has some."""
    details: list[Detail] = []
    for question in form.follow_ups:
        column = columns.get(f"details.{question.code}", TextColumn.empty(0))
        parsed = [
            unguard(text) if question.kind == "text" else tuple(text.split(JOIN)) for text in column.values
        ]
        rows = np.flatnonzero(column.numbers(bool))
        for row, code in zip(rows.tolist(), column.code[rows].tolist()):
            details.append((row, question.code, parsed[code]))
    return details


def read_table(data: bytes, where: Path) -> tuple[np.ndarray, Columns]:
    """Return the line that each row starts in, and the cells of each column by its name.

    Every row must have as many cells as the first, which names the columns. Empty lines are skipped.

    Examples
    --------
    >>> lines, columns = read_table(b'a,b\\n1,"x\\ny"\\n2,z\\n', Path("t.csv"))
    >>> lines.tolist(), list(columns["b"])
    ([2, 4], ['x\\ny', 'z'])
    """
    # A name that contains a line end is cut here; such tables have quotes and are read by `read_quoted`.
    names = data[: data.find(b"\n") + 1 or None].decode().rstrip("\r\n").split(",")
    if names == [""]:
        raise InputError("line 1 is empty", where=where, fix="name the columns there")
    table = None
    if b'"' not in data:
        plain = data.replace(b"\r\n", b"\n")
        table = None if b"\r" in plain or b"\n\n" in plain else read_unquoted(plain, names)
    return read_quoted(data, where) if table is None else table


def read_unquoted(data: bytes, names: Sequence[str]) -> tuple[np.ndarray, Columns] | None:
    """Read a table without quotes with polars, which is faster; None where any row is malformed.

    polars does not see quotes, since it is lenient where they are wrong. It fills short rows silently and
    refuses long ones: the number of commas shows whether there are any.
    """
    import polars as pl

    if len(set(names)) < len(names) or len(names) < 2:
        return None
    try:
        table = pl.read_csv(data, infer_schema=False, quote_char=None, raise_if_empty=False)
    except pl.exceptions.PolarsError:
        # `read_quoted` says what is wrong, and in which line.
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
        distinct = series.unique(maintain_order=True)
        if (distinct.str.len_chars() > LONGEST).any():
            return None
        index = pl.DataFrame({"text": distinct, "code": np.arange(len(distinct))})
        code = pl.DataFrame({"text": series}).join(index, on="text", how="left", maintain_order="left")
        columns[series.name] = TextColumn(distinct.to_list(), code["code"].to_numpy())
    return np.arange(2, table.height + 2), columns


def read_quoted(data: bytes, where: Path) -> tuple[np.ndarray, Columns]:
    """Read any table with Python's csv module, which is strict about quotes and knows the lines."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline=""), strict=True)
    start, lines = 1, []
    try:
        names = next(reader, [])
        check_names(names, where)
        indices: list[dict[str, int]] = [{} for _ in names]
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
                add_block(rows, indices, codes)
                rows = []
        add_block(rows, indices, codes)
    except csv.Error as error:
        huge = "field larger" in str(error)
        what = f"has a cell of more than {LONGEST:,} characters" if huge else "has broken quotes"
        raise bad_line(where, start, what, QUOTES) from None
    columns = {
        name: TextColumn(list(index), np.concatenate([np.zeros(0, np.int64), *code]))
        for name, index, code in zip(names, indices, codes)
    }
    return np.array(lines, dtype=np.int64), columns


def add_block(rows: list[list[str]], indices: list[dict[str, int]], codes: list[list[np.ndarray]]) -> None:
    """Add some rows to the columns."""
    for index, code, cells in zip(indices, codes, zip(*rows)):
        numbers = (index.setdefault(text, len(index)) for text in cells)
        code.append(np.fromiter(numbers, np.int64, len(cells)))


def check_names(names: Sequence[str], where: Path) -> None:
    """Raise when two columns have the same name."""
    for at, name in enumerate(names):
        if name in names[:at]:
            raise bad_line(where, 1, f"there is a duplicate column {shorten(name)}", "keep one of them")


def header_names(head: str) -> set[str]:
    """Return the names of the columns in the start of a file.

    >>> sorted(header_names('task,"answer"\\r\\n0,yes'))
    ['answer', 'task']
    """
    return set(head.partition("\n")[0].replace('"', "").strip().split(","))


def fits(head: str) -> bool:
    """Whether a file starts like a table of answers."""
    names = header_names(head)
    return "answer" in names and not names.isdisjoint(("annotator", WRITTEN["annotator"]))


FORMATS.add(
    "csv",
    Format("csv", "a row per answer; for spreadsheets", ".csv", write_tasks, write_answers, read, fits),
)
