"""A plan of tasks: which pairs are judged together, with known ones hidden among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

UNKNOWN, KNOWN_NO, KNOWN_YES = -1, 0, 1
"""What is known of a pair beforehand: nothing, or, for hidden gold, the right answer."""


@dataclass(frozen=True, eq=False)
class TaskPlan:
    """Tasks and their items, sorted by task and position.

    Parameters
    ----------
    task
        Of each item, the number of its task, from 0.
    position
        The place within the task, from 0, as people see it.
    group
        For grids, which image of the task the item belongs to, from 0; equal to `position` elsewhere.
    image, caption
        The pair.
    gold
        UNKNOWN, KNOWN_NO or KNOWN_YES.
    overlap
        How many people answer each task.

    Examples
    --------
    >>> columns = ([0, 0], [0, 1], [0, 1], [3, 5], [2, 2], [-1, 1])
    >>> plan = TaskPlan(*(np.array(column) for column in columns), overlap=3)
    >>> plan
    TaskPlan(1 task of 2 pairs, 1 of them gold, for 3 people each)
    """

    task: np.ndarray
    position: np.ndarray
    group: np.ndarray
    image: np.ndarray
    caption: np.ndarray
    gold: np.ndarray
    overlap: int

    def __len__(self) -> int:
        return len(self.task)

    def __repr__(self) -> str:
        from karat._util import plural

        known = int((self.gold != UNKNOWN).sum())
        return (
            f"TaskPlan({plural(self.tasks, 'task')} of {plural(len(self), 'pair')}, {known:,} of them gold, "
            f"for {self.overlap} people each)"
        )

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return int(self.task.max(initial=-1)) + 1
