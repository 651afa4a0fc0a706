"""Tasks as other tools get them, and the names by which answers refer to them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.forms import TaskPlan

if TYPE_CHECKING:
    from karat.forms import Form

NAME = re.compile(r"(0|[1-9][0-9]{0,9})(-[0-9a-f]{8})?", re.ASCII)


@dataclass(frozen=True)
class ExportedItem:
    """A pair as annotators see it, without the caption id: many reveal which image a caption belongs to."""

    number: int
    group: int
    image: str
    caption: str
    own_image: str = ""


@dataclass(frozen=True)
class ExportedTask:
    """A task as annotators see it; it does not reveal which pairs are gold or what a system scored."""

    name: str
    items: tuple[ExportedItem, ...]


@dataclass(frozen=True)
class ExportedTasks:
    """All tasks of a project, with the form of their questions."""

    form: Form
    tasks: tuple[ExportedTask, ...]
    notes: tuple[str, ...] = ()


class TaskNames:
    """The names of a plan's tasks, such as ``12-3fa9c1d2``, and the task of each name.

    A name ends in a hash of the task's pairs, so that answers from another project do not fit. Gold is not
    part of the hash.

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
        """Return the task with a number or name; −1 when there is none."""
        match = NAME.fullmatch(text)
        if match is None or (task := int(match[1])) >= self.plan.tasks:
            return -1
        return task if match[2] is None or self[task] == text else -1
