"""Assignments: one annotator's turn at a task, a row of the table `assignment` each.

A task is closed to an annotator who has an assignment of it, or who has ever answered one of its pairs in
another task: hidden gold occurs in many tasks, and nobody is asked about a pair twice. Closed tasks stay
closed, except where the annotator lost the assignment. So each annotator has a cursor: everything before it
in the queue can be skipped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, RowMapping, Table, bindparam, func, select, text, update

from karat.store import bulk
from karat.store.tables import ASSIGNMENT, PROJECT

OPEN, LEASED, SUBMITTED = 0, 1, 2
STATES = ("open", "leased", "submitted")
"""The names of OPEN, LEASED and SUBMITTED, in this order."""
SLACK = 60.0
"""By how many seconds the clock may be set back before leases count as made under a wrong clock."""
ENDED = f"({{row}}expires <= :now OR {{row}}expires - {{row}}lease_seconds > :now + {SLACK:g})"
"""The condition that a lease has ended; `row` is the table with a dot.

A lease that begins in the future was made while the clock was wrong: it has ended too, since it would block
its task until then. Leases outlive the server and are shared by servers, so no clock of a process can serve.
"""


@dataclass(frozen=True)
class Item:
    """A pair of a task, as the annotator sees it: nothing says whether it is gold.

    Parameters
    ----------
    id
        The number by which `Answer` refers to it.
    position, group
        Its place within the task; for grids, which image of the task it belongs to.
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
    """An assignment that is leased to an annotator until a time.

    Parameters
    ----------
    assignment, task
        Their numbers.
    annotator
        The name of the annotator who holds it.
    token
        Proves that the annotator holds it; not shown when the lease is printed.
    expires
        When the lease ends, in seconds since 1970.
    items
        The pairs, in the order of the task.
    """

    assignment: int
    task: int
    annotator: str
    token: str = field(repr=False)
    expires: float
    items: tuple[Item, ...]


@dataclass(frozen=True, eq=False)
class AssignmentTable:
    """Every assignment of every task, as columns.

    Parameters
    ----------
    assignment, task
        Their numbers.
    annotator
        Who holds or has submitted it, as an index into the names of `project.annotators`; −1: no annotator.
    state
        "open", "leased" or "submitted"; an expired lease counts as open.
    leased_at, submitted_at
        In seconds since 1970; NaN: not yet.
    """

    assignment: np.ndarray
    task: np.ndarray
    annotator: np.ndarray
    state: np.ndarray
    leased_at: np.ndarray
    submitted_at: np.ndarray

    def __len__(self) -> int:
        return len(self.assignment)

    def __repr__(self) -> str:
        counts = ", ".join(f"{int((self.state == state).sum()):,} {state}" for state in STATES)
        return f"AssignmentTable({counts})"


ITEMS = text("""
    SELECT item.id, item.position, item.grp, item.image, item.caption, answer.code, answer.details
    FROM item LEFT JOIN answer ON answer.annotator = :annotator
        AND answer.image = item.image AND answer.caption = item.caption
        AND answer.assignment = :assignment AND answer.item = item.id
    WHERE item.task = :task ORDER BY item.position, answer.id
""")
OPEN_TO_ANNOTATOR = """
    NOT EXISTS (
        SELECT 1 FROM assignment own
        WHERE own.task = free.task AND own.annotator = :annotator AND own.state <> 0
    )
    AND NOT EXISTS (
        SELECT 1 FROM item CROSS JOIN answer
        WHERE item.task = free.task AND answer.annotator = :annotator
        AND answer.image = item.image AND answer.caption = item.caption
        AND (answer.item IS NULL OR answer.item <> item.id)
    )
"""
OPEN_ASSIGNMENTS = text(f"""
    SELECT free.id, free.task, free.place FROM assignment free
    WHERE free.state = 0 AND free.place >= :cursor AND {OPEN_TO_ANNOTATOR}
    ORDER BY free.place LIMIT :limit
""")
EXPIRED_ASSIGNMENTS = text(f"""
    SELECT free.id, free.task, free.place FROM assignment free
    WHERE free.state = 1 AND {ENDED.format(row="free.")} AND free.annotator <> :annotator
        AND {OPEN_TO_ANNOTATOR}
    ORDER BY free.expires LIMIT :limit
""")
LOCK = text(f"""
    SELECT id, task FROM assignment
    WHERE id IN :assignments AND (state = 0 OR (state = 1 AND {ENDED.format(row="")}))
    ORDER BY place LIMIT 1 FOR UPDATE SKIP LOCKED
""").bindparams(bindparam("assignments", expanding=True))
"""PostgreSQL: one of some assignments that no other transaction is taking at this moment."""

CANDIDATES = (8, 64, 512)
"""How many assignments to look for at first, and again when others have taken all of them."""


def has_ended(expires: Any, seconds: Any, now: float) -> Any:
    """Return whether leases have ended, as `ENDED` says; for numbers or arrays.

    >>> has_ended(100.0, 30.0, now=80.0), has_ended(100.0, 30.0, now=100.0), has_ended(1e9, 30.0, now=80.0)
    (False, True, True)
    """
    return (expires <= now) | (expires - seconds > now + SLACK)


def find_assignment(
    connection: Connection, annotator: int, cursor: int, end: int, now: float | None
) -> tuple[Any, int]:
    """Return an assignment that is open to an annotator, or None, and the annotator's new cursor.

    `end` is the last place of the queue, read before. Open assignments come first. Only when there are none,
    one whose lease has expired is taken: slow annotators lose their work only where it is needed. Without
    `now`, no lease has expired.
    """
    single_writer = connection.dialect.name == "sqlite"
    for limit in (1,) if single_writer else CANDIDATES:
        values = {"annotator": annotator, "cursor": cursor, "now": now, "limit": limit}
        rows = connection.execute(OPEN_ASSIGNMENTS, values).mappings().all()
        # Everything before the first row is closed to this annotator.
        new_cursor = rows[0]["place"] if rows else end + 1
        if not rows:
            rows = connection.execute(EXPIRED_ASSIGNMENTS, values).mappings().all()
        if not rows:
            return None, new_cursor
        assignment = rows[0] if single_writer else lock_one(connection, [row["id"] for row in rows], now)
        if assignment is not None:
            return assignment, new_cursor
    return None, cursor


def lock_one(connection: Connection, assignments: list[int], now: float | None) -> RowMapping | None:
    """Return one of some assignments, locked; None when other transactions hold all of them."""
    return connection.execute(LOCK, {"assignments": assignments, "now": now}).mappings().one_or_none()


def items_of(connection: Connection, assignment: int, task: int, annotator: int) -> tuple[Item, ...]:
    """Return the items of a task with the answers in effect in an assignment."""
    items = {}
    # Answers come in the order in which they were given: the last one of an item counts.
    for row in connection.execute(ITEMS, {"task": task, "annotator": annotator, "assignment": assignment}):
        items[row.id] = Item(row.id, row.position, row.grp, row.image, row.caption, row.code, row.details)
    return tuple(items.values())


def extend_lease(connection: Connection, assignment: int, expires: float, seconds: float) -> RowMapping:
    """Let a lease expire at a later time; return the assignment."""
    query = (
        update(ASSIGNMENT)
        .where(ASSIGNMENT.c.id == assignment)
        .values(expires=expires, lease_seconds=seconds)
        .returning(ASSIGNMENT)
    )
    return connection.execute(query).mappings().one()


def take_places(connection: Connection, count: int) -> int:
    """Reserve places at the end of the queue of open assignments and return the first.

    Until the transaction ends, no other transaction can reserve any. So places appear in the order of their
    numbers, and an annotator's cursor never passes one that does not exist yet. This also protects the
    numbers of tasks and assignments.
    """
    query = update(PROJECT).values(places=PROJECT.c.places + count).returning(PROJECT.c.places)
    return int(connection.execute(query).scalar_one()) - count + 1


def next_number(connection: Connection, table: Table) -> int:
    """Return the next number of a table whose rows karat numbers; `take_places` must be called before."""
    last = connection.execute(select(func.max(table.c.id))).scalar_one()
    return 0 if last is None else int(last) + 1


def add_assignments(connection: Connection, task: np.ndarray, place: int) -> np.ndarray:
    """Add an open assignment for each of `task`, queued from `place` on; return their numbers."""
    count = len(task)
    number = next_number(connection, ASSIGNMENT) + np.arange(count)
    bulk.insert(
        connection, ASSIGNMENT, id=number, task=task, state=[OPEN] * count, place=place + np.arange(count)
    )
    return number
