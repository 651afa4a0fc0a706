"""The import of many answers at once, all or none: checked row by row, assigned to tasks, and submitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from karat._util import track
from karat.errors import InputError
from karat.forms import AnswerRows, Form, check_details, check_kind, check_name, check_time
from karat.store import bulk
from karat.store.annotators import add_annotators
from karat.store.answers_in_effect import Assignments, check_counted, in_effect, read_assignments
from karat.store.assignments import OPEN, SUBMITTED, add_assignments, take_places
from karat.store.database import Database
from karat.store.part import Subject
from karat.store.tables import ANNOTATOR, ANSWER, TASK

MAX_FILTERED = 500
"""Up to so many annotators, only their stored answers are read; for more of them, all answers."""
SUBMIT = f"UPDATE assignment SET state = {SUBMITTED}, annotator = ?, submitted_at = ? WHERE id = ?"
SUBMIT_POSTGRES = f"""
    UPDATE assignment SET state = {SUBMITTED}, annotator = new.annotator, submitted_at = new.at
    FROM unnest(%s::bigint[], %s::float8[], %s::bigint[]) AS new(annotator, at, id)
    WHERE assignment.id = new.id
"""


def import_rows(database: Database, subject: Subject, rows: AnswerRows) -> int:
    """Import answers that were given elsewhere, all or none; return how many. See `StoredAnswers.record`."""
    with database.write() as connection:
        # No tasks or assignments can be added until the transaction ends.
        take_places(connection, 0)
        tasks = connection.execute(select(func.count()).select_from(TASK)).scalar_one()
        checked = check_rows(rows, subject.form, subject.images, subject.captions, tasks)
        if len(checked):
            write_rows(connection, checked, subject.captions)
            database.analyse(connection)
    return len(checked)


def write_rows(connection: Connection, rows: CheckedRows, captions: int) -> None:
    """Find the items and assignments of rows and write them, within a transaction."""
    number = add_annotators(connection, rows.kinds)
    annotator = np.array(list(number.values()), dtype=np.int64)[rows.annotator]
    lock(connection, sorted(number.values()))
    pair = rows.image * captions + rows.caption
    assignments = read_assignments(connection)
    item = find_items(connection, rows, pair, captions)
    check_duplicates(connection, annotator, item, pair, captions, assignments)
    assignment = submit_all(connection, rows, annotator, assignments)
    bulk.insert(
        connection, ANSWER, assignment=bulk.or_null(assignment), item=bulk.or_null(item), annotator=annotator,
        image=rows.image, caption=rows.caption, code=[rows.codes[code] for code in rows.code.tolist()],
        details=rows.details, seconds=rows.seconds, at=rows.at,
    )  # fmt: skip


def lock(connection: Connection, annotators: list[int]) -> None:
    """Lock annotators and all assignments until the transaction ends."""
    if connection.dialect.name == "sqlite":
        return
    rows = select(ANNOTATOR.c.id).where(ANNOTATOR.c.id.in_(annotators)).order_by(ANNOTATOR.c.id)
    connection.execute(rows.with_for_update())
    # Others can read; leasing and answering wait.
    connection.exec_driver_sql("LOCK TABLE assignment IN EXCLUSIVE MODE")


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """Rows that passed the checks: numbers as arrays; annotators and codes as indices of their names."""

    task: np.ndarray
    image: np.ndarray
    caption: np.ndarray
    annotator: np.ndarray
    code: np.ndarray
    seconds: np.ndarray
    at: np.ndarray
    details: list[str | None]
    kinds: dict[str, str]
    codes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.task)


def check_rows(rows: AnswerRows, form: Form, images: int, captions: int, tasks: int) -> CheckedRows:
    """Return rows whose values are valid by themselves, or raise.

    Parameters
    ----------
    rows
        The rows as the caller passed them.
    form
        The form of the project.
    images, captions, tasks
        How many the project has.
    """
    n = len(rows.image)
    for name in ("task", "caption", "annotator", "code", "seconds", "at", "details", "kind"):
        column = getattr(rows, name)
        if column is not None and not isinstance(column, str) and len(column) != n:
            raise InputError(
                f"{name} has {len(column):,} rows, image {n:,}", fix="give columns of one length"
            )
    numbers = {
        "task": whole_numbers(rows.task, "task", -1, tasks),
        "image": whole_numbers(rows.image, "image", 0, images),
        "caption": whole_numbers(rows.caption, "caption", 0, captions),
    }
    annotator, names = numbered(rows.annotator)
    for at, name in zip(first_rows(annotator, len(names)), names, strict=True):
        with_row(at, check_name, name, "an annotator")
    code, codes = numbered(rows.code)
    form_codes = [choice.code for choice in form.answers]
    for at, name in zip(first_rows(code, len(codes)), codes, strict=True):
        if name not in form_codes:
            raise InputError(
                f"row {at} has the answer {name!r:.60}, which the form {form.name!r} does not have",
                fix=f"its answers are {', '.join(form_codes)}",
            )
    now = check_time(None, "now")
    return CheckedRows(
        **numbers, annotator=annotator, code=code,
        seconds=reals(rows.seconds, "seconds", n, np.nan, low=0.0),
        at=reals(rows.at, "at", n, now, low=-np.inf),
        details=check_all_details(form, rows.details, code, codes, n),
        kinds=kinds_of(rows.kind, annotator, names), codes=codes,
    )  # fmt: skip


def with_row(row: int, check: Any, *values: Any) -> Any:
    """Return the result of a check; an error that it raises names the row."""
    try:
        return check(*values)
    except InputError as error:
        raise InputError(f"row {row}: {error.what}", fix=error.fix) from None


def whole_numbers(column: Any, name: str, low: int, end: int) -> np.ndarray:
    """Return a column of whole numbers, at least `low` and below `end`; or raise."""
    try:
        values = np.asarray(column)
        if values.size and values.dtype.kind not in "iu":
            raise ValueError(name)
        values = values.astype(np.int64).reshape(-1)
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"{name} contains values that are not whole numbers", fix="give indices") from None
    wrong = np.flatnonzero((values < low) | (values >= end))
    if len(wrong):
        raise InputError(
            f"row {wrong[0]} has {name} {values[wrong[0]]}",
            fix=f"the project has {end:,}, from 0" + ("; -1 means none" if low < 0 else ""),
        )
    return values


def reals(column: Any, name: str, n: int, default: float, low: float) -> np.ndarray:
    """Return a column of numbers, `default` where they are missing; or raise."""
    if column is None:
        return np.full(n, default)
    try:
        values = np.array(column, dtype=np.float64).reshape(-1)
    except (ValueError, TypeError):
        raise InputError(f"{name} contains values that are not numbers", fix="give seconds") from None
    values[np.isnan(values)] = default
    wrong = np.flatnonzero(np.isinf(values) | (values < low))
    if len(wrong):
        raise InputError(f"row {wrong[0]} has {name} {values[wrong[0]]}", fix="give seconds, or None")
    return values


def numbered(column: Sequence[str] | np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return a column of texts as indices, and the different texts in the order in which they come.

    >>> numbered(["b", "a", "b"])
    (array([0, 1, 0]), ('b', 'a'))
    """
    index: dict[Any, int] = {}
    texts = column.tolist() if isinstance(column, np.ndarray) else column
    try:
        indices = [index.setdefault(text, len(index)) for text in texts]
    except TypeError:
        raise InputError("annotators and answers must be text", fix="give their names and codes") from None
    return np.array(indices, dtype=np.int64), tuple(index)


def first_rows(number: np.ndarray, count: int) -> list[int]:
    """Return the first row of each number below `count`."""
    first = np.full(count, -1)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return first.tolist()


def kinds_of(kind: Any, annotator: np.ndarray, names: tuple[str, ...]) -> dict[str, str]:
    """Return each annotator's kind; raise for an annotator with two."""
    if isinstance(kind, str):
        return dict.fromkeys(names, check_kind(kind))
    number, kinds = numbered(kind)
    kinds = tuple(
        with_row(row, check_kind, name)
        for row, name in zip(first_rows(number, len(kinds)), kinds, strict=True)
    )
    first_kind = number[first_rows(annotator, len(names))]
    wrong = np.flatnonzero(first_kind[annotator] != number)
    if len(wrong):
        raise InputError(
            f"row {wrong[0]}: the annotator {names[annotator[wrong[0]]]!r} has two kinds",
            fix="give each annotator one kind",
        )
    return {name: kinds[number] for name, number in zip(names, first_kind.tolist(), strict=True)}


def check_all_details(
    form: Form, details: Any, code: np.ndarray, codes: tuple[str, ...], n: int
) -> list[str | None]:
    """Return every row's details as they are stored."""
    if details is None:
        return [None] * n
    rows = zip(code.tolist(), details, strict=True)
    return [
        with_row(row, check_details, form, codes[index], values) if values else None
        for row, (index, values) in enumerate(track(rows, "checking answers", n))
    ]


def find_items(connection: Connection, rows: CheckedRows, pair: np.ndarray, captions: int) -> np.ndarray:
    """Return the item of each row, −1 without a task; raise for a pair that its task does not have."""
    item = np.full(len(rows), -1)
    with_task = np.flatnonzero(rows.task >= 0)
    if not len(with_task):
        return item
    query = "SELECT id, task, image, caption FROM item ORDER BY id"
    number, task, image, caption = bulk.read_columns(connection, query, "iiii")
    check_counted(number)
    # Items are sorted by task and pair, and looked up by binary search.
    pairs, which = np.unique(image * captions + caption, return_inverse=True)
    key = task * len(pairs) + which
    order = np.argsort(key, kind="stable")
    index = np.minimum(np.searchsorted(pairs, pair[with_task]), len(pairs) - 1)
    at = np.searchsorted(key[order], rows.task[with_task] * len(pairs) + index)
    items = order[np.minimum(at, len(order) - 1)]
    wrong = np.flatnonzero((task[items] != rows.task[with_task]) | (pairs[which[items]] != pair[with_task]))
    if len(wrong):
        row = with_task[wrong[0]]
        raise InputError(
            f"row {row}: task {rows.task[row]} has no pair of image {rows.image[row]} and caption "
            f"{rows.caption[row]}",
            fix="check the task, or give -1 for none",
        )
    item[with_task] = items
    return item


def check_duplicates(
    connection: Connection,
    annotator: np.ndarray,
    item: np.ndarray,
    pair: np.ndarray,
    captions: int,
    assignments: Assignments,
) -> None:
    """Raise for a duplicate among the rows, and for a row whose answer is already stored and in effect."""
    size = int(item.max(initial=-1)) + 1
    top = size + int(pair.max(initial=0)) + 1
    # Rows with a task are identified by the item, rows without one by the pair.
    key = annotator * top + np.where(item >= 0, item, size + pair)
    order = np.argsort(key, kind="stable")
    repeated = np.flatnonzero(key[order][1:] == key[order][:-1])
    if len(repeated):
        first = repeated[np.argmin(order[repeated + 1])]
        raise InputError(f"row {order[first + 1]} repeats row {order[first]}", fix="give each answer once")
    old_annotator, old_item, old_pair = stored_answers(
        connection, np.unique(annotator), captions, assignments
    )
    # Items and pairs beyond those of the rows are not duplicates; their keys could look like others.
    comparable = np.where(old_item >= 0, old_item < size, old_pair < top - size)
    old = (old_annotator * top + np.where(old_item >= 0, old_item, size + old_pair))[comparable]
    duplicate = np.flatnonzero(np.isin(key, old))
    if len(duplicate):
        raise InputError(
            f"row {duplicate[0]} is already stored: the annotator has answered this pair in this task",
            fix="leave out answers that are already stored",
        )


def stored_answers(
    connection: Connection, annotators: np.ndarray, captions: int, assignments: Assignments
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return annotator, item and pair of the answers in effect, at least those of `annotators`."""
    chosen = annotators.tolist() if len(annotators) <= MAX_FILTERED else []
    where = f"WHERE annotator IN ({', '.join('?' * len(chosen))})" if chosen else ""
    assignment, item, annotator, image, caption, coded = bulk.read_columns(
        connection,
        "SELECT COALESCE(assignment, -1), COALESCE(item, -1), annotator, image, caption, "
        f"CASE WHEN code IS NULL THEN 0 ELSE 1 END FROM answer {where} ORDER BY id",
        "iiiiii",
        *chosen,
    )
    pair = image * captions + caption
    rows = in_effect(assignment, item, annotator, pair, coded > 0, assignments)
    return annotator[rows], item[rows], pair[rows]


def submit_all(
    connection: Connection, rows: CheckedRows, annotator: np.ndarray, assignments: Assignments
) -> np.ndarray:
    """Submit an assignment for each task and annotator; return that of each row, −1 without a task."""
    assignment = np.full(len(rows), -1)
    with_task = np.flatnonzero(rows.task >= 0)
    base = int(annotator.max()) + 1
    groups, group = np.unique(rows.task[with_task] * base + annotator[with_task], return_inverse=True)
    task, group_annotator = groups // base, groups % base
    chosen = np.full(len(groups), -1)
    # Assignments of these tasks that the annotators already have.
    taken = np.flatnonzero(
        (assignments.state != OPEN) & (assignments.annotator >= 0) & (assignments.annotator < base)
    )
    at = np.searchsorted(groups, key := assignments.task[taken] * base + assignments.annotator[taken])
    at = np.minimum(at, max(len(groups) - 1, 0))
    same = groups[at] == key if len(groups) else np.zeros(len(taken), bool)
    chosen[at[same]] = taken[same]
    # The other groups take the open assignments of their task one after the other.
    missing, free = np.flatnonzero(chosen < 0), np.flatnonzero(assignments.state == OPEN)
    free = free[np.argsort(assignments.task[free], kind="stable")]
    rank = np.arange(len(missing)) - np.searchsorted(task[missing], task[missing])
    at = np.searchsorted(assignments.task[free], task[missing]) + rank
    has_open = at < len(free)
    has_open[has_open] = assignments.task[free[at[has_open]]] == task[missing][has_open]
    chosen[missing[has_open]] = free[at[has_open]]
    new = missing[~has_open]
    if len(new):
        chosen[new] = add_assignments(connection, task[new], take_places(connection, len(new)))
    last = np.full(len(groups), -np.inf)
    np.maximum.at(last, group, rows.at[with_task])
    if connection.dialect.name == "sqlite":
        bulk.repeat(connection, SUBMIT, group_annotator, last, chosen)
    else:
        values = (group_annotator.tolist(), last.tolist(), chosen.tolist())
        connection.exec_driver_sql(SUBMIT_POSTGRES, values)
    assignment[with_task] = chosen[group]
    return assignment
