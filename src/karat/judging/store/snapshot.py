"""One state of a project as columns, for whoever keeps count while answers come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, text

from karat.judging.store.bulk import read_columns

COLUMNS = """
    SELECT id, COALESCE(slot, -1), COALESCE(item, -1), worker, image, caption,
        CASE WHEN code IS NULL THEN 0 ELSE 1 END, seconds, at
    FROM answer
"""
AFTER = f"{COLUMNS} WHERE id > ? ORDER BY id"
OWN = f"{COLUMNS} WHERE worker = ? AND slot = ? ORDER BY id"
SIGNS = text("""
    SELECT (SELECT MAX(id) FROM answer), (SELECT MAX(id) FROM item), (SELECT MAX(id) FROM review),
        COUNT(*), SUM(state), SUM(worker), MAX(leased_at), MAX(submitted_at), MAX(expires) FROM slot
""")
LATE = 1000
"""PostgreSQL numbers rows before they are there: so many rows are read again."""


@dataclass(frozen=True)
class Signs:
    """By what a change shows: while all of it is the same, nothing has changed."""

    answer: int | None
    item: int | None
    review: int | None
    slots: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class NewAnswers:
    """Rows of answers, undone ones and undos included, in the order in which they were written.

    Parameters
    ----------
    number, slot, item
        Of the row, and where it belongs; −1 for answers without a task.
    worker, pair
        Who answered, and a number for the pair.
    coded
        Whether there is an answer; without one the row is an undo.
    seconds, at
        How long it took, and when.
    """

    number: np.ndarray
    slot: np.ndarray
    item: np.ndarray
    worker: np.ndarray
    pair: np.ndarray
    coded: np.ndarray
    seconds: np.ndarray
    at: np.ndarray

    def __len__(self) -> int:
        return len(self.number)


class Snapshot:
    """One state of the database: `with project.snapshot() as snapshot`.

    Parameters
    ----------
    connection
        In a transaction that sees one state.
    captions
        How many the benchmark has.
    """

    def __init__(self, connection: Connection, captions: int) -> None:
        self._connection, self._captions = connection, captions
        self.in_order = connection.dialect.name == "sqlite"
        """Whether rows appear in the order of their numbers."""

    def signs(self) -> Signs:
        """Return by what a change shows."""
        answer, item, review, *slots = self._connection.execute(SIGNS).one()
        return Signs(answer, item, review, tuple(slots))

    def items(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return task, pair and gold of the items by their numbers."""
        query = "SELECT task, image, caption, gold FROM item ORDER BY id"
        task, image, caption, gold = read_columns(self._connection, query, "iiii")
        return task, image * self._captions + caption, gold

    def slots(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return task, worker (−1: nobody), state and end of the lease of the slots by their numbers."""
        query = "SELECT task, COALESCE(worker, -1), state, expires FROM slot ORDER BY id"
        task, worker, state, expires = read_columns(self._connection, query, "iiif")
        return task, worker, state, expires

    def answers_after(self, number: int) -> NewAnswers:
        """Return the answers behind a number, and some before it where rows may appear late."""
        return self._answers(AFTER, max(number if self.in_order else number - LATE, -1))

    def answers_in(self, slot: int, worker: int) -> NewAnswers:
        """Return what a worker answered in a slot."""
        return self._answers(OWN, worker, slot)

    def _answers(self, query: str, *values: int) -> NewAnswers:
        number, slot, item, worker, image, caption, coded, seconds, at = read_columns(
            self._connection, query, "iiiiiiiff", *values
        )
        pair = image * self._captions + caption
        return NewAnswers(number, slot, item, worker, pair, coded == 1, seconds, at)
