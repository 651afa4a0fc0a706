"""Answers of somebody who holds a slot: each is a new row, and so is each undo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, RowMapping, select, text

from karat.errors import InputError
from karat.judging.store.base import revive
from karat.judging.store.batch_rows import AnswerEntry, handed_in, lost
from karat.judging.store.batching import Batching
from karat.judging.store.rows import SUBMITTED, Item
from karat.judging.store.schema import SLOT
from karat.judging.store.texts import MOST_NAME, check_text

ITEMS = text("""
    SELECT i.id, i.position, i.grp, i.image, i.caption, a.code, a.details
    FROM item i LEFT JOIN answer a ON a.worker = :worker AND a.image = i.image AND a.caption = i.caption
        AND a.slot = :slot AND a.item = i.id
    WHERE i.task = :task ORDER BY i.position, a.id
""")


class Answering(Batching):
    """Answering one item at a time."""

    def answer(
        self,
        token: str,
        item: int,
        code: str,
        details: Mapping[str, Any] | None = None,
        seconds: float | None = None,
        key: str = "",
        now: float | None = None,
    ) -> int:
        """Store an answer and return its number; when this returns, it is on the disk.

        Parameters
        ----------
        token
            Of the lease. One whose time has run out still holds while nobody else has taken the slot.
        item
            One of the lease's, by its id.
        code
            One of the form's answers.
        details
            Answers to follow-up questions: a choice, a list of choices or a text by the question's code.
        seconds
            How long it took.
        key
            Chosen by the caller: the same key again, in the same slot, returns the same number and writes
            nothing.
        now
            The time in seconds since 1970; the clock's when left out.
        """
        return self._alone(AnswerEntry(token, item, code, details, seconds, key, now))

    def withdraw(self, token: str, item: int, key: str = "", now: float | None = None) -> int:
        """Take an answer back, by a new row without a code; return its number."""
        return self._alone(AnswerEntry(token, item, None, key=key, at=now))

    def _alone(self, given: AnswerEntry) -> int:
        """Store one answer by itself, or raise what refuses it."""
        (outcome,) = self.answer_many([given])
        if isinstance(outcome, InputError):
            raise outcome
        return outcome

    def _by_token(self, connection: Connection, token: str) -> RowMapping:
        """Return the slot that a token holds, locked."""
        query = select(SLOT).where(SLOT.c.token == check_text(token, "the token", MOST_NAME))
        slot = self._row(connection, query, lock=SLOT)
        if slot is None:
            raise lost()
        return slot

    def _check_held(self, connection: Connection, slot: RowMapping, now: float | None) -> None:
        """Raise when a slot was handed in; hold it anew when its time has run out."""
        if slot["state"] == SUBMITTED:
            raise handed_in()
        if now is not None and slot["expires"] <= now:
            revive(connection, slot["id"], now + slot["span"], slot["span"])

    def _held(self, connection: Connection, token: str, now: float | None) -> RowMapping:
        """Return the slot that a token holds and that was not handed in."""
        slot = self._by_token(connection, token)
        self._check_held(connection, slot, now)
        return slot


def items_of(
    connection: Connection, slot: int, task: int, worker: int, details: dict[int, str | None] | None = None
) -> tuple[Item, ...]:
    """Return the items of a task with the answers in effect in a slot; fill in their `details` if given."""
    last = {}
    for row in connection.execute(ITEMS, {"task": task, "worker": worker, "slot": slot}):
        last[row.id] = Item(row.id, row.position, row.grp, row.image, row.caption, row.code)
        if details is not None:
            details[row.id] = row.details
    return tuple(last.values())
