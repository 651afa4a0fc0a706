"""Answers as a file gives them, before anything is known to be true of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.judging.exchange.texts import Texts

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
Detail = tuple[int, str, "str | tuple[str, ...]"]
"""The row of the answer, the follow-up question, and its choices or its text."""
Lines = Sequence[int] | np.ndarray


TEXTS = ("task", "item", "image", "caption", "worker", "kind", "answer")
COLUMNS = ("line", *TEXTS, "seconds", "at")


@dataclass
class ImportedAnswers:
    """Columns of answers; texts are empty, and numbers NaN, where a file says nothing.

    Parameters
    ----------
    where
        The file, for messages.
    line
        The line of the file that each answer starts in, from 1.
    task, item
        The task by its number or name, and the place within it from 1.
    image, caption
        The pair by the benchmark's ids.
    worker, kind, answer
        Who, what they are, and the code of the answer.
    seconds, at
        How long it took, and when.
    details
        Answers to follow-up questions.
    reviews
        Per task and worker, as the file writes them, a verdict that was passed elsewhere and why.
    notes
        What the reader left out.
    """

    where: Path
    line: Lines
    task: Texts
    item: Texts
    image: Texts
    caption: Texts
    worker: Texts
    kind: Texts
    answer: Texts
    seconds: np.ndarray
    at: np.ndarray
    details: Sequence[Detail] = ()
    reviews: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.line)

    def error(self, row: int, what: str, fix: str) -> InputError:
        """Return the error for an answer, with its line."""
        return bad_line(self.where, int(self.line[row]), what, fix)


class Collected:
    """Columns that grow by an answer at a time."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}

    def __len__(self) -> int:
        return len(self.columns["line"])

    def add(self, **cells: Any) -> None:
        """Add one answer; texts that are not given are empty, numbers None."""
        for name, column in self.columns.items():
            column.append(cells.get(name, None if name in ("seconds", "at") else ""))

    def given(self, where: Path, seconds: np.ndarray, at: np.ndarray, **further: Any) -> ImportedAnswers:
        """Return the answers with their numbers."""
        texts: dict[str, Any] = {name: Texts.of(self.columns[name]) for name in TEXTS}
        return ImportedAnswers(where, self.columns["line"], **texts, seconds=seconds, at=at, **further)


def bad_line(where: Path, line: int, what: str, fix: str) -> InputError:
    """Return the error for a line of a file."""
    return InputError(f"line {line}: {what}", where=where, fix=fix)


def shorten(value: object) -> str:
    """Return a value as a message shows it; a huge one is cut.

    >>> shorten("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"
    """
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:38]}…"


def as_seconds(texts: Texts, lines: Lines, where: Path, name: str = "seconds") -> np.ndarray:
    """Return how long answers took: finite, not negative, NaN where nothing is said.

    >>> as_seconds(Texts.of(["1.5", ""]), [2, 3], Path("a.csv")).tolist()
    [1.5, nan]
    """
    return checked(texts.map(parse_number, float), texts, lines, where, name)


def as_times(texts: Texts, lines: Lines, where: Path) -> np.ndarray:
    """Return when answers were given, in seconds since 1970, from such numbers or from ISO 8601.

    >>> column = Texts.of(["1700000000.5", "2023-11-14T22:13:20Z", ""])
    >>> as_times(column, [2, 3, 4], Path("a.csv")).tolist()
    [1700000000.5, 1700000000.0, nan]
    """
    return checked(texts.map(parse_time, float), texts, lines, where, "at")


def checked(
    values: np.ndarray, shown: Texts | Sequence[object], lines: Lines, where: Path, name: str
) -> np.ndarray:
    """Return numbers, or raise on the first that is infinite, which stands for unreadable, or negative."""
    wrong = np.flatnonzero(np.isinf(values) | (values < 0))
    if len(wrong):
        row = int(wrong[0])
        raise bad_line(
            where,
            int(lines[row]),
            f"{name} is {shorten(shown[row])}",
            "give seconds since 1970, or a time such as 2024-05-01T12:30:00Z"
            if name == "at"
            else "give a number from 0, or leave it empty",
        )
    return values


def parse_number(text: str) -> float:
    """Return a number; NaN for no text, infinity for text that is none."""
    if not text:
        return math.nan
    return float(text) if NUMBER.fullmatch(text) else math.inf


def parse_time(text: str) -> float:
    """Return a time in seconds since 1970; NaN for no text, infinity for text that is none."""
    if not text or NUMBER.fullmatch(text):
        return parse_number(text)
    try:
        moment = datetime.fromisoformat(text)
        # Without a zone the file says too little; UTC is what the exports of most tools mean.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return math.inf
