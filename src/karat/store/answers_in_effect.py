"""Answers in effect: the last of each assignment and item, by the annotator who has the assignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, func, select

from karat.errors import InputError
from karat.forms import NOT_GOLD
from karat.store import bulk
from karat.store.tables import ITEM


@dataclass(frozen=True, eq=False)
class Assignments:
    """Columns of the assignments, by their numbers: the task, the annotator (−1: none) and the state."""

    task: np.ndarray
    annotator: np.ndarray
    state: np.ndarray


def read_assignments(connection: Connection) -> Assignments:
    """Return the columns of all assignments."""
    query = "SELECT id, task, COALESCE(annotator, -1), state FROM assignment ORDER BY id"
    number, *columns = bulk.read_columns(connection, query, "iiii")
    check_counted(number)
    return Assignments(*columns)


def read_gold(connection: Connection) -> np.ndarray:
    """Return the gold value of each item, by its number."""
    ((items, last),) = connection.execute(select(func.count(), func.max(ITEM.c.id)).select_from(ITEM))
    number, value = bulk.read_columns(connection, f"SELECT id, gold FROM item WHERE gold <> {NOT_GOLD}", "ii")
    if items != (0 if last is None else last + 1) or (number < 0).any():
        raise damaged()
    gold = np.full(items, NOT_GOLD)
    gold[number] = value
    return gold


def damaged() -> InputError:
    """Return the error for missing rows: rows are numbered from 0 and looked up by their numbers."""
    return InputError("the project is damaged: rows are missing", fix="restore a copy of it")


def check_counted(number: np.ndarray) -> None:
    """Raise unless rows are numbered from 0."""
    if not np.array_equal(number, np.arange(len(number))):
        raise damaged()


def in_effect(
    assignment: np.ndarray,
    item: np.ndarray,
    annotator: np.ndarray,
    pair: np.ndarray,
    coded: np.ndarray,
    assignments: Assignments,
) -> np.ndarray:
    """Return the rows in effect, sorted; the columns are in the order in which rows were written.

    Parameters
    ----------
    assignment, item
        The numbers, for each answer; −1 for answers without a task.
    annotator, pair
        Who answered, and a number for each pair.
    coded
        Whether there is an answer; without one the row is a withdrawal.
    assignments
        Who has which assignment: answers of an annotator who lost or returned it do not count.
    """
    assigned = np.flatnonzero(assignment >= 0)
    if len(assigned) and int(assignment[assigned].max()) >= len(assignments.annotator):
        raise damaged()
    assigned = assigned[assignments.annotator[assignment[assigned]] == annotator[assigned]]
    without_task = np.flatnonzero(assignment < 0)
    items, pairs = int(item.max(initial=0)) + 1, int(pair.max(initial=0)) + 1
    last = [
        assigned[last_of_each(assignment[assigned] * items + item[assigned])],
        without_task[last_of_each(annotator[without_task] * pairs + pair[without_task])],
    ]
    rows = np.sort(np.concatenate(last))
    return rows[coded[rows]]


def last_of_each(key: np.ndarray) -> np.ndarray:
    """Return the last row of each key.

    >>> last_of_each(np.array([7, 3, 7])).tolist()
    [1, 2]
    """
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    return order[np.append(ordered[1:] != ordered[:-1], True)[: len(order)]]
