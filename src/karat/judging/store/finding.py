"""Which slot somebody gets: the first in the queue that is open to them.

A task is closed to a worker who has a slot of it, or who has ever answered one of its pairs in another task:
hidden gold stands in many tasks, and nobody is asked about a pair twice. Closed tasks stay closed (but for a
slot that the worker lost), so that each worker has a cursor before which nothing need be looked at again.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, text

FREE = """
    NOT EXISTS (SELECT 1 FROM slot o WHERE o.task = s.task AND o.worker = :worker AND o.state <> 0)
    AND NOT EXISTS (
        SELECT 1 FROM item i CROSS JOIN answer a
        WHERE i.task = s.task AND a.worker = :worker AND a.image = i.image AND a.caption = i.caption
        AND (a.item IS NULL OR a.item <> i.id)
    )
"""
OPEN_SLOTS = text(f"""
    SELECT s.id, s.task, s.queue FROM slot s
    WHERE s.state = 0 AND s.queue >= :cursor AND {FREE}
    ORDER BY s.queue LIMIT :most
""")
EXPIRED_SLOTS = text(f"""
    SELECT s.id, s.task, s.queue FROM slot s
    WHERE s.state = 1 AND s.expires < :now AND s.worker <> :worker AND {FREE}
    ORDER BY s.expires LIMIT :most
""")
LOCK = text("""
    SELECT id, task FROM slot
    WHERE id IN :slots AND (state = 0 OR (state = 1 AND expires < :now))
    ORDER BY queue LIMIT 1 FOR UPDATE SKIP LOCKED
""").bindparams(bindparam("slots", expanding=True))
"""PostgreSQL: of the slots that were found, one that nobody else is taking at this moment."""

TRIES = (8, 64, 512)
"""How many slots to find at first, and when others took all of them."""


def find_slot(connection: Connection, worker: int, cursor: int, end: int, now: float) -> tuple[Any, int]:
    """Return a slot that is open to a worker, or None, and the worker's new cursor.

    `end` is the last place of the queue, read before. Slots in the queue come first; only when there is none,
    one whose lease has run out: people who are slow lose their work only where it is needed.
    """
    alone = connection.dialect.name == "sqlite"
    for most in (1,) if alone else TRIES:
        asked = {"worker": worker, "cursor": cursor, "now": now, "most": most}
        found = connection.execute(OPEN_SLOTS, asked).mappings().all()
        # Everything before the first that was found is closed to this worker.
        reached = found[0]["queue"] if found else end + 1
        if not found:
            found = connection.execute(EXPIRED_SLOTS, asked).mappings().all()
        if not found:
            return None, reached
        slot = found[0] if alone else lock_one(connection, [row["id"] for row in found], now)
        if slot is not None:
            return slot, reached
    return None, cursor


def lock_one(connection: Connection, slots: list[int], now: float) -> RowMapping | None:
    """Return one of some slots, locked, unless others hold all of them."""
    return connection.execute(LOCK, {"slots": slots, "now": now}).mappings().one_or_none()
