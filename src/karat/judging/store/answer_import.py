"""The import of many answers at once, all or nothing: checked row by row, placed in tasks, and handed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from karat.errors import InputError
from karat.judging.forms import Form
from karat.judging.store import bulk
from karat.judging.store.annotators import add_annotators
from karat.judging.store.assignments import OPEN, SUBMITTED, add_slots, take_places
from karat.judging.store.details import check_details
from karat.judging.store.effect import Slots, check_counted, in_effect, read_slots
from karat.judging.store.engine import Database
from karat.judging.store.part import Subject
from karat.judging.store.tables import ANSWER, TASK, WORKER
from karat.judging.store.texts import check_kind, check_name, check_time

FEW = 500
"""Workers whose answers are asked for by name; for more of them all answers are read."""
HAND_IN = f"UPDATE slot SET state = {SUBMITTED}, worker = ?, submitted_at = ? WHERE id = ?"
HAND_IN_POSTGRES = f"""
    UPDATE slot SET state = {SUBMITTED}, worker = new.worker, submitted_at = new.at
    FROM unnest(%s::bigint[], %s::float8[], %s::bigint[]) AS new(worker, at, id) WHERE slot.id = new.id
"""


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """Answers to be imported, as columns of one length.

    Parameters
    ----------
    task
        The task of each; −1 for answers that belong to none.
    image, caption
        The pair, as indices into the benchmark.
    worker
        The names of those who answered.
    code
        The answers, by the codes of the form.
    seconds
        How long each took; None or NaN where nobody knows.
    at
        When, in seconds since 1970; None for now.
    details
        Per row, the answers to follow-up questions: a choice, a list of choices or a text by the question's
        code. None where there are none.
    kind
        PERSON, MACHINE or DATASET: one for all, or one for each row.

    Examples
    --------
    >>> AnswerRows([-1, -1], [0, 1], [4, 4], ["ann", "ann"], ["yes", "no"])
    AnswerRows(2 answers)
    """

    task: Sequence[int] | np.ndarray
    image: Sequence[int] | np.ndarray
    caption: Sequence[int] | np.ndarray
    worker: Sequence[str] | np.ndarray
    code: Sequence[str] | np.ndarray
    seconds: Sequence[float | None] | np.ndarray | None = None
    at: Sequence[float] | np.ndarray | None = None
    details: Sequence[Mapping[str, Any] | None] | None = None
    kind: str | Sequence[str] | np.ndarray = "person"

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return f"AnswerRows({len(self):,} answers)"


def import_rows(database: Database, subject: Subject, rows: AnswerRows) -> int:
    """Store answers that were given elsewhere, all or none; return how many. See `StoredAnswers.record`."""
    with database.write() as connection:
        # Nobody adds tasks or slots until this is done.
        take_places(connection, 0)
        tasks = connection.execute(select(func.count()).select_from(TASK)).scalar_one()
        given = check_rows(rows, subject.form, subject.images, subject.captions, tasks)
        if len(given):
            write_rows(connection, given, subject.captions)
            database.analyse(connection)
    return len(given)


def write_rows(connection: Connection, given: Checked, captions: int) -> None:
    """Find where rows belong and write them, within a transaction."""
    number = add_annotators(connection, given.kinds)
    worker = np.array(list(number.values()), dtype=np.int64)[given.worker]
    lock(connection, sorted(number.values()))
    pair = given.image * captions + given.caption
    slots = read_slots(connection)
    item = find_items(connection, given, pair, captions)
    check_once(connection, worker, item, pair, captions, slots)
    slot = hand_in(connection, given, worker, slots)
    bulk.insert(
        connection, ANSWER, slot=or_none(slot), item=or_none(item), worker=worker, image=given.image,
        caption=given.caption, code=[given.codes[one] for one in given.code.tolist()],
        details=given.details, seconds=given.seconds, at=given.at,
    )  # fmt: skip


def lock(connection: Connection, workers: list[int]) -> None:
    """Keep these workers, and everybody, from taking slots until the transaction ends."""
    if connection.dialect.name == "sqlite":
        return
    ours = select(WORKER.c.id).where(WORKER.c.id.in_(workers)).order_by(WORKER.c.id)
    connection.execute(ours.with_for_update())
    # Reading goes on; whoever takes a slot or answers waits.
    connection.exec_driver_sql("LOCK TABLE slot IN EXCLUSIVE MODE")


def or_none(number: np.ndarray) -> list[int | None]:
    """Return numbers with None for −1."""
    if (number >= 0).all():
        return number.tolist()
    return [one if one >= 0 else None for one in number.tolist()]


@dataclass(frozen=True, eq=False)
class Checked:
    """Rows that passed: numbers as arrays; workers and codes as numbers of their names."""

    task: np.ndarray
    image: np.ndarray
    caption: np.ndarray
    worker: np.ndarray
    code: np.ndarray
    seconds: np.ndarray
    at: np.ndarray
    details: list[str | None]
    kinds: dict[str, str]
    codes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.task)


def check_rows(rows: AnswerRows, form: Form, images: int, captions: int, tasks: int) -> Checked:
    """Return rows that can be stored as far as they themselves can tell, or raise.

    Parameters
    ----------
    rows
        As they were given.
    form
        Of the project.
    images, captions, tasks
        How many there are.
    """
    n = len(rows.image)
    for name in ("task", "caption", "worker", "code", "seconds", "at", "details", "kind"):
        column = getattr(rows, name)
        if column is not None and not isinstance(column, str) and len(column) != n:
            raise InputError(
                f"{name} has {len(column):,} rows, image {n:,}", fix="give columns of one length"
            )
    whole = {
        "task": numbers(rows.task, "task", -1, tasks),
        "image": numbers(rows.image, "image", 0, images),
        "caption": numbers(rows.caption, "caption", 0, captions),
    }
    worker, names = numbered(rows.worker)
    for at, name in zip(first_rows(worker, len(names)), names, strict=True):
        with_row(at, check_name, name, "a worker")
    code, codes = numbered(rows.code)
    known = [choice.code for choice in form.answers]
    for at, one in zip(first_rows(code, len(codes)), codes, strict=True):
        if one not in known:
            raise InputError(
                f"row {at} has the answer {one!r:.60}, which the form {form.name!r} does not have",
                fix=f"its answers are {', '.join(known)}",
            )
    now = check_time(None, "now")
    return Checked(
        **whole, worker=worker, code=code,
        seconds=reals(rows.seconds, "seconds", n, np.nan, low=0.0),
        at=reals(rows.at, "at", n, now, low=-np.inf),
        details=check_all_details(form, rows.details, code, codes, n),
        kinds=kinds_of(rows.kind, worker, names), codes=codes,
    )  # fmt: skip


def with_row(row: int, check: Any, *values: Any) -> Any:
    """Return what a check returns; what it raises says which row it was."""
    try:
        return check(*values)
    except InputError as error:
        raise InputError(f"row {row}: {error.what}", fix=error.fix) from None


def numbers(column: Any, name: str, low: int, end: int) -> np.ndarray:
    """Return whole numbers from `low` to before `end`."""
    try:
        found = np.asarray(column)
        if found.size and found.dtype.kind not in "iu":
            raise ValueError(name)
        found = found.astype(np.int64).reshape(-1)
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"{name} holds something else than whole numbers", fix="give indices") from None
    wrong = np.flatnonzero((found < low) | (found >= end))
    if len(wrong):
        raise InputError(
            f"row {wrong[0]} has {name} {found[wrong[0]]}",
            fix=f"the project has {end:,}, from 0" + ("; -1 means none" if low < 0 else ""),
        )
    return found


def reals(column: Any, name: str, n: int, default: float, low: float) -> np.ndarray:
    """Return numbers; `default` where there are none."""
    if column is None:
        return np.full(n, default)
    try:
        found = np.array(column, dtype=np.float64).reshape(-1)
    except (ValueError, TypeError):
        raise InputError(f"{name} holds something else than numbers", fix="give seconds") from None
    found[np.isnan(found)] = default
    wrong = np.flatnonzero(np.isinf(found) | (found < low))
    if len(wrong):
        raise InputError(f"row {wrong[0]} has {name} {found[wrong[0]]}", fix="give seconds, or None")
    return found


def numbered(column: Sequence[str] | np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return texts as numbers of the different ones, in the order in which they come.

    >>> numbered(["b", "a", "b"])
    (array([0, 1, 0]), ('b', 'a'))
    """
    seen: dict[Any, int] = {}
    listed = column.tolist() if isinstance(column, np.ndarray) else column
    try:
        number = [seen.setdefault(one, len(seen)) for one in listed]
    except TypeError:
        raise InputError("workers and answers must be text", fix="give their names and codes") from None
    return np.array(number, dtype=np.int64), tuple(seen)


def first_rows(number: np.ndarray, count: int) -> list[int]:
    """Return the first row of each number."""
    first = np.full(count, -1)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return first.tolist()


def kinds_of(kind: Any, worker: np.ndarray, names: tuple[str, ...]) -> dict[str, str]:
    """Return each worker's kind; a worker with two raises."""
    if isinstance(kind, str):
        return dict.fromkeys(names, check_kind(kind))
    number, kinds = numbered(kind)
    kinds = tuple(
        with_row(at, check_kind, one) for at, one in zip(first_rows(number, len(kinds)), kinds, strict=True)
    )
    of = number[first_rows(worker, len(names))]
    wrong = np.flatnonzero(of[worker] != number)
    if len(wrong):
        raise InputError(
            f"row {wrong[0]}: {names[worker[wrong[0]]]!r} is of two kinds", fix="give each worker one"
        )
    return {name: kinds[one] for name, one in zip(names, of.tolist(), strict=True)}


def check_all_details(
    form: Form, details: Any, code: np.ndarray, codes: tuple[str, ...], n: int
) -> list[str | None]:
    """Return every row's details as they are stored."""
    if details is None:
        return [None] * n
    return [
        with_row(row, check_details, form, codes[one], given) if given else None
        for row, (one, given) in enumerate(zip(code.tolist(), details, strict=True))
    ]


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
