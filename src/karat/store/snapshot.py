"""A snapshot: one state of a project as columns, for statistics that follow the answers as they come in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, text

from karat.store.bulk import read_columns

COLUMNS = """
    SELECT id, COALESCE(assignment, -1), COALESCE(item, -1), annotator, image, caption,
        CASE WHEN code IS NULL THEN 0 ELSE 1 END, seconds, at
    FROM answer
"""
AFTER = f"{COLUMNS} WHERE id > ? ORDER BY id LIMIT ?"
OF_ANNOTATOR = f"{COLUMNS} WHERE annotator = ? AND assignment = ? ORDER BY id"
BLOCK = 1024
"""So many assignments are compared, and read again, together."""
SIGNS = text("""
    SELECT (SELECT MAX(id) FROM answer), (SELECT MAX(id) FROM item), (SELECT MAX(id) FROM review),
        (SELECT MAX(id) FROM draw), (SELECT MAX(id) FROM goal)
""")
# The database adds up: reading all assignments into Python takes several times as long, and stops others.
BLOCKS = text(f"""
    SELECT id / {BLOCK}, COUNT(*), SUM(state), SUM(place), SUM(id * annotator), SUM(expires),
        SUM(lease_seconds) FROM assignment GROUP BY id / {BLOCK}
""")
ASSIGNMENTS = """
    SELECT id, task, COALESCE(annotator, -1), state, expires, lease_seconds FROM assignment
    WHERE id >= ? AND id < ? ORDER BY id
"""
PAGE = 50_000
"""Rows of answers that are read at a time."""
LATE = 1000
"""PostgreSQL numbers rows before they become visible: so many rows are read again."""


@dataclass(frozen=True)
class Signs:
    """Values that change with every change: while they are equal, nothing has changed.

    `assignments` has sums over each block of `BLOCK` assignments, by the number of the block.
    """

    answer: int | None
    item: int | None
    review: int | None
    draw: int | None
    goal: int | None
    assignments: dict[int, tuple[Any, ...]]

    @property
    def assignment_count(self) -> int:
        """How many assignments there are."""
        return sum(count for count, *_ in self.assignments.values())

    def changed_since(self, earlier: Signs | None) -> list[int]:
        """Return the blocks of assignments that have changed."""
        known = {} if earlier is None else earlier.assignments
        return [block for block, sums in self.assignments.items() if known.get(block) != sums]


@dataclass(frozen=True, eq=False)
class NewAnswers:
    """Rows of answers, withdrawn ones and withdrawals included, in the order in which they were written.

    Parameters
    ----------
    number, assignment, item
        The numbers of the row, its assignment and its item; −1 for answers without a task.
    annotator, pair
        Who answered, and a number for the pair.
    coded
        Whether there is an answer; without one the row is a withdrawal.
    seconds, at
        How long it took, and when.
    """

    number: np.ndarray
    assignment: np.ndarray
    item: np.ndarray
    annotator: np.ndarray
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
        Of a transaction that sees one state.
    captions
        How many the benchmark has.
    """

    def __init__(self, connection: Connection, captions: int) -> None:
        self._connection, self._captions = connection, captions
        self.in_order = connection.dialect.name == "sqlite"
        """Whether rows appear in the order of their numbers."""

    def signs(self) -> Signs:
        """Return the values that change with every change."""
        answer, item, review, draw, goal = self._connection.execute(SIGNS).one()
        blocks = sorted(tuple(row) for row in self._connection.execute(BLOCKS))
        return Signs(answer, item, review, draw, goal, {int(block): tuple(sums) for block, *sums in blocks})

    def items(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return task, pair and gold of the items by their numbers."""
        query = "SELECT task, image, caption, gold FROM item ORDER BY id"
        task, image, caption, gold = read_columns(self._connection, query, "iiii")
        return task, image * self._captions + caption, gold

    def assignments(self, blocks: Iterable[int]) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield number, task, annotator (−1: none), state, end and seconds of the lease, of each block."""
        for block in blocks:
            ends = block * BLOCK, (block + 1) * BLOCK
            yield tuple(read_columns(self._connection, ASSIGNMENTS, "iiiiff", *ends))

    def answers_after(self, number: int) -> Iterator[NewAnswers]:
        """Yield answers after a number in pages, and some before it where rows may become visible late."""
        last = max(number if self.in_order else number - LATE, -1)
        while len(rows := self._answers(AFTER, last, PAGE)):
            yield rows
            last = int(rows.number[-1])

    def answers_in(self, assignment: int, annotator: int) -> NewAnswers:
        """Return the answers of an annotator in an assignment."""
        return self._answers(OF_ANNOTATOR, annotator, assignment)

    def _answers(self, query: str, *values: int) -> NewAnswers:
        number, assignment, item, annotator, image, caption, coded, seconds, at = read_columns(
            self._connection, query, "iiiiiiiff", *values
        )
        pair = image * self._captions + caption
        return NewAnswers(number, assignment, item, annotator, pair, coded == 1, seconds, at)
