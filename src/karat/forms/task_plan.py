"""A plan of tasks: which pairs are judged together, with gold pairs hidden among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat._util import plural
from karat.forms.pool import NOT_GOLD


@dataclass(frozen=True, eq=False)
class TaskPlan:
    """Tasks and their items, sorted by task and position.

    Parameters
    ----------
    task
        The number of each item's task, from 0.
    position
        The item's place within its task, from 0, as annotators see it.
    group
        For grids, which image of the task the item belongs to, from 0; equal to `position` elsewhere.
    image, caption
        The item's pair.
    gold
        NOT_GOLD, GOLD_NO or GOLD_YES.
    overlap
        How many annotators answer each task.
    notes
        What a reader should know, such as how much gold is also asked about.

    Examples
    --------
    >>> columns = ([0, 0], [0, 1], [0, 1], [3, 5], [2, 2], [-1, 1])
    >>> plan = TaskPlan(*(np.array(column) for column in columns), overlap=3)
    >>> plan
    TaskPlan(1 task, 2 items, 1 of them gold, 3 annotators per task)
    """

    task: np.ndarray
    position: np.ndarray
    group: np.ndarray
    image: np.ndarray
    caption: np.ndarray
    gold: np.ndarray
    overlap: int
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.task)

    def __repr__(self) -> str:
        gold = int((self.gold != NOT_GOLD).sum())
        return (
            f"TaskPlan({plural(self.tasks, 'task')}, {plural(len(self), 'item')}, {gold:,} of them gold, "
            f"{plural(self.overlap, 'annotator')} per task)"
        )

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return int(self.task.max(initial=-1)) + 1
