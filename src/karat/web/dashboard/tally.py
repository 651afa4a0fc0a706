"""The count of answers as they come: each tick reads only what is new, so that millions cost as much as ten.

Everything that is to be answered is one cell each: a slot of a task, and an item of that task.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from karat.judging import Project
from karat.judging.store import LEASED, OPEN, NewAnswers, Signs, Snapshot
from karat.judging.tasks import UNKNOWN

NOBODY = -1
AGAIN = 30.0
"""Seconds after which it is asked anew though nothing seems to have changed."""
COLUMNS = {
    "row": np.int64,
    "worker": np.int64,
    "pair": np.int64,
    "coded": bool,
    "at": float,
    "seconds": float,
}


@dataclass(eq=False)
class Items:
    """The items by their numbers, those of a task in a row.

    Parameters
    ----------
    first, size
        Of each task, the number of its first item, and how many there are.
    pair
        Of each item, a number for its pair; −1 for hidden known pairs, which are asked only to check people.
    pairs
        How many pairs there are to judge.
    """

    first: np.ndarray
    size: np.ndarray
    pair: np.ndarray
    pairs: int


def read_items(snapshot: Snapshot) -> Items:
    """Read the items; tasks are added whole, so that the items of one follow each other."""
    task, key, gold = snapshot.items()
    size = np.bincount(task)
    pair = np.full(len(task), -1)
    asked = gold == UNKNOWN
    keys, pair[asked] = np.unique(key[asked], return_inverse=True)
    return Items(np.cumsum(size) - size, size, pair, len(keys))


@dataclass(eq=False)
class Cells:
    """What stands in every cell: who answered last, in which row, when, and how long it took.

    New slots are added behind the old ones, and cells with them.
    """

    begin: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    slot: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    item: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    row: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    worker: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    at: np.ndarray = field(default_factory=lambda: np.zeros(0))
    seconds: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))

    def __len__(self) -> int:
        return len(self.slot)

    def grow(self, task: np.ndarray, items: Items) -> None:
        """Make cells for the slots that have none yet, given the task of every slot."""
        old = len(self.begin)
        if len(task) == old:
            return
        size, first = items.size[task[old:]], items.first[task[old:]]
        begin = len(self) + np.cumsum(size) - size
        slot = np.repeat(np.arange(old, len(task), dtype=np.int32), size)
        within = np.arange(len(slot)) - np.repeat(begin - len(self), size)
        added = len(slot)
        self.begin = np.concatenate([self.begin, begin])
        self.item = np.concatenate([self.item, (np.repeat(first, size) + within).astype(np.int32)])
        self.slot = np.concatenate([self.slot, slot])
        self.row = np.concatenate([self.row, np.full(added, -1)])
        self.worker = np.concatenate([self.worker, np.full(added, NOBODY, np.int32)])
        self.at = np.concatenate([self.at, np.zeros(added)])
        self.seconds = np.concatenate([self.seconds, np.full(added, np.nan, np.float32)])

    def put(
        self,
        place: np.ndarray,
        row: np.ndarray,
        worker: np.ndarray,
        at: np.ndarray,
        seconds: np.ndarray,
    ) -> None:
        """Write answers into cells, in the order in which they were given; older ones do nothing.

        Parameters
        ----------
        place
            The cells.
        row
            The numbers of the answers, rising.
        worker
            Who answered; NOBODY where the answer was taken back.
        at, seconds
            When, and how long it took.
        """
        new = row > self.row[place]
        place = place[new]
        # Of several answers in one cell the last is written last.
        for column, values in (("row", row), ("worker", worker), ("at", at), ("seconds", seconds)):
            getattr(self, column)[place] = values[new]

    def clear(self, slot: int, size: int) -> None:
        """Empty the cells of a slot."""
        rows = slice(int(self.begin[slot]), int(self.begin[slot]) + size)
        self.row[rows], self.worker[rows] = -1, NOBODY


class Loose:
    """Answers without a task; the last of each worker and pair counts, unless it was taken back."""

    def __init__(self) -> None:
        self.columns = {name: np.zeros(0, dtype) for name, dtype in COLUMNS.items()}
        self._kept: np.ndarray | None = None

    def add(self, **columns: np.ndarray) -> None:
        """Add rows, in the order in which they were written; those that are there already do nothing."""
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
            worker, pair = self.columns["worker"], self.columns["pair"]
            order = np.lexsort((pair, worker))
            same = (np.diff(worker[order]) == 0) & (np.diff(pair[order]) == 0)
            last = order[np.append(~same, True)[: len(order)]]
            self._kept = np.sort(last[self.columns["coded"][last]])
        return {name: column[self._kept] for name, column in self.columns.items()}


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
        self.signs: Signs | None = None
        empty = np.zeros(0, np.int64)
        self.task, self.owner, self.state, self.expires = empty, empty, empty, np.zeros(0)
        self.touched = np.zeros(0, bool)
        self.reviews: dict[int, str] = {}
        self.looked = 0.0

    def update(self) -> bool:
        """Read what is new; return whether there was anything."""
        with self.project.snapshot() as snapshot:
            signs = snapshot.signs()
            # A row of PostgreSQL's may come late, below the highest number.
            late = not snapshot.in_order and time.monotonic() - self.looked > AGAIN
            if signs == self.signs and not late:
                return False
            self.looked = time.monotonic()
            if self.items is None or self.signs is None or signs.item != self.signs.item:
                self.items = read_items(snapshot)
            before, touched = self.owner, self.touched.copy()
            self.read_slots(snapshot)
            self.read_answers(snapshot)
            self.returned(snapshot, before, touched)
        if self.signs is None or signs.review != self.signs.review:
            self.reviews = {slot: review[0] for slot, review in self.project.reviews.read().items()}
        self.signs = signs
        return True

    def read_slots(self, snapshot: Snapshot) -> None:
        """Read the slots, which are few beside the answers."""
        assert self.items is not None
        self.task, self.owner, self.state, self.expires = snapshot.slots()
        self.cells.grow(self.task, self.items)
        self.touched = np.append(self.touched, np.zeros(len(self.task) - len(self.touched), bool))

    def read_answers(self, snapshot: Snapshot) -> None:
        """Read the answers behind the last."""
        rows = snapshot.answers_after(self.last)
        if len(rows):
            self.put(rows)
            self.last = max(self.last, int(rows.number[-1]))

    def put(self, rows: NewAnswers) -> None:
        """Put rows where they belong; those of somebody who does not hold the slot do not count now."""
        assert self.items is not None
        number, slot, worker = rows.number, rows.slot, rows.worker
        placed = slot >= 0
        self.touched[slot[placed]] = True
        own = placed.copy()
        own[placed] = self.owner[slot[placed]] == worker[placed]
        place = self.cells.begin[slot[own]] + rows.item[own] - self.items.first[self.task[slot[own]]]
        who = np.where(rows.coded[own], worker[own], NOBODY)
        self.cells.put(place, number[own], who, rows.at[own], rows.seconds[own])
        if not placed.all():
            columns = {"row": number, "worker": worker, "pair": rows.pair, "coded": rows.coded}
            columns |= {"at": rows.at, "seconds": rows.seconds}
            self.loose.add(**{name: column[~placed] for name, column in columns.items()})

    def returned(self, snapshot: Snapshot, before: np.ndarray, touched: np.ndarray) -> None:
        """Look again at slots that changed hands: who had one before has answers there that count again."""
        assert self.items is not None
        changed = (self.owner[: len(before)] != before) & touched & (self.owner[: len(before)] >= 0)
        for slot in np.flatnonzero(changed).tolist():
            self.cells.clear(slot, int(self.items.size[self.task[slot]]))
            rows = snapshot.answers_in(slot, int(self.owner[slot]))
            if len(rows):
                self.put(rows)

    def state_now(self, now: float) -> np.ndarray:
        """Return the slots' states; a lease that has run out counts as open."""
        return np.where((self.state == LEASED) & (self.expires <= now), OPEN, self.state)

    def counted(self) -> np.ndarray:
        """Return which cells hold an answer in effect, as `project.answers.read` has it.

        A lease that has run out keeps its answers until somebody else takes the slot.
        """
        return (self.cells.worker >= 0) & (self.cells.worker == self.owner[self.cells.slot])
