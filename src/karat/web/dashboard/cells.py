"""Everything that is to be answered, one cell each: a slot of a task, and an item of that task."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection

from karat.judging.store import read_columns
from karat.judging.tasks import UNKNOWN

NOBODY = -1


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


def read_items(connection: Connection, captions: int) -> Items:
    """Read the items; tasks are added whole, so that the items of one follow each other."""
    query = "SELECT task, image, caption, gold FROM item ORDER BY id"
    task, image, caption, gold = read_columns(connection, query, "iiii")
    size = np.bincount(task)
    pair = np.full(len(task), -1)
    asked = gold == UNKNOWN
    keys, pair[asked] = np.unique((image * captions + caption)[asked], return_inverse=True)
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
