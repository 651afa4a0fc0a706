"""One answer of a batch: as it was given, as it is stored, and why it may be refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import RowMapping

from karat.errors import InputError
from karat.judging.store.rows import SUBMITTED


@dataclass(frozen=True)
class AnswerEntry:
    """An answer that somebody gave, or takes back.

    Parameters
    ----------
    token, item, code, details, seconds, key
        As in `Project.answer`; the code None takes the answer to the item back.
    at
        When, in seconds since 1970; the clock's time when left out.
    """

    token: str = field(repr=False)
    item: int
    code: str | None
    details: Mapping[str, Any] | None = None
    seconds: float | None = None
    key: str = ""
    at: float | None = None


@dataclass
class Row:
    """An answer that fits the form, and what becomes of it."""

    token: str
    item: int
    code: str | None
    details: str | None
    seconds: float | None
    key: str
    at: float
    number: int | None = None
    same: Row | None = None
    refused: InputError | None = None

    def says(self) -> tuple[int, str | None, str | None]:
        """Return what two answers with the same key must have in common."""
        return self.item, self.code, self.details

    def outcome(self) -> int | InputError:
        """Return the number in the store, or why it was refused."""
        found = self if self.same is None else self.same
        if self.refused is not None:
            return self.refused
        assert found.number is not None
        return found.number


def refusal(
    row: Row,
    slot: RowMapping | None,
    before: Mapping[tuple[int, str], Row],
    items: Mapping[int, RowMapping],
) -> InputError | None:
    """Return why an answer is refused; one that was given before with the same key is marked as the same."""
    if slot is None:
        return lost()
    old = before.get((slot["id"], row.key)) if row.key else None
    if old is not None:
        if old.says() != row.says():
            return InputError(f"the key {row.key!r} was used for another answer", fix="choose a new key")
        row.same = old
        return None
    if slot["state"] == SUBMITTED:
        return handed_in()
    item = items.get(row.item)
    return not_in_task(row.item) if item is None or item["task"] != slot["task"] else None


def lost() -> InputError:
    """Return the error for a token that holds nothing."""
    return InputError(
        "this lease has run out and its slot went to somebody else, or it never was", fix="take a new task"
    )


def handed_in() -> InputError:
    """Return the error for a slot whose answers are fixed."""
    return InputError("this task was handed in", fix="take a new task")


def not_in_task(item: int) -> InputError:
    """Return the error for an item of another task."""
    return InputError(f"item {item} is not in the task of this lease", fix="answer its items")


def values_of(row: Row, slot: RowMapping, item: RowMapping) -> dict[str, Any]:
    """Return the columns of an answer."""
    return {
        "slot": slot["id"], "item": row.item, "worker": slot["worker"], "image": item["image"],
        "caption": item["caption"], "code": row.code, "details": row.details, "seconds": row.seconds,
        "at": row.at, "client_key": row.key or None,
    }  # fmt: skip
