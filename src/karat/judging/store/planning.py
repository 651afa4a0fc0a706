"""The tasks of a project: packs of items, and a slot for each person that is wanted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from sqlalchemy import Connection, func, select

from karat.errors import InputError
from karat.judging.store import bulk
from karat.judging.store.base import StorePart, take_places
from karat.judging.store.rows import OPEN
from karat.judging.store.schema import ITEM, SLOT, TASK
from karat.judging.tasks import KNOWN_NO, KNOWN_YES, UNKNOWN, TaskPlan


class Planning(StorePart):
    """Adding tasks."""

    def add_tasks(self, plan: TaskPlan) -> int:
        """Add the tasks of a plan, numbered on from those that are there; return the number of the first."""
        task = self._check_plan(plan)
        with self._db.write() as connection:
            place = take_places(connection, plan.tasks * plan.overlap)
            first = next_number(connection, TASK)
            bulk.insert(
                connection, TASK, id=first + np.arange(plan.tasks), overlap=[plan.overlap] * plan.tasks
            )
            bulk.insert(
                connection, ITEM, id=next_number(connection, ITEM) + np.arange(len(plan)), task=first + task,
                position=plan.position, grp=plan.group, image=plan.image, caption=plan.caption,
                gold=plan.gold,
            )  # fmt: skip
            add_slots(connection, first + np.repeat(np.arange(plan.tasks), plan.overlap), place)
            self._db.analyse(connection)
        return first

    def ask_again(self, tasks: Iterable[int]) -> None:
        """Add an open slot to each of some tasks, for instance where a hand-in was rejected."""
        task = np.asarray(list(tasks), dtype=np.int64)
        with self._db.write() as connection:
            place = take_places(connection, len(task))
            wrong = np.flatnonzero((task < 0) | (task >= next_number(connection, TASK)))
            if len(wrong):
                raise InputError(f"there is no task {task[wrong[0]]}", fix="tasks are numbered from 0")
            add_slots(connection, task, place)

    def plan(self) -> TaskPlan:
        """Return all tasks so far as one plan; its overlap is the largest of theirs."""
        with self._db.read() as connection:
            query = "SELECT task, position, grp, image, caption, gold FROM item ORDER BY id"
            task, position, group, image, caption, gold = bulk.read_columns(connection, query, "iiiiii")
            overlap = connection.execute(select(func.max(TASK.c.overlap))).scalar_one()
        return TaskPlan(task, position, group, image, caption, gold, overlap or 0)

    def _check_plan(self, plan: TaskPlan) -> np.ndarray:
        """Return the tasks' numbers, or raise before anybody is asked about pairs that are not there."""
        task, pair = plan.task, plan.image * self._captions + plan.caption
        if not len(plan) or plan.overlap < 1:
            raise InputError(
                "the plan has no task, or wants nobody", fix="plan at least a task for one person"
            )
        for kind, index, size in (
            ("image", plan.image, self._images),
            ("caption", plan.caption, self._captions),
        ):
            outside = np.flatnonzero((index < 0) | (index >= size))
            if len(outside):
                raise InputError(
                    f"item {outside[0]} of the plan has {kind} {index[outside[0]]}",
                    fix=f"the benchmark has {size:,}, from 0",
                )
        if not np.isin(plan.gold, (UNKNOWN, KNOWN_NO, KNOWN_YES)).all():
            raise InputError("the plan has gold that is neither known nor unknown", fix="use -1, 0 and 1")
        if task[0] != 0 or not np.isin(np.diff(task), (0, 1)).all():
            raise InputError("the tasks of the plan are not numbered from 0 in order", fix="sort its items")
        if (np.diff(plan.position)[np.diff(task) == 0] <= 0).any():
            raise InputError("the items of a task are not in order", fix="sort them by position, each once")
        order = np.lexsort((pair, task))
        again = np.flatnonzero((np.diff(task[order]) == 0) & (np.diff(pair[order]) == 0))
        if len(again):
            raise InputError(f"task {task[order][again[0]]} has a pair twice", fix="ask about a pair once")
        return task


def next_number(connection: Connection, table: object) -> int:
    """Return the first free number of a table that we count; `take_places` keeps others from taking it."""
    last = connection.execute(select(func.max(table.c.id))).scalar_one()  # type: ignore[attr-defined]
    return 0 if last is None else int(last) + 1


def add_slots(connection: Connection, task: np.ndarray, place: int) -> np.ndarray:
    """Add an open slot for each of `task`, from a place in the queue on; return their numbers."""
    slot = next_number(connection, SLOT) + np.arange(len(task))
    bulk.insert(
        connection, SLOT, id=slot, task=task, state=[OPEN] * len(task), queue=place + np.arange(len(task))
    )  # fmt: skip
    return slot
