"""Answers of many people in one transaction: one wait for the disk instead of one for each.

`Project.answer` is a batch of one. Each answer is stored or refused by itself; what the store itself
cannot do fails all of them, and then none is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, RowMapping, bindparam, insert, select

from karat.errors import InputError, unknown_name
from karat.judging.store.base import StorePart, revive
from karat.judging.store.batch_rows import AnswerEntry, Row, not_in_task, refusal, values_of
from karat.judging.store.details import check_details
from karat.judging.store.schema import ANSWER, ITEM, SLOT
from karat.judging.store.texts import MOST_NAME, check_seconds, check_text, check_time

LARGEST = 2**63 - 1
"""The largest number that a database can hold."""

# Made once: making a query takes longer than asking it.
SLOTS = (
    select(SLOT).where(SLOT.c.token.in_(bindparam("tokens", expanding=True))).order_by(SLOT.c.id)
)  # fmt: skip
SLOTS_LOCKED = SLOTS.with_for_update()
"""In the order of their numbers, so that two batches never wait for each other."""
# Not pairs of slot and key: for those, SQLite would read the whole table.
KEYS = select(ANSWER).where(
    ANSWER.c.slot.in_(bindparam("slots", expanding=True)),
    ANSWER.c.client_key.in_(bindparam("keys", expanding=True)),
)
ITEMS = select(ITEM).where(ITEM.c.id.in_(bindparam("items", expanding=True)))
APPEND = insert(ANSWER).returning(ANSWER.c.id, sort_by_parameter_order=True)


class Batching(StorePart):
    """Storing answers of many people at a time."""

    def answer_many(self, given: Sequence[AnswerEntry]) -> list[int | InputError]:
        """Store answers in the order given; return for each its number, or the error that refused it.

        When this returns, they are on the disk. A refused answer does not touch the others. Where the store
        fails, this raises and nothing is stored.

        Parameters
        ----------
        given
            Answers of any people.
        """
        outcomes: list[int | InputError | Row] = [self._checked(one) for one in given]
        rows = [one for one in outcomes if isinstance(one, Row)]
        if rows:
            with self._db.write() as connection:
                self._write(connection, rows)
        return [one.outcome() if isinstance(one, Row) else one for one in outcomes]

    def _checked(self, one: AnswerEntry) -> Row | InputError:
        """Return an answer as it is stored, or why it cannot be; the database is not asked."""
        try:
            details = None
            if one.code is not None:
                codes = [choice.code for choice in self.form.answers]
                if one.code not in codes:
                    raise unknown_name("answer", str(one.code)[:60], codes, owner=f"form {self.form.name}")
                details = check_details(self.form, one.code, one.details)
            if not 0 <= one.item <= LARGEST:
                raise not_in_task(one.item)
            return Row(
                check_text(one.token, "the token", MOST_NAME), int(one.item), one.code, details,
                None if one.code is None else check_seconds(one.seconds, "seconds"),
                check_text(one.key, "the key", MOST_NAME), check_time(one.at, "now"),
            )  # fmt: skip
        except InputError as error:
            return error

    def _write(self, connection: Connection, rows: list[Row]) -> None:
        """Store what is not refused, within a transaction."""
        slots = self._slots(connection, {row.token for row in rows})
        before = self._keys(connection, rows, slots)
        items = self._items(connection, {row.item for row in rows})
        fresh = []
        expires = {slot["id"]: slot["expires"] for slot in slots.values()}
        for row in rows:
            slot = slots.get(row.token)
            row.refused = refusal(row, slot, before, items)
            if row.refused is not None or row.same is not None or row.number is not None:
                continue
            assert slot is not None
            if row.key:
                before[slot["id"], row.key] = row
            if expires[slot["id"]] <= row.at:
                expires[slot["id"]] = row.at + slot["span"]
                revive(connection, slot["id"], expires[slot["id"]], slot["span"])
            fresh.append(row)
        values = [values_of(row, slots[row.token], items[row.item]) for row in fresh]
        if values:
            for row, number in zip(fresh, connection.execute(APPEND, values).scalars(), strict=True):
                row.number = int(number)

    def _slots(self, connection: Connection, tokens: set[str]) -> dict[str, RowMapping]:
        """Return the slots that tokens hold, locked."""
        query = SLOTS if self._db.sqlite else SLOTS_LOCKED
        found = connection.execute(query, {"tokens": list(tokens)}).mappings()
        return {slot["token"]: slot for slot in found}

    def _keys(
        self, connection: Connection, rows: Iterable[Row], slots: Mapping[str, RowMapping]
    ) -> dict[tuple[int, str], Row]:
        """Return what was answered before with the same keys, by slot and key."""
        asked = {(slots[row.token]["id"], row.key) for row in rows if row.key and row.token in slots}
        if not asked:
            return {}
        held, keys = ([*{one[side] for one in asked}] for side in (0, 1))
        return {
            (old["slot"], old["client_key"]): Row(
                "", old["item"], old["code"], old["details"], old["seconds"], old["client_key"], old["at"],
                number=old["id"],
            )
            for old in connection.execute(KEYS, {"slots": held, "keys": keys}).mappings()
        }  # fmt: skip

    def _items(self, connection: Connection, numbers: set[int]) -> dict[int, RowMapping]:
        """Return items by their numbers."""
        return {
            item["id"]: item for item in connection.execute(ITEMS, {"items": list(numbers)}).mappings()
        }  # fmt: skip
