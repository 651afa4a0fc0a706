"""Names for tasks that leave the house: a number, and a check that it is a task of this project."""

from __future__ import annotations

import hashlib
import re
from functools import cached_property

import numpy as np

from karat.judging.tasks import TaskPlan

NAME = re.compile(r"(0|[1-9][0-9]{0,9})(-[0-9a-f]{8})?", re.ASCII)


class TaskNames:
    """The names of a plan's tasks, such as ``12-3fa9c1d2``, and the way back.

    The letters are a hash of the task's pairs: answers that were given in another project do not fit. Gold
    has no part in it.

    Examples
    --------
    >>> columns = [0, 0], [0, 1], [0, 1], [3, 5], [2, 2], [-1, 1]
    >>> plan = TaskPlan(*(np.array(column) for column in columns), overlap=3)
    >>> names = TaskNames(plan)
    >>> names[0], names.find("0"), names.find(names[0]), names.find("0-00000000"), names.find("7")
    ('0-cb817f77', 0, 0, -1, -1)
    """

    def __init__(self, plan: TaskPlan) -> None:
        self.plan = plan

    @cached_property
    def _names(self) -> list[str]:
        order = np.lexsort((self.plan.position, self.plan.task))
        pairs = np.stack([self.plan.image, self.plan.caption], axis=1)[order].astype("<i8")
        ends = np.searchsorted(self.plan.task[order], np.arange(self.plan.tasks + 1))
        return [
            f"{task}-{hashlib.sha256(pairs[start:stop].tobytes()).hexdigest()[:8]}"
            for task, (start, stop) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist()))
        ]

    def __getitem__(self, task: int) -> str:
        return self._names[task]

    def find(self, text: str) -> int:
        """Return the task that a number or a name means; −1 when there is none."""
        match = NAME.fullmatch(text)
        if match is None or (task := int(match[1])) >= self.plan.tasks:
            return -1
        return task if match[2] is None or self[task] == text else -1
