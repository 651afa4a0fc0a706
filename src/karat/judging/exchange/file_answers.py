"""Answers on their way: as a project exports them, and as a file gives them before they are checked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from karat.errors import InputError

if TYPE_CHECKING:
    from karat.forms import Form
    from karat.judging.exchange.tasks import ExportedTask

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
Detail = tuple[int, str, "str | tuple[str, ...]"]
"""The row of the answer, the follow-up question, and its choices or its text."""
Lines = Sequence[int] | np.ndarray
TEXTS = ("task", "item", "image", "caption", "annotator", "kind", "answer")
COLUMNS = ("line", *TEXTS, "seconds", "at")
WRITTEN = {"annotator": "worker"}
"""Columns with another name in files, which other programs read. Imports accept both names."""


@dataclass(frozen=True)
class ExportedAnswer:
    """One answer in effect."""

    task: int | None
    item: int | None
    image: Any
    caption: Any
    annotator: str
    kind: str
    code: str
    seconds: float | None
    at: float
    details: dict[str, str | list[str]]
    assignment: int


class AnswerRecords(Protocol):
    """Answers that can be counted, and gone through several times."""

    def __len__(self) -> int:
        """Return how many there are."""

    def __iter__(self) -> Iterator[ExportedAnswer]:
        """Go through them."""


@dataclass(frozen=True)
class ExportedAnswers:
    """The answers of a project, in the order of its table.

    Parameters
    ----------
    form, tasks
        What was asked; the tasks by their numbers.
    rows
        The answers.
    reviews
        Per assignment, "approve" or "reject", and why.
    """

    form: Form
    tasks: Sequence[ExportedTask]
    rows: AnswerRecords
    reviews: dict[int, tuple[str, str]]


class TextColumn:
    """A column of texts with many repetitions: each distinct text is stored, and checked, once.

    Parameters
    ----------
    values
        The distinct texts.
    code
        For each row, the index of its text in `values`.

    Examples
    --------
    >>> column = TextColumn.of(["yes", "no", "yes"])
    >>> column.values, column.code.tolist(), column[2]
    (['yes', 'no'], [0, 1, 0], 'yes')
    >>> column.numbers(len).tolist()
    [3, 2, 3]
    """

    def __init__(self, values: list[str], code: np.ndarray) -> None:
        self.values, self.code = values, code

    @classmethod
    def of(cls, texts: Sequence[str]) -> TextColumn:
        """Return a column from the text of each row."""
        values = list(dict.fromkeys(texts))
        index = {text: at for at, text in enumerate(values)}
        return cls(values, np.fromiter(map(index.__getitem__, texts), np.int64, len(texts)))

    @classmethod
    def empty(cls, rows: int) -> TextColumn:
        """Return a column of empty texts."""
        return cls([""], np.zeros(rows, np.int64))

    def __len__(self) -> int:
        return len(self.code)

    def __getitem__(self, row: int) -> str:
        return self.values[self.code[row]]

    def __iter__(self) -> Iterator[str]:
        return map(self.values.__getitem__, self.code.tolist())

    def numbers(self, convert: Callable[[str], float], dtype: Any = np.int64) -> np.ndarray:
        """Return a number for each row, computed once for each distinct text."""
        if not len(self):
            return np.zeros(0, dtype)
        return np.array([convert(text) for text in self.values], dtype=dtype)[self.code]

    def texts(self, convert: Callable[[str], str]) -> TextColumn:
        """Return the column with every text converted; two texts may become the same."""
        converted = TextColumn.of([convert(text) for text in self.values])
        return TextColumn(converted.values, converted.code[self.code])

    def first(self, wrong: Callable[[str], bool]) -> int | None:
        """Return the first row whose text is wrong; None when all are right."""
        bad = np.flatnonzero([wrong(text) for text in self.values])
        rows = np.flatnonzero(np.isin(self.code, bad)) if len(bad) else bad
        return int(rows[0]) if len(rows) else None

    def where(self, rows: np.ndarray) -> TextColumn:
        """Return only some rows, given as booleans."""
        used, code = np.unique(self.code[rows], return_inverse=True)
        return TextColumn([self.values[index] for index in used.tolist()], code)


@dataclass
class ImportedAnswers:
    """Columns of answers before they are checked; where a file says nothing, texts are empty and numbers NaN.

    Parameters
    ----------
    where
        The file, for messages.
    line
        The line of the file that each answer starts in, from 1.
    task, item
        The task by its number or name, and the item in it from 1.
    image, caption
        The pair by the benchmark's ids.
    annotator, kind, answer
        The annotator, their kind, and the code of the answer.
    seconds, at
        How long it took, and when.
    details
        Answers to follow-up questions.
    reviews
        Per task and annotator, as the file writes them: "approve" or "reject", and why.
    notes
        What the reader left out.
    annotator_column
        What the file calls the annotator, for messages.
    """

    where: Path
    line: Lines
    task: TextColumn
    item: TextColumn
    image: TextColumn
    caption: TextColumn
    annotator: TextColumn
    kind: TextColumn
    answer: TextColumn
    seconds: np.ndarray
    at: np.ndarray
    details: Sequence[Detail] = ()
    reviews: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    annotator_column: str = WRITTEN["annotator"]

    def __len__(self) -> int:
        return len(self.line)

    def error(self, row: int, what: str, fix: str) -> InputError:
        """Return the error for an answer, with its line."""
        return bad_line(self.where, int(self.line[row]), what, fix)


class AnswerColumns:
    """Columns to which a reader adds answers."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}

    def __len__(self) -> int:
        return len(self.columns["line"])

    def add(self, **cells: Any) -> None:
        """Add one answer; texts that are left out are empty, numbers None."""
        for name, column in self.columns.items():
            column.append(cells.get(name, None if name in ("seconds", "at") else ""))

    def imported(self, where: Path, seconds: np.ndarray, at: np.ndarray, **further: Any) -> ImportedAnswers:
        """Return the answers, with their numbers and further fields of `ImportedAnswers`."""
        texts: dict[str, Any] = {name: TextColumn.of(self.columns[name]) for name in TEXTS}
        return ImportedAnswers(where, self.columns["line"], **texts, seconds=seconds, at=at, **further)


def bad_line(where: Path, line: int, what: str, fix: str) -> InputError:
    """Return the error for a line of a file."""
    return InputError(f"line {line}: {what}", where=where, fix=fix)


def shorten(value: object) -> str:
    """Return a value as a message shows it; a long one is cut.

    >>> shorten("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"
    """
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:38]}…"


def as_seconds(texts: TextColumn, lines: Lines, where: Path, name: str = "seconds") -> np.ndarray:
    """Return how long answers took: finite, not negative, NaN where the text is empty.

    >>> as_seconds(TextColumn.of(["1.5", ""]), [2, 3], Path("a.csv")).tolist()
    [1.5, nan]
    """
    return check_numbers(texts.numbers(parse_number, float), texts, lines, where, name)


def as_times(texts: TextColumn, lines: Lines, where: Path) -> np.ndarray:
    """Return when answers were given, in seconds since 1970, from such numbers or from ISO 8601.

    >>> column = TextColumn.of(["1700000000.5", "2023-11-14T22:13:20Z", ""])
    >>> as_times(column, [2, 3, 4], Path("a.csv")).tolist()
    [1700000000.5, 1700000000.0, nan]
    """
    return check_numbers(texts.numbers(parse_time, float), texts, lines, where, "at")


def check_numbers(
    values: np.ndarray, shown: TextColumn | Sequence[object], lines: Lines, where: Path, name: str
) -> np.ndarray:
    """Return numbers, or raise on the first that is negative or infinite, which stands for unreadable."""
    wrong = np.flatnonzero(np.isinf(values) | (values < 0))
    if len(wrong):
        row = int(wrong[0])
        raise bad_line(
            where,
            int(lines[row]),
            f"{name} is {shorten(shown[row])}",
            "give seconds since 1970, or a time such as 2024-05-01T12:30:00Z"
            if name == "at"
            else "give a number that is not negative, or leave it empty",
        )
    return values


def parse_number(text: str) -> float:
    """Return a number; NaN for an empty text, infinity for a text that is not a number."""
    if not text:
        return math.nan
    return float(text) if NUMBER.fullmatch(text) else math.inf


def parse_time(text: str) -> float:
    """Return a time in seconds since 1970; NaN for an empty text, infinity for a text that is not a time."""
    if not text or NUMBER.fullmatch(text):
        return parse_number(text)
    try:
        moment = datetime.fromisoformat(text)
        # A time without a zone is read as UTC, which the exports of most tools mean.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return math.inf
