"""Assignments: one annotator's turn at a task, a row of the table `slot` each.

A task is closed to a worker who has a slot of it, or who has ever answered one of its pairs in another task:
hidden gold stands in many tasks, and nobody is asked about a pair twice. Closed tasks stay closed (but for a
slot that the worker lost), so that each worker has a cursor before which nothing need be looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, RowMapping, Table, bindparam, func, select, text, update

from karat.judging.store import bulk
from karat.judging.store.tables import PROJECT, SLOT

OPEN, LEASED, SUBMITTED = 0, 1, 2
STATES = ("open", "leased", "submitted")
"""What a slot can be: free, in somebody's hands, or handed in."""


@dataclass(frozen=True)
class Item:
    """A pair of a task, as the person who holds it may see it: nothing says whether it is gold.

    Parameters
    ----------
    id
        What `Answer` names it by.
    position, group
        Its place within the task, and the image of a grid that it belongs to.
    image, caption
        The pair, as indices into the benchmark.
    code, details
        The answer in effect and its details as json text; None where there are none yet.
    """

    id: int
    position: int
    group: int
    image: int
    caption: int
    code: str | None = None
    details: str | None = None


@dataclass(frozen=True)
class Lease:
    """A slot of a task in somebody's hands until a time.

    Parameters
    ----------
    slot, task
        Which they are.
    worker
        Who holds it.
    token
        What proves it; not shown when the lease is printed.
    expires
        In seconds since 1970.
    items
        The pairs, in the order of the task.
    """

    slot: int
    task: int
    worker: str
    token: str = field(repr=False)
    expires: float
    items: tuple[Item, ...]


@dataclass(frozen=True, eq=False)
class SlotTable:
    """Every slot of every task, as columns.

    Parameters
    ----------
    slot, task
        Which they are.
    worker
        Who holds it or handed it in, as an index into the names of `project.annotators`; −1: nobody.
    state
        "open", "leased" or "submitted"; a lease that has run out counts as open.
    leased_at, submitted_at
        In seconds since 1970; NaN: not yet.
    """

    slot: np.ndarray
    task: np.ndarray
    worker: np.ndarray
    state: np.ndarray
    leased_at: np.ndarray
    submitted_at: np.ndarray

    def __len__(self) -> int:
        return len(self.slot)

    def __repr__(self) -> str:
        counts = ", ".join(f"{int((self.state == one).sum()):,} {one}" for one in STATES)
        return f"SlotTable({counts})"


ITEMS = text("""
    SELECT i.id, i.position, i.grp, i.image, i.caption, a.code, a.details
    FROM item i LEFT JOIN answer a ON a.worker = :worker AND a.image = i.image AND a.caption = i.caption
        AND a.slot = :slot AND a.item = i.id
    WHERE i.task = :task ORDER BY i.position, a.id
""")
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


def items_of(connection: Connection, slot: int, task: int, worker: int) -> tuple[Item, ...]:
    """Return the items of a task with the answers in effect in a slot."""
    last = {}
    for row in connection.execute(ITEMS, {"task": task, "worker": worker, "slot": slot}):
        last[row.id] = Item(row.id, row.position, row.grp, row.image, row.caption, row.code, row.details)
    return tuple(last.values())


def revive(connection: Connection, slot: int, expires: float, span: float) -> RowMapping:
    """Hold a slot until another time; return it."""
    query = update(SLOT).where(SLOT.c.id == slot).values(expires=expires, span=span).returning(SLOT)
    return connection.execute(query).mappings().one()


def take_places(connection: Connection, count: int) -> int:
    """Reserve places at the end of the queue of open slots and return the first.

    Until the transaction ends, nobody else can: places appear in the order of their numbers, so that
    a worker's cursor never passes one that is not there yet. This also guards the numbers of tasks and slots.
    """
    query = update(PROJECT).values(queue=PROJECT.c.queue + count).returning(PROJECT.c.queue)
    return int(connection.execute(query).scalar_one()) - count + 1


def next_number(connection: Connection, table: Table) -> int:
    """Return the first free number of a table that we count; `take_places` keeps others from taking it."""
    last = connection.execute(select(func.max(table.c.id))).scalar_one()
    return 0 if last is None else int(last) + 1


def add_slots(connection: Connection, task: np.ndarray, place: int) -> np.ndarray:
    """Add an open slot for each of `task`, from a place in the queue on; return their numbers."""
    slot = next_number(connection, SLOT) + np.arange(len(task))
    bulk.insert(
        connection, SLOT, id=slot, task=task, state=[OPEN] * len(task), queue=place + np.arange(len(task))
    )  # fmt: skip
    return slot
