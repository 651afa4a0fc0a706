"""The queue: tasks are leased, held, handed in or back, each slot by one annotator at a time.

Everybody gets one slot at a time. A page that asks for the next one only after the last answer shows nothing
for as long as the network takes, so a second slot may be taken while the first is still being answered. The
older of the two is the one at hand.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, RowMapping, func, select, text, update

from karat._util import plural
from karat.errors import InputError
from karat.judging.checking import PERSON
from karat.judging.store import bulk
from karat.judging.store.annotators import add_annotators, all_annotators
from karat.judging.store.assignments import (
    LEASED,
    OPEN,
    STATES,
    SUBMITTED,
    Item,
    Lease,
    SlotTable,
    add_slots,
    find_slot,
    items_of,
    next_number,
    revive,
    take_places,
)
from karat.judging.store.details import unanswered
from karat.judging.store.part import StorePart
from karat.judging.store.tables import PROJECT, SLOT, TASK, WORKER
from karat.judging.store.texts import MOST_NAME, check_name, check_seconds, check_text, check_time

# State by its number, so that the small index of leased slots serves.
HELD = text(f"""
    SELECT s.id, s.task, s.token, s.expires FROM slot s JOIN worker w ON w.id = s.worker
    WHERE s.state = {LEASED} AND w.name = :name ORDER BY s.leased_at, s.id
""")
LAST = select(WORKER.c.slot).where(WORKER.c.name == text(":name"))
SHARED = text("""
    SELECT 1 FROM item a JOIN item b ON a.image = b.image AND a.caption = b.caption
    WHERE a.task = :one AND b.task = :other LIMIT 1
""")
STATE_OF = text("""
    SELECT s.state FROM slot s JOIN worker w ON w.id = s.worker
    WHERE s.token = :token AND w.name = :name
""")
PAIR_OF = text(f"""
    SELECT i.image, i.caption FROM item i
    JOIN slot s ON s.task = i.task AND s.state <> {OPEN} JOIN worker w ON w.id = s.worker
    WHERE i.id = :item AND w.name = :name LIMIT 1
""")
WORKER_OF = text(
    "SELECT w.id FROM slot s JOIN worker w ON w.id = s.worker WHERE s.id = :slot AND w.name = :name"
)
DONE = text(f"""
    SELECT w.name, n.slots FROM
    (SELECT worker, COUNT(*) AS slots FROM slot WHERE state = {SUBMITTED} GROUP BY worker) n
    JOIN worker w ON w.id = n.worker
""")
ALL = text("SELECT COUNT(*) FROM slot")
COUNTS = text(f"""
    SELECT CASE WHEN state = {LEASED} AND expires <= :now THEN {OPEN} ELSE state END AS now, COUNT(*) AS slots
    FROM slot GROUP BY 1
""")
NEVER = float("-inf")
"""A time at which no lease had run out."""
TRIES = 20
"""How many tasks that share a pair with the one at hand are passed over."""


class Queue(StorePart):
    """The assignments of a project: `project.queue`."""

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

    def at_hand(self, worker: str, seconds: float, now: float | None = None) -> Lease | None:
        """Return the task at hand, or a new one; None where there is nothing left for this worker.

        Parameters
        ----------
        worker
            The name.
        seconds
            How long a lease holds.
        now
            The time in seconds since 1970; the clock's when left out.
        """
        with self._db.read() as connection:
            held = held_by(connection, worker)
            last = connection.execute(LAST, {"name": worker}).scalar_one_or_none()
        if held and held[0]["id"] != last:
            with self._db.write_soon() as connection:
                self._promote(connection, worker)
        return self.lease(worker, seconds, now)

    def ahead(self, worker: str, seconds: float, now: float | None = None) -> Lease | None:
        """Return the task after the one at hand, taken now if need be; None where there is none.

        Only an open slot is taken, never one that somebody was too slow with: there is no hurry yet. And none
        that has a pair of the task at hand, as nobody is asked about a pair twice.
        """
        now = check_time(now, "now")
        with self._db.write_soon() as connection:
            own = self._worker(connection, worker)
            held = held_by(connection, worker)
            if not held:
                return None
            if len(held) > 1:
                return read_lease(connection, worker, held[1]["id"])
            slot = find_apart(connection, own, held[0]["task"])
            if slot is None:
                return None
            values = {
                "state": LEASED,
                "worker": own["id"],
                "token": secrets.token_urlsafe(24),
                "span": seconds,
            }
            times = {"expires": now + seconds, "leased_at": now}
            connection.execute(update(SLOT).where(SLOT.c.id == slot).values(**values, **times))
            return read_lease(connection, worker, slot)

    def held(self, worker: str) -> Lease | None:
        """Return the task at hand without taking one."""
        with self._db.read() as connection:
            held = held_by(connection, worker)
            return read_lease(connection, worker, held[0]["id"]) if held else None

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

    def ask_again(self, tasks: Iterable[int]) -> None:
        """Add an open slot to each of some tasks, for instance where a hand-in was rejected."""
        task = np.asarray(list(tasks), dtype=np.int64)
        with self._db.write() as connection:
            place = take_places(connection, len(task))
            wrong = np.flatnonzero((task < 0) | (task >= next_number(connection, TASK)))
            if len(wrong):
                raise InputError(f"there is no task {task[wrong[0]]}", fix="tasks are numbered from 0")
            add_slots(connection, task, place)

    def items(self, lease: Lease) -> tuple[Item, ...] | None:
        """Return the items of a lease with the answers so far; None where it was lost since."""
        with self._db.read() as connection:
            asked = {"slot": lease.slot, "name": lease.worker}
            worker = connection.execute(WORKER_OF, asked).scalar_one_or_none()
            # What is in the slot of another worker by now is somebody else's.
            return None if worker is None else items_of(connection, lease.slot, lease.task, worker)

    def state_of(self, worker: str, token: str) -> int | None:
        """Return the state of the slot that a token holds for a worker; None where it holds none."""
        with self._db.read() as connection:
            return connection.execute(STATE_OF, {"token": token, "name": worker}).scalar_one_or_none()

    def pair_of(self, worker: str, item: int) -> tuple[int, int] | None:
        """Return image and caption of an item that a worker holds or has handed in; None for all others."""
        with self._db.read() as connection:
            row = connection.execute(PAIR_OF, {"item": item, "name": worker}).one_or_none()
        return None if row is None else (row.image, row.caption)

    def slots(self, now: float | None = None) -> SlotTable:
        """Return every slot as columns; a lease that has run out by `now` counts as open."""
        now = check_time(now, "now")
        columns = "id, task, COALESCE(worker, -1), state, expires, leased_at, submitted_at"
        query = f"SELECT {columns} FROM slot ORDER BY id"
        with self._db.read() as connection:
            slot, task, worker, state, expires, leased, submitted = bulk.read_columns(
                connection, query, "iiiifff"
            )
            ids, _, _ = all_annotators(connection)
        state = np.where((state == LEASED) & (expires <= now), OPEN, state)
        place = np.searchsorted(np.array(ids, np.int64), worker)
        holder = np.where((worker < 0) | (state == OPEN), -1, place)
        return SlotTable(slot, task, holder, np.array(STATES)[state], leased, submitted)

    def progress(self) -> tuple[int, dict[str, int]]:
        """Return how many slots there are, and how many each worker has handed in, by name."""
        with self._db.read() as connection:
            done = {row.name: int(row.slots) for row in connection.execute(DONE)}
            return int(connection.execute(ALL).scalar_one()), done

    def counts(self, now: float | None = None) -> dict[str, int]:
        """Return how many slots are open, leased and submitted; a lease that has run out counts as open."""
        with self._db.read() as connection:
            rows = connection.execute(COUNTS, {"now": check_time(now, "now")}).all()
        return dict.fromkeys(STATES, 0) | {STATES[row.now]: row.slots for row in rows}

    def _worker(self, connection: Connection, name: str) -> RowMapping:
        """Return a worker's row, locked, so that two windows of one person do not get two slots."""
        end = select(PROJECT.c.queue).scalar_subquery().label("end")
        query = select(WORKER, end).where(WORKER.c.name == name)
        row = self._row(connection, query, lock=WORKER)
        if row is None:
            add_annotators(connection, {name: PERSON})
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

    def _check_finished(self, connection: Connection, slot: RowMapping) -> None:
        """Raise when something is missing."""
        items = items_of(connection, slot["id"], slot["task"], slot["worker"])
        missing = [item.position + 1 for item in items if item.code is None]
        if missing:
            raise InputError(
                f"{plural(len(missing), 'item')} of the task without an answer, first number {missing[0]}",
                fix="answer every item",
            )
        for item in items:
            question = unanswered(self.form, str(item.code), item.details)
            if question is not None:
                raise InputError(
                    f"item number {item.position + 1} lacks an answer to {question!r}", fix="answer it too"
                )

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

    def _promote(self, connection: Connection, worker: str) -> None:
        """Make the oldest slot that is held the one that `lease` gives."""
        own = self._worker(connection, worker)
        held = held_by(connection, worker)
        if held:
            # The one before may have been lost to somebody else: its task is then open to this worker again.
            cursor = self._cursor(connection, own, self._last(connection, own))
            values: dict[str, Any] = {"slot": held[0]["id"], "cursor": cursor}
            connection.execute(update(WORKER).where(WORKER.c.id == own["id"]).values(**values))


def held_by(connection: Connection, worker: str) -> Sequence[RowMapping]:
    """Return the slots in somebody's hands, the oldest first."""
    return connection.execute(HELD, {"name": worker}).mappings().all()


def find_apart(connection: Connection, own: RowMapping, task: int) -> int | None:
    """Return an open slot whose task shares no pair with another one."""
    cursor = own["cursor"]
    for _ in range(TRIES):
        slot, _ = find_slot(connection, own["id"], cursor, own["end"], NEVER)
        if slot is None:
            return None
        if connection.execute(SHARED, {"one": task, "other": slot["task"]}).first() is None:
            return int(slot["id"])
        cursor = 1 + connection.execute(select(SLOT.c.queue).where(SLOT.c.id == slot["id"])).scalar_one()
    return None


def read_lease(connection: Connection, worker: str, slot: int) -> Lease:
    """Return a slot in somebody's hands as a lease."""
    row = connection.execute(select(SLOT).where(SLOT.c.id == slot)).mappings().one()
    items = items_of(connection, row["id"], row["task"], row["worker"])
    return Lease(row["id"], row["task"], worker, row["token"], row["expires"], items)


def lost() -> InputError:
    """Return the error for a token that holds nothing."""
    return InputError(
        "this lease has run out and its slot went to somebody else, or it never was", fix="take a new task"
    )


def handed_in() -> InputError:
    """Return the error for a slot whose answers are fixed."""
    return InputError("this task was handed in", fix="take a new task")
