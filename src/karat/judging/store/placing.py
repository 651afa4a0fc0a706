"""Where imported answers belong: the items of their tasks, and the slots that they hand in."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection

from karat.errors import InputError
from karat.judging.store import bulk
from karat.judging.store.base import take_places
from karat.judging.store.effect import Slots, check_counted, in_effect
from karat.judging.store.planning import add_slots
from karat.judging.store.row_checks import Checked
from karat.judging.store.rows import OPEN, SUBMITTED

FEW = 500
"""Workers whose answers are asked for by name; for more of them all answers are read."""
HAND_IN = f"UPDATE slot SET state = {SUBMITTED}, worker = ?, submitted_at = ? WHERE id = ?"
HAND_IN_POSTGRES = f"""
    UPDATE slot SET state = {SUBMITTED}, worker = new.worker, submitted_at = new.at
    FROM unnest(%s::bigint[], %s::float8[], %s::bigint[]) AS new(worker, at, id) WHERE slot.id = new.id
"""


def find_items(connection: Connection, given: Checked, pair: np.ndarray, captions: int) -> np.ndarray:
    """Return the item of each row, −1 for rows without a task; a pair that its task does not have raises."""
    item = np.full(len(given), -1)
    asked = np.flatnonzero(given.task >= 0)
    if not len(asked):
        return item
    query = "SELECT id, task, image, caption FROM item ORDER BY id"
    number, task, image, caption = bulk.read_columns(connection, query, "iiii")
    check_counted(number)
    # Items are numbered task by task: sorted by pair within the task, they are found by halving.
    pairs, which = np.unique(image * captions + caption, return_inverse=True)
    key = task * len(pairs) + which
    order = np.argsort(key, kind="stable")
    place = np.minimum(np.searchsorted(pairs, pair[asked]), len(pairs) - 1)
    at = np.minimum(np.searchsorted(key[order], given.task[asked] * len(pairs) + place), len(order) - 1)
    found = order[at]
    wrong = np.flatnonzero((task[found] != given.task[asked]) | (pairs[which[found]] != pair[asked]))
    if len(wrong):
        row = asked[wrong[0]]
        raise InputError(
            f"row {row}: task {given.task[row]} has no pair of image {given.image[row]} and caption "
            f"{given.caption[row]}",
            fix="check the task, or give -1 for none",
        )
    item[asked] = found
    return item


def check_once(
    connection: Connection,
    worker: np.ndarray,
    item: np.ndarray,
    pair: np.ndarray,
    captions: int,
    slots: Slots,
) -> None:
    """Raise when an answer stands twice in the rows, or is in effect in the store already."""
    size = int(item.max(initial=-1)) + 1
    top = size + int(pair.max(initial=0)) + 1
    # A task and a pair are an item; without a task it is the pair that counts.
    key = worker * top + np.where(item >= 0, item, size + pair)
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order][1:] == key[order][:-1])
    if len(again):
        one = again[np.argmin(order[again + 1])]
        raise InputError(f"row {order[one + 1]} repeats row {order[one]}", fix="give each answer once")
    old_worker, old_item, old_pair = stored(connection, np.unique(worker), captions, slots)
    # What the rows cannot hold is no duplicate, and would be mistaken for one.
    fits = np.where(old_item >= 0, old_item < size, old_pair < top - size)
    old = (old_worker * top + np.where(old_item >= 0, old_item, size + old_pair))[fits]
    taken = np.flatnonzero(np.isin(key, old))
    if len(taken):
        raise InputError(
            f"row {taken[0]} is in the store already: the worker has answered this pair in this task",
            fix="leave out what is there",
        )


def stored(
    connection: Connection, workers: np.ndarray, captions: int, slots: Slots
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return worker, item and pair of the answers in effect, at least those of `workers`."""
    some = workers.tolist() if len(workers) <= FEW else []
    among = f"WHERE worker IN ({', '.join('?' * len(some))})" if some else ""
    slot, item, worker, image, caption, coded = bulk.read_columns(
        connection,
        "SELECT COALESCE(slot, -1), COALESCE(item, -1), worker, image, caption, "
        f"CASE WHEN code IS NULL THEN 0 ELSE 1 END FROM answer {among} ORDER BY id",
        "iiiiii",
        *some,
    )
    pair = image * captions + caption
    rows = in_effect(slot, item, worker, pair, coded > 0, slots)
    return worker[rows], item[rows], pair[rows]


def hand_in(connection: Connection, given: Checked, worker: np.ndarray, slots: Slots) -> np.ndarray:
    """Return the slot of each row, −1 for rows without a task; the slots are handed in."""
    slot = np.full(len(given), -1)
    asked = np.flatnonzero(given.task >= 0)
    most = int(worker.max()) + 1
    groups, which = np.unique(given.task[asked] * most + worker[asked], return_inverse=True)
    task, who = groups // most, groups % most
    chosen = np.full(len(groups), -1)
    # The worker's own slots of these tasks.
    held = np.flatnonzero((slots.state != OPEN) & (slots.worker >= 0) & (slots.worker < most))
    at = np.searchsorted(groups, key := slots.task[held] * most + slots.worker[held])
    at = np.minimum(at, max(len(groups) - 1, 0))
    mine = groups[at] == key if len(groups) else np.zeros(len(held), bool)
    chosen[at[mine]] = held[mine]
    # The others take the open slots of their task one after the other.
    need, free = np.flatnonzero(chosen < 0), np.flatnonzero(slots.state == OPEN)
    free = free[np.argsort(slots.task[free], kind="stable")]
    rank = np.arange(len(need)) - np.searchsorted(task[need], task[need])
    at = np.searchsorted(slots.task[free], task[need]) + rank
    there = at < len(free)
    there[there] = slots.task[free[at[there]]] == task[need][there]
    chosen[need[there]] = free[at[there]]
    new = need[~there]
    if len(new):
        chosen[new] = add_slots(connection, task[new], take_places(connection, len(new)))
    last = np.full(len(groups), -np.inf)
    np.maximum.at(last, which, given.at[asked])
    if connection.dialect.name == "sqlite":
        bulk.repeat(connection, HAND_IN, who, last, chosen)
    else:
        connection.exec_driver_sql(HAND_IN_POSTGRES, (who.tolist(), last.tolist(), chosen.tolist()))
    slot[asked] = chosen[which]
    return slot
