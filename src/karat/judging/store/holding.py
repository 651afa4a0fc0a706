"""What somebody holds: the task at hand and, shortly before its end, the next one.

The store gives everybody one slot at a time. A page that asks for the next one only after the last answer
shows nothing for as long as the network takes, so a second slot may be taken while the first is still being
answered. The older of the two is the one at hand.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, select, text, update

from karat.judging.store.answering import items_of
from karat.judging.store.finding import find_slot
from karat.judging.store.leasing import Leasing
from karat.judging.store.rows import LEASED, Lease
from karat.judging.store.schema import SLOT, WORKER
from karat.judging.store.texts import check_time

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
NEVER = float("-inf")
"""A time at which no lease had run out."""
TRIES = 20
"""How many tasks that share a pair with the one at hand are passed over."""


class Holding(Leasing):
    """Holding the task at hand and the next one."""

    def lease_at_hand(self, worker: str, seconds: float, now: float | None = None) -> Lease | None:
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

    def held_lease(self, worker: str) -> Lease | None:
        """Return the task at hand without taking one."""
        with self._db.read() as connection:
            held = held_by(connection, worker)
            return read_lease(connection, worker, held[0]["id"]) if held else None

    def lease_ahead(self, worker: str, seconds: float, now: float | None = None) -> Lease | None:
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

    def _promote(self, connection: Connection, worker: str) -> None:
        """Make the oldest slot that is held the one that `Project.lease` gives."""
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
