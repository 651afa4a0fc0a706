"""Checks of rows to import: every message names the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.judging.forms import Form
from karat.judging.store.details import check_details
from karat.judging.store.rows import AnswerRows
from karat.judging.store.texts import check_kind, check_name, check_time


@dataclass(frozen=True, eq=False)
class Checked:
    """Rows that passed: numbers as arrays; workers and codes as numbers of their names."""

    task: np.ndarray
    image: np.ndarray
    caption: np.ndarray
    worker: np.ndarray
    code: np.ndarray
    seconds: np.ndarray
    at: np.ndarray
    details: list[str | None]
    kinds: dict[str, str]
    codes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.task)


def check_rows(rows: AnswerRows, form: Form, images: int, captions: int, tasks: int) -> Checked:
    """Return rows that can be stored as far as they themselves can tell, or raise.

    Parameters
    ----------
    rows
        As they were given.
    form
        Of the project.
    images, captions, tasks
        How many there are.
    """
    n = len(rows.image)
    for name in ("task", "caption", "worker", "code", "seconds", "at", "details", "kind"):
        column = getattr(rows, name)
        if column is not None and not isinstance(column, str) and len(column) != n:
            raise InputError(
                f"{name} has {len(column):,} rows, image {n:,}", fix="give columns of one length"
            )
    whole = {
        "task": numbers(rows.task, "task", -1, tasks),
        "image": numbers(rows.image, "image", 0, images),
        "caption": numbers(rows.caption, "caption", 0, captions),
    }
    worker, names = numbered(rows.worker)
    for at, name in zip(first_rows(worker, len(names)), names, strict=True):
        with_row(at, check_name, name, "a worker")
    code, codes = numbered(rows.code)
    known = [choice.code for choice in form.answers]
    for at, one in zip(first_rows(code, len(codes)), codes, strict=True):
        if one not in known:
            raise InputError(
                f"row {at} has the answer {one!r:.60}, which the form {form.name!r} does not have",
                fix=f"its answers are {', '.join(known)}",
            )
    now = check_time(None, "now")
    return Checked(
        **whole, worker=worker, code=code,
        seconds=reals(rows.seconds, "seconds", n, np.nan, low=0.0),
        at=reals(rows.at, "at", n, now, low=-np.inf),
        details=check_all_details(form, rows.details, code, codes, n),
        kinds=kinds_of(rows.kind, worker, names), codes=codes,
    )  # fmt: skip


def with_row(row: int, check: Any, *values: Any) -> Any:
    """Return what a check returns; what it raises says which row it was."""
    try:
        return check(*values)
    except InputError as error:
        raise InputError(f"row {row}: {error.what}", fix=error.fix) from None


def numbers(column: Any, name: str, low: int, end: int) -> np.ndarray:
    """Return whole numbers from `low` to before `end`."""
    try:
        found = np.asarray(column)
        if found.size and found.dtype.kind not in "iu":
            raise ValueError(name)
        found = found.astype(np.int64).reshape(-1)
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"{name} holds something else than whole numbers", fix="give indices") from None
    wrong = np.flatnonzero((found < low) | (found >= end))
    if len(wrong):
        raise InputError(
            f"row {wrong[0]} has {name} {found[wrong[0]]}",
            fix=f"the project has {end:,}, from 0" + ("; -1 means none" if low < 0 else ""),
        )
    return found


def reals(column: Any, name: str, n: int, default: float, low: float) -> np.ndarray:
    """Return numbers; `default` where there are none."""
    if column is None:
        return np.full(n, default)
    try:
        found = np.array(column, dtype=np.float64).reshape(-1)
    except (ValueError, TypeError):
        raise InputError(f"{name} holds something else than numbers", fix="give seconds") from None
    found[np.isnan(found)] = default
    wrong = np.flatnonzero(np.isinf(found) | (found < low))
    if len(wrong):
        raise InputError(f"row {wrong[0]} has {name} {found[wrong[0]]}", fix="give seconds, or None")
    return found


def numbered(column: Sequence[str] | np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return texts as numbers of the different ones, in the order in which they come.

    >>> numbered(["b", "a", "b"])
    (array([0, 1, 0]), ('b', 'a'))
    """
    seen: dict[Any, int] = {}
    listed = column.tolist() if isinstance(column, np.ndarray) else column
    try:
        number = [seen.setdefault(one, len(seen)) for one in listed]
    except TypeError:
        raise InputError("workers and answers must be text", fix="give their names and codes") from None
    return np.array(number, dtype=np.int64), tuple(seen)


def first_rows(number: np.ndarray, count: int) -> list[int]:
    """Return the first row of each number."""
    first = np.full(count, -1)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return first.tolist()


def kinds_of(kind: Any, worker: np.ndarray, names: tuple[str, ...]) -> dict[str, str]:
    """Return each worker's kind; a worker with two raises."""
    if isinstance(kind, str):
        return dict.fromkeys(names, check_kind(kind))
    number, kinds = numbered(kind)
    kinds = tuple(
        with_row(at, check_kind, one) for at, one in zip(first_rows(number, len(kinds)), kinds, strict=True)
    )
    of = number[first_rows(worker, len(names))]
    wrong = np.flatnonzero(of[worker] != number)
    if len(wrong):
        raise InputError(
            f"row {wrong[0]}: {names[worker[wrong[0]]]!r} is of two kinds", fix="give each worker one"
        )
    return {name: kinds[one] for name, one in zip(names, of.tolist(), strict=True)}


def check_all_details(
    form: Form, details: Any, code: np.ndarray, codes: tuple[str, ...], n: int
) -> list[str | None]:
    """Return every row's details as they are stored."""
    if details is None:
        return [None] * n
    return [
        with_row(row, check_details, form, codes[one], given) if given else None
        for row, (one, given) in enumerate(zip(code.tolist(), details, strict=True))
    ]
