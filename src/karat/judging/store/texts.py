"""Checks of the words and times that people give the store."""

from __future__ import annotations

import json
import math
import time
from typing import Any

from karat._util import check_choice
from karat.errors import InputError
from karat.judging.checking import ADJUDICATOR, DATASET, MACHINE, PERSON

MOST_NAME, MOST_WORDS, MOST_JSON = 200, 10_000, 5_000_000
WORKER_KINDS = (PERSON, MACHINE, DATASET, ADJUDICATOR)


def check_text(value: Any, what: str, most: int = MOST_WORDS) -> str:
    """Return text that both databases can hold, or raise.

    >>> check_text("a" * 20, "a name", 10)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: a name has 20 characters; give at most 10.
    """
    if not isinstance(value, str):
        raise InputError(f"{what} is {value!r:.60}", fix="give text")
    if len(value) > most:
        raise InputError(f"{what} has {len(value):,} characters", fix=f"give at most {most:,}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} holds half a character", fix="give text in UTF-8") from None
    if "\0" in value:
        raise InputError(f"{what} holds a zero byte", fix="give plain text")
    return value


def check_name(value: Any, what: str) -> str:
    """Return a name: text on one line, with nothing but printable characters, and not empty."""
    name = check_text(value, what, MOST_NAME)
    if not name.strip() or not name.isprintable():
        raise InputError(f"{what} is {name!r:.60}", fix="give a name of printable characters")
    return name


def check_kind(kind: str) -> str:
    """Return PERSON, MACHINE, DATASET or ADJUDICATOR."""
    return check_choice(kind, WORKER_KINDS, "the kind of a worker")


def to_json(value: Any, what: str) -> str:
    """Return a value as json text, or raise."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            f"{what} cannot be written as json", fix="give plain numbers, texts and lists"
        ) from None
    # Inside json a zero byte is written as an escape, which PostgreSQL's text may hold.
    return check_text(text, what, MOST_JSON)


def check_time(value: float | None, what: str) -> float:
    """Return a time in seconds since 1970; now when it is None."""
    if value is None:
        return time.time()
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{what} is {value!r:.60}", fix="give seconds since 1970")
    return float(value)


def check_seconds(value: float | None, what: str) -> float | None:
    """Return a duration in seconds; None stays None."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InputError(f"{what} is {value!r:.60}", fix="give a number of seconds, 0 or more")
    return float(value)
