"""Whose is it? A lease serves its holder only, and an image those who are asked about it."""

from __future__ import annotations

from sqlalchemy import RowMapping, text

from karat.errors import InputError
from karat.judging import Project
from karat.judging.store import OPEN

SLOT_OF = text("""
    SELECT s.id, s.task, s.state, s.expires FROM slot s JOIN worker w ON w.id = s.worker
    WHERE s.token = :token AND w.name = :name
""")
ITEM_OF = text(f"""
    SELECT i.image, i.caption FROM item i
    JOIN slot s ON s.task = i.task AND s.state <> {OPEN} JOIN worker w ON w.id = s.worker
    WHERE i.id = :item AND w.name = :name LIMIT 1
""")


class LeaseLost(InputError):
    """The lease went to somebody else, or never was this person's: 409."""


class HandedIn(InputError):
    """The task was handed in, so that its answers are fixed: 410."""


def check_own(project: Project, worker: str, token: str) -> RowMapping:
    """Return the slot that a token holds for a worker, or raise `LeaseLost`."""
    # A token is what the store made: anything longer need not be looked up.
    asked = {"token": token[:100], "name": worker}
    with project.database.read() as connection:
        row = connection.execute(SLOT_OF, asked).mappings().one_or_none()
    if row is None:
        raise LeaseLost("the time for this task ran out and somebody else has it", fix="take a new task")
    return row


def find_own(project: Project, worker: str, item: int) -> RowMapping | None:
    """Return the pair of an item that a worker holds or has handed in; None for all others."""
    with project.database.read() as connection:
        return connection.execute(ITEM_OF, {"item": item, "name": worker}).mappings().one_or_none()
