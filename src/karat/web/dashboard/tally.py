"""Counting answers as they come: each tick reads only what is new, so that millions cost no more than ten."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sqlalchemy import Connection, text

from karat.judging import Project
from karat.judging.store import LEASED, OPEN, read_columns
from karat.web.dashboard.cells import NOBODY, Cells, Items, read_items
from karat.web.dashboard.loose import Loose

NEW = """
    SELECT id, COALESCE(slot, -1), COALESCE(item, -1), worker, image, caption,
        CASE WHEN code IS NULL THEN 0 ELSE 1 END, seconds, at
    FROM answer WHERE id > ? ORDER BY id
"""
OWN = """
    SELECT id, slot, item, worker, image, caption, CASE WHEN code IS NULL THEN 0 ELSE 1 END, seconds, at
    FROM answer WHERE worker = ? AND slot = ? ORDER BY id
"""
KINDS = "iiiiiiiff"
SIGNS = text("""
    SELECT (SELECT MAX(id) FROM answer), (SELECT MAX(id) FROM item), (SELECT MAX(id) FROM review),
        COUNT(*), SUM(state), SUM(worker), MAX(leased_at), MAX(submitted_at), MAX(expires) FROM slot
""")
LATE = 1000
"""PostgreSQL numbers rows before they are there: so many rows are read again."""
AGAIN = 30.0
"""Seconds after which it is asked anew though nothing seems to have changed."""


class Tally:
    """What was answered so far, kept up to date.

    Parameters
    ----------
    project
        Whose answers.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.items: Items | None = None
        self.cells, self.loose = Cells(), Loose()
        self.last = -1
        self.signs: tuple[Any, ...] = ()
        empty = np.zeros(0, np.int64)
        self.task, self.owner, self.state, self.expires = empty, empty, empty, np.zeros(0)
        self.touched = np.zeros(0, bool)
        self.reviews: dict[int, str] = {}
        self.looked = 0.0

    def update(self) -> bool:
        """Read what is new; return whether there was anything."""
        with self.project.database.read() as connection:
            signs = tuple(connection.execute(SIGNS).one())
            # A row of PostgreSQL's may come late, below the highest number.
            late = not self.project.database.sqlite and time.monotonic() - self.looked > AGAIN
            if signs == self.signs and not late:
                return False
            self.looked = time.monotonic()
            if self.items is None or signs[1] != self.signs[1]:
                self.items = read_items(connection, self.project._captions)
            before, touched = self.owner, self.touched.copy()
            self.read_slots(connection)
            self.read_answers(connection)
            self.returned(connection, before, touched)
        if not self.signs or signs[2] != self.signs[2]:
            self.reviews = {slot: review[0] for slot, review in self.project.reviews().items()}
        self.signs = signs
        return True

    def read_slots(self, connection: Connection) -> None:
        """Read the slots, which are few beside the answers."""
        assert self.items is not None
        query = "SELECT task, COALESCE(worker, -1), state, expires FROM slot ORDER BY id"
        self.task, self.owner, self.state, self.expires = read_columns(connection, query, "iiif")
        self.cells.grow(self.task, self.items)
        self.touched = np.append(self.touched, np.zeros(len(self.task) - len(self.touched), bool))

    def read_answers(self, connection: Connection) -> None:
        """Read the answers behind the last."""
        since = self.last if self.project.database.sqlite else self.last - LATE
        rows = read_columns(connection, NEW, KINDS, max(since, -1))
        if len(rows[0]):
            self.put(rows)
            self.last = max(self.last, int(rows[0][-1]))

    def put(self, rows: list[np.ndarray]) -> None:
        """Put rows where they belong; those of somebody who does not hold the slot do not count now."""
        assert self.items is not None
        number, slot, item, worker, image, caption, coded, seconds, at = rows
        placed = slot >= 0
        self.touched[slot[placed]] = True
        own = placed.copy()
        own[placed] = self.owner[slot[placed]] == worker[placed]
        place = self.cells.begin[slot[own]] + item[own] - self.items.first[self.task[slot[own]]]
        who = np.where(coded[own] == 1, worker[own], NOBODY)
        self.cells.put(place, number[own], who, at[own], seconds[own])
        if not placed.all():
            pair = image * self.project._captions + caption
            columns = {"row": number, "worker": worker, "pair": pair, "coded": coded == 1, "at": at}
            self.loose.add(**{name: one[~placed] for name, one in {**columns, "seconds": seconds}.items()})

    def returned(self, connection: Connection, before: np.ndarray, touched: np.ndarray) -> None:
        """Look again at slots that changed hands: who had one before has answers there that count again."""
        assert self.items is not None
        changed = (self.owner[: len(before)] != before) & touched & (self.owner[: len(before)] >= 0)
        for slot in np.flatnonzero(changed).tolist():
            self.cells.clear(slot, int(self.items.size[self.task[slot]]))
            rows = read_columns(connection, OWN, KINDS, int(self.owner[slot]), slot)
            if len(rows[0]):
                self.put(rows)

    def state_now(self, now: float) -> np.ndarray:
        """Return the slots' states; a lease that has run out counts as open."""
        return np.where((self.state == LEASED) & (self.expires <= now), OPEN, self.state)

    def counted(self) -> np.ndarray:
        """Return which cells hold an answer in effect, as `Project.answers` has it.

        A lease that has run out keeps its answers until somebody else takes the slot.
        """
        return (self.cells.worker >= 0) & (self.cells.worker == self.owner[self.cells.slot])
