"""The tally: the answers, counted as they arrive; each update reads only new rows, whatever their total.

Every answer that is wanted has one cell: one assignment of a task, and one item of that task.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from karat._util import stage
from karat.forms import NOT_GOLD
from karat.store import LEASED, OPEN, NewAnswers, Project, Signs, Snapshot, has_ended

NOBODY = -1
AGAIN = 30.0
"""Seconds after which the store is read again even if nothing seems to have changed."""
ASSIGNMENT_COLUMNS = ("task", "owner", "state", "expires", "lease_seconds")
COLUMNS = {
    "row": np.int64,
    "annotator": np.int64,
    "pair": np.int64,
    "coded": bool,
    "at": float,
    "seconds": float,
}


@dataclass(eq=False)
class Items:
    """The items by their numbers; those of a task are consecutive.

    Parameters
    ----------
    first, size
        For each task, the number of its first item, and its number of items.
    pair
        For each item, a number of its pair; −1 for gold.
    pairs
        The number of pairs to judge.
    key
        For each item, a number of its pair, also for gold.
    """

    first: np.ndarray
    size: np.ndarray
    pair: np.ndarray
    pairs: int
    key: np.ndarray


def read_items(snapshot: Snapshot) -> Items:
    """Read the items; tasks are added whole, so the items of a task are consecutive."""
    task, key, gold = snapshot.items()
    size = np.bincount(task)
    pair = np.full(len(task), -1)
    to_judge = gold == NOT_GOLD
    keys, pair[to_judge] = np.unique(key[to_judge], return_inverse=True)
    return Items(np.cumsum(size) - size, size, pair, len(keys), key)


@dataclass(eq=False)
class Cells:
    """The last answer of every cell: its annotator, row, time and duration.

    New assignments, with their cells, are appended.
    """

    begin: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    assignment: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    item: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    row: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    annotator: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    at: np.ndarray = field(default_factory=lambda: np.zeros(0))
    seconds: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))

    def __len__(self) -> int:
        return len(self.assignment)

    def grow(self, task: np.ndarray, items: Items) -> None:
        """Append cells for new assignments, given the task of every assignment."""
        old = len(self.begin)
        if len(task) == old:
            return
        size, first = items.size[task[old:]], items.first[task[old:]]
        begin = len(self) + np.cumsum(size) - size
        assignment = np.repeat(np.arange(old, len(task), dtype=np.int32), size)
        within = np.arange(len(assignment)) - np.repeat(begin - len(self), size)
        added = len(assignment)
        self.begin = np.concatenate([self.begin, begin])
        self.item = np.concatenate([self.item, (np.repeat(first, size) + within).astype(np.int32)])
        self.assignment = np.concatenate([self.assignment, assignment])
        self.row = np.concatenate([self.row, np.full(added, -1)])
        self.annotator = np.concatenate([self.annotator, np.full(added, NOBODY, np.int32)])
        self.at = np.concatenate([self.at, np.zeros(added)])
        self.seconds = np.concatenate([self.seconds, np.full(added, np.nan, np.float32)])

    def put(
        self,
        place: np.ndarray,
        row: np.ndarray,
        annotator: np.ndarray,
        at: np.ndarray,
        seconds: np.ndarray,
    ) -> None:
        """Write answers into cells, in their order; rows older than a cell's are ignored.

        Parameters
        ----------
        place
            The cells.
        row
            The numbers of the answers, ascending.
        annotator
            The annotators; NOBODY for a withdrawn answer.
        at, seconds
            The times and durations.
        """
        new = row > self.row[place]
        place = place[new]
        # If a cell gets several answers, the last one is written last.
        for column, values in (("row", row), ("annotator", annotator), ("at", at), ("seconds", seconds)):
            getattr(self, column)[place] = values[new]

    def clear(self, assignment: int, size: int) -> None:
        """Empty the cells of an assignment."""
        rows = slice(int(self.begin[assignment]), int(self.begin[assignment]) + size)
        self.row[rows], self.annotator[rows] = -1, NOBODY


class Loose:
    """Answers without a task; the last one of each annotator and pair counts, unless it was withdrawn."""

    def __init__(self) -> None:
        self.columns = {name: np.zeros(0, dtype) for name, dtype in COLUMNS.items()}
        self._kept: np.ndarray | None = None

    def add(self, **columns: np.ndarray) -> None:
        """Add rows, in the order in which they were written; rows that were already added are ignored."""
        new = ~np.isin(columns["row"], self.columns["row"][-len(columns["row"]) * 4 :])
        if not new.any():
            return
        both = {name: np.concatenate([self.columns[name], columns[name][new]]) for name in COLUMNS}
        order = np.argsort(both["row"], kind="stable")
        self.columns = {name: column[order] for name, column in both.items()}
        self._kept = None

    def kept(self) -> dict[str, np.ndarray]:
        """Return the columns of the rows that count."""
        if self._kept is None:
            annotator, pair = self.columns["annotator"], self.columns["pair"]
            order = np.lexsort((pair, annotator))
            same = (np.diff(annotator[order]) == 0) & (np.diff(pair[order]) == 0)
            last = order[np.append(~same, True)[: len(order)]]
            self._kept = np.sort(last[self.columns["coded"][last]])
        return {name: column[self._kept] for name, column in self.columns.items()}


class Tally:
    """The answers so far, kept up to date.

    Parameters
    ----------
    project
        The project.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.forget()

    def forget(self) -> None:
        """Forget everything, so that all of it is read again."""
        self.items: Items | None = None
        self.cells, self.loose = Cells(), Loose()
        self.last = -1
        self.signs: Signs | None = None
        empty = np.zeros(0, np.int64)
        self.task, self.owner, self.state = empty, empty, empty
        self.expires, self.lease_seconds = np.zeros(0), np.zeros(0)
        self.touched = np.zeros(0, bool)
        self.reviews: dict[int, str] = {}
        self.looked = 0.0

    def update(self) -> bool:
        """Read new rows; return whether there were any."""
        with self.project.snapshot() as snapshot:
            signs = snapshot.signs()
            # A row of PostgreSQL may become visible late, with a number below the highest one.
            late = not snapshot.in_order and time.monotonic() - self.looked > AGAIN
            if signs == self.signs and not late:
                return False
            try:
                self.read(snapshot, signs)
            except BaseException:
                # Half of what is new would be taken for all of it.
                self.forget()
                raise
        return True

    def read(self, snapshot: Snapshot, signs: Signs) -> None:
        """Read what is new in a snapshot."""
        if (-1 if signs.answer is None else signs.answer) < self.last:
            self.forget()  # an older copy of the project took its place
        self.looked = time.monotonic()
        before, touched = self.owner.copy(), self.touched.copy()
        with stage("reading tasks"):
            if self.items is None or self.signs is None or signs.item != self.signs.item:
                self.items = read_items(snapshot)
            self.read_assignments(snapshot, signs)
        self.read_answers(snapshot, signs)
        self.returned(snapshot, before, touched)
        if self.signs is None or signs.review != self.signs.review:
            self.reviews = {
                assignment: review[0] for assignment, review in self.project.reviews.read().items()
            }
        self.signs = signs

    def read_assignments(self, snapshot: Snapshot, signs: Signs) -> None:
        """Read the blocks of assignments that have changed."""
        assert self.items is not None
        added = signs.assignment_count - len(self.task)
        for name in ASSIGNMENT_COLUMNS:
            old = getattr(self, name)
            setattr(self, name, np.append(old, np.zeros(added, old.dtype)))
        for number, *columns in snapshot.assignments(signs.changed_since(self.signs)):
            for name, column in zip(ASSIGNMENT_COLUMNS, columns, strict=True):
                getattr(self, name)[number] = column
        self.cells.grow(self.task, self.items)
        self.touched = np.append(self.touched, np.zeros(added, bool))

    def read_answers(self, snapshot: Snapshot, signs: Signs) -> None:
        """Read the answers after the last one."""
        with stage("counting answers", total=signs.answer, done=max(self.last, 0)) as counting:
            for rows in snapshot.answers_after(self.last):
                self.put(rows)
                self.last = max(self.last, int(rows.number[-1]))
                counting.at(self.last)

    def put(self, rows: NewAnswers) -> None:
        """Write rows into their cells; answers of annotators who lost the assignment do not count now."""
        assert self.items is not None
        number, assignment, annotator = rows.number, rows.assignment, rows.annotator
        placed = assignment >= 0
        self.touched[assignment[placed]] = True
        own = placed.copy()
        own[placed] = self.owner[assignment[placed]] == annotator[placed]
        place = (
            self.cells.begin[assignment[own]] + rows.item[own] - self.items.first[self.task[assignment[own]]]
        )
        who = np.where(rows.coded[own], annotator[own], NOBODY)
        self.cells.put(place, number[own], who, rows.at[own], rows.seconds[own])
        if not placed.all():
            columns = {"row": number, "annotator": annotator, "pair": rows.pair, "coded": rows.coded}
            columns |= {"at": rows.at, "seconds": rows.seconds}
            self.loose.add(**{name: column[~placed] for name, column in columns.items()})

    def returned(self, snapshot: Snapshot, before: np.ndarray, touched: np.ndarray) -> None:
        """Read assignments with a new annotator again: earlier answers of that annotator count again."""
        assert self.items is not None
        changed = (self.owner[: len(before)] != before) & touched & (self.owner[: len(before)] >= 0)
        for assignment in np.flatnonzero(changed).tolist():
            self.cells.clear(assignment, int(self.items.size[self.task[assignment]]))
            rows = snapshot.answers_in(assignment, int(self.owner[assignment]))
            if len(rows):
                self.put(rows)

    def state_now(self, now: float) -> np.ndarray:
        """Return the states of the assignments; an expired lease counts as open."""
        ended = has_ended(self.expires, self.lease_seconds, now)
        return np.where((self.state == LEASED) & ended, OPEN, self.state)

    def counted(self) -> np.ndarray:
        """Return which cells have an answer that counts, as in `project.answers.read`.

        An expired lease keeps its answers until another annotator takes the assignment.
        """
        return (self.cells.annotator >= 0) & (self.cells.annotator == self.owner[self.cells.assignment])
