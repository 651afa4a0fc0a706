"""Which answers count: the last of each slot and item, by the worker whose slot it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, func, select

from karat.errors import InputError
from karat.judging.store import bulk
from karat.judging.store.tables import ITEM
from karat.judging.tasks import UNKNOWN


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots by their numbers: their tasks and whose they are (−1: nobody's)."""

    task: np.ndarray
    worker: np.ndarray
    state: np.ndarray


def read_slots(connection: Connection) -> Slots:
    """Return the columns of the slots."""
    query = "SELECT id, task, COALESCE(worker, -1), state FROM slot ORDER BY id"
    number, *columns = bulk.read_columns(connection, query, "iiii")
    check_counted(number)
    return Slots(*columns)


def read_gold(connection: Connection) -> np.ndarray:
    """Return what is known of each item, by its number."""
    ((items, last),) = connection.execute(select(func.count(), func.max(ITEM.c.id)).select_from(ITEM))
    number, known = bulk.read_columns(connection, f"SELECT id, gold FROM item WHERE gold <> {UNKNOWN}", "ii")
    if items != (0 if last is None else last + 1) or (number < 0).any():
        raise damaged()
    gold = np.full(items, UNKNOWN)
    gold[number] = known
    return gold


def damaged() -> InputError:
    """Return the error for rows that are missing: they are numbered from 0 and looked up by their numbers."""
    return InputError("the project is damaged: rows are missing", fix="restore a copy of it")


def check_counted(number: np.ndarray) -> None:
    """Raise unless rows are numbered from 0."""
    if not np.array_equal(number, np.arange(len(number))):
        raise damaged()


def in_effect(
    slot: np.ndarray, item: np.ndarray, worker: np.ndarray, pair: np.ndarray, coded: np.ndarray, slots: Slots
) -> np.ndarray:
    """Return the rows that count, sorted; rows are given in the order in which they were written.

    Parameters
    ----------
    slot, item
        Of each answer; −1 for those without a task.
    worker, pair
        Who answered, and a number for each pair.
    coded
        Whether there is an answer; without one the row is an undo.
    slots
        Whose the slots are: answers of somebody who lost the slot or handed it back do not count.
    """
    own = np.flatnonzero(slot >= 0)
    if len(own) and int(slot[own].max()) >= len(slots.worker):
        raise damaged()
    own = own[slots.worker[slot[own]] == worker[own]]
    loose = np.flatnonzero(slot < 0)
    items, pairs = int(item.max(initial=0)) + 1, int(pair.max(initial=0)) + 1
    last = [
        own[last_of_each(slot[own] * items + item[own])],
        loose[last_of_each(worker[loose] * pairs + pair[loose])],
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
