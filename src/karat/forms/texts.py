"""Checks of names, texts, times and durations before they are stored."""

from __future__ import annotations

import json
import math
import time
from typing import Any

from karat._util import check_choice
from karat.errors import InputError
from karat.forms.answer_table import ADJUDICATOR, DATASET, MACHINE, PERSON

MAX_NAME, MAX_WORDS, MAX_JSON = 200, 10_000, 5_000_000
"""The longest name, text and json text, in characters."""
ANNOTATOR_KINDS = (PERSON, MACHINE, DATASET, ADJUDICATOR)


def check_text(value: Any, what: str, limit: int = MAX_WORDS) -> str:
    """Return text that both databases can store, or raise.

    >>> check_text("a" * 20, "a name", 10)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: a name has 20 characters; give at most 10.
    """
    if not isinstance(value, str):
        raise InputError(f"{what} is {value!r:.60}", fix="give text")
    if len(value) > limit:
        raise InputError(f"{what} has {len(value):,} characters", fix=f"give at most {limit:,}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} contains an unpaired surrogate", fix="give valid Unicode text") from None
    if "\0" in value:
        raise InputError(f"{what} contains a zero byte", fix="give plain text")
    return value


def check_name(value: Any, what: str) -> str:
    """Return a name: one line of printable characters that is not empty; or raise."""
    name = check_text(value, what, MAX_NAME)
    if not name.strip() or not name.isprintable():
        raise InputError(f"{what} is {name!r:.60}", fix="give a name of printable characters")
    return name


def check_kind(kind: str) -> str:
    """Return the kind of an annotator: PERSON, MACHINE, DATASET or ADJUDICATOR; or raise."""
    return check_choice(kind, ANNOTATOR_KINDS, "the kind of an annotator")


def to_json(value: Any, what: str) -> str:
    """Return a value as json text, or raise."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            f"{what} cannot be written as json", fix="give plain numbers, texts, lists and dictionaries"
        ) from None
    # In json a zero byte is written as an escape, which PostgreSQL can store as text.
    return check_text(text, what, MAX_JSON)


def check_time(value: float | None, what: str) -> float:
    """Return a time in seconds since 1970; the current time for None."""
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
