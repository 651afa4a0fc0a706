"""Answers of somebody who holds a slot: each is a new row, and so is each undo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select, text, update

from karat.judging.store.base import Part
from karat.judging.store.details import check_details
from karat.judging.store.rows import SUBMITTED, Item
from karat.judging.store.schema import ANSWER, ITEM, SLOT
from karat.judging.store.texts import MOST_NAME, check_seconds, check_text, check_time
from karat.validation import InputError, unknown_name

ITEMS = text("""
    SELECT i.id, i.position, i.grp, i.image, i.caption, a.code, a.details
    FROM item i LEFT JOIN answer a ON a.worker = :worker AND a.image = i.image AND a.caption = i.caption
        AND a.slot = :slot AND a.item = i.id
    WHERE i.task = :task ORDER BY i.position, a.id
""")


class Answering(Part):
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
        codes = [choice.code for choice in self.form.answers]
        if code not in codes:
            raise unknown_name("answer", str(code)[:60], codes, owner=f"form {self.form.name}")
        written = check_details(self.form, code, details)
        return self._append(token, item, code, written, check_seconds(seconds, "seconds"), key, now)

    def withdraw(self, token: str, item: int, key: str = "", now: float | None = None) -> int:
        """Take an answer back, by a new row without a code; return its number."""
        return self._append(token, item, None, None, None, key, now)

    def _append(
        self,
        token: str,
        item: int,
        code: str | None,
        details: str | None,
        seconds: float | None,
        key: str,
        now: float | None,
    ) -> int:
        key, at, item = check_text(key, "the key", MOST_NAME), check_time(now, "now"), int(item)
        with self._db.write() as connection:
            slot = self._by_token(connection, token)
            if key and (before := self._before(connection, slot["id"], key)):
                if (before["item"], before["code"], before["details"]) != (item, code, details):
                    raise InputError(f"the key {key!r} was used for another answer", fix="choose a new key")
                return int(before["id"])
            self._check_held(connection, slot, at)
            pair = self._row(connection, select(ITEM).where(ITEM.c.id == item, ITEM.c.task == slot["task"]))
            if pair is None:
                raise InputError(f"item {item} is not in the task of this lease", fix="answer its items")
            values = {
                "slot": slot["id"], "item": item, "worker": slot["worker"], "image": pair["image"],
                "caption": pair["caption"], "code": code, "details": details, "seconds": seconds, "at": at,
                "client_key": key or None,
            }  # fmt: skip
            return int(
                connection.execute(insert(ANSWER).values(**values).returning(ANSWER.c.id)).scalar_one()
            )

    def _before(self, connection: Connection, slot: int, key: str) -> RowMapping | None:
        """Return the answer that came with a key."""
        return self._row(connection, select(ANSWER).where(ANSWER.c.slot == slot, ANSWER.c.client_key == key))

    def _by_token(self, connection: Connection, token: str) -> RowMapping:
        """Return the slot that a token holds, locked."""
        query = select(SLOT).where(SLOT.c.token == check_text(token, "the token", MOST_NAME))
        slot = self._row(connection, query, lock=SLOT)
        if slot is None:
            raise InputError(
                "this lease has run out and its slot went to somebody else, or it never was",
                fix="take a new task",
            )
        return slot

    def _check_held(self, connection: Connection, slot: RowMapping, now: float | None) -> None:
        """Raise when a slot was handed in; hold it anew when its time has run out."""
        if slot["state"] == SUBMITTED:
            raise InputError("this task was handed in", fix="take a new task")
        if now is not None and slot["expires"] <= now:
            revive(connection, slot["id"], now + slot["span"], slot["span"])

    def _held(self, connection: Connection, token: str, now: float | None) -> RowMapping:
        """Return the slot that a token holds and that was not handed in."""
        slot = self._by_token(connection, token)
        self._check_held(connection, slot, now)
        return slot


def revive(connection: Connection, slot: int, expires: float, span: float) -> RowMapping:
    """Hold a slot until another time; return it."""
    query = update(SLOT).where(SLOT.c.id == slot).values(expires=expires, span=span).returning(SLOT)
    return connection.execute(query).mappings().one()


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
