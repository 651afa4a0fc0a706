"""Leases: a slot of a task in somebody's hands until a time."""

from __future__ import annotations

import secrets

from sqlalchemy import Connection, RowMapping, func, select, update

from karat._util import plural
from karat.errors import InputError
from karat.judging.checking import PERSON
from karat.judging.store.answering import Answering, items_of
from karat.judging.store.base import revive, take_places
from karat.judging.store.details import unanswered
from karat.judging.store.finding import find_slot
from karat.judging.store.people import add_workers
from karat.judging.store.rows import LEASED, OPEN, SUBMITTED, Lease
from karat.judging.store.schema import PROJECT, SLOT, WORKER
from karat.judging.store.texts import check_name, check_seconds, check_time


class Leasing(Answering):
    """Taking tasks, handing them in or back."""

    def lease(self, worker: str, seconds: float = 1800, now: float | None = None) -> Lease | None:
        """Give a worker an open slot of a task; None where there is nothing left for this worker.

        Whoever holds a slot gets the same one again, also after its time has run out, unless somebody else
        has taken it. Nobody gets a task twice, nor a task with a pair that they have answered elsewhere.

        Parameters
        ----------
        worker
            The name; one that is new is added as a person.
        seconds
            How long the lease holds.
        now
            The time in seconds since 1970; the clock's when left out.
        """
        now, span = check_time(now, "now"), check_seconds(seconds, "the time of a lease") or 0.0
        check_name(worker, "a worker")
        with self._db.write_soon() as connection:
            own = self._worker(connection, worker)
            last = self._last(connection, own)
            slot: RowMapping | None
            if last is not None and (last["worker"], last["state"]) == (own["id"], LEASED):
                slot = last if last["expires"] > now else revive(connection, last["id"], now + span, span)
            else:
                slot = self._take(connection, own, self._cursor(connection, own, last), now, span)
            if slot is None:
                return None
            items = items_of(connection, slot["id"], slot["task"], own["id"])
            return Lease(slot["id"], slot["task"], worker, slot["token"], slot["expires"], items)

    def _worker(self, connection: Connection, name: str) -> RowMapping:
        """Return a worker's row, locked, so that two windows of one person do not get two slots."""
        end = select(PROJECT.c.queue).scalar_subquery().label("end")
        query = select(WORKER, end).where(WORKER.c.name == name)
        row = self._row(connection, query, lock=WORKER)
        if row is None:
            add_workers(connection, {name: PERSON})
            row = self._row(connection, query, lock=WORKER)
        assert row is not None
        return row

    def _last(self, connection: Connection, own: RowMapping) -> RowMapping | None:
        """Return the slot that the worker leased last, whosoever it is now."""
        if own["slot"] is None:
            return None
        return self._row(connection, select(SLOT).where(SLOT.c.id == own["slot"]), lock=SLOT)

    def _cursor(self, connection: Connection, own: RowMapping, last: RowMapping | None) -> int:
        """Return where to look from; a task whose slot was lost to somebody else is open again."""
        if last is None or last["worker"] in (None, own["id"]):
            return own["cursor"]
        first = select(func.min(SLOT.c.queue)).where(SLOT.c.task == last["task"], SLOT.c.state == OPEN)
        place = connection.execute(first).scalar_one()
        return own["cursor"] if place is None else min(own["cursor"], place)

    def _take(
        self, connection: Connection, own: RowMapping, cursor: int, now: float, span: float
    ) -> RowMapping | None:
        """Return a slot that was open to the worker and now is theirs."""
        slot, cursor = find_slot(connection, own["id"], cursor, own["end"], now)
        mine = None if slot is None else slot["id"]
        connection.execute(update(WORKER).where(WORKER.c.id == own["id"]).values(cursor=cursor, slot=mine))
        if slot is None:
            return None
        values = {"state": LEASED, "worker": own["id"], "token": secrets.token_urlsafe(24), "span": span}
        taken = update(SLOT).where(SLOT.c.id == mine).values(**values, expires=now + span, leased_at=now)
        return connection.execute(taken.returning(SLOT)).mappings().one()

    def renew(self, token: str, seconds: float = 1800, now: float | None = None) -> float:
        """Hold a slot for longer and return until when."""
        now, span = check_time(now, "now"), check_seconds(seconds, "the time of a lease") or 0.0
        with self._db.write_soon() as connection:
            slot = self._held(connection, token, now)
            revive(connection, slot["id"], now + span, span)
        return now + span

    def release(self, token: str) -> None:
        """Hand a slot back: it goes to the end of the queue, and answers given in it no longer count.

        They count again if the same worker gets the same slot again.
        """
        with self._db.write() as connection:
            # In this order everywhere: project, worker, slot. Else two programs could wait for each other.
            place = take_places(connection, 1)
            slot = self._held(connection, token, None)
            nobody = dict.fromkeys(("worker", "token", "expires", "span", "leased_at"))
            connection.execute(
                update(SLOT).where(SLOT.c.id == slot["id"]).values(state=OPEN, queue=place, **nobody)
            )

    def submit(self, token: str, now: float | None = None) -> None:
        """Hand a slot in; every item must have an answer, and every required question too.

        Handing in the same slot again changes nothing.
        """
        now = check_time(now, "now")
        with self._db.write() as connection:
            slot = self._by_token(connection, token)
            if slot["state"] == SUBMITTED:
                return
            self._check_finished(connection, slot)
            connection.execute(
                update(SLOT).where(SLOT.c.id == slot["id"]).values(state=SUBMITTED, submitted_at=now)
            )

    def _check_finished(self, connection: Connection, slot: RowMapping) -> None:
        """Raise when something is missing."""
        details: dict[int, str | None] = {}
        items = items_of(connection, slot["id"], slot["task"], slot["worker"], details)
        missing = [item.position + 1 for item in items if item.code is None]
        if missing:
            raise InputError(
                f"{plural(len(missing), 'item')} of the task without an answer, first number {missing[0]}",
                fix="answer every item",
            )
        for item in items:
            question = unanswered(self.form, str(item.code), details[item.id])
            if question is not None:
                raise InputError(
                    f"item number {item.position + 1} lacks an answer to {question!r}", fix="answer it too"
                )
