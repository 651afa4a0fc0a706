"""The queue: assignments are leased to annotators, one at a time each, and submitted or returned.

An annotator has one assignment at a time. A page that asks for the next one only after the last answer shows
nothing until the network has replied, so a second one may be leased while the first is still being answered.
The older of the two is the current one.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, RowMapping, bindparam, func, select, text, update

from karat._util import plural
from karat.errors import InputError
from karat.forms import MAX_NAME, PERSON, check_name, check_seconds, check_text, check_time, unanswered
from karat.store import bulk
from karat.store.annotators import add_annotators, all_annotators
from karat.store.assignments import (
    ENDED,
    LEASED,
    OPEN,
    OPEN_TO_ANNOTATOR,
    STATES,
    SUBMITTED,
    AssignmentTable,
    Item,
    Lease,
    add_assignments,
    extend_lease,
    find_assignment,
    has_ended,
    items_of,
    next_number,
    take_places,
)
from karat.store.part import StorePart
from karat.store.tables import ANNOTATOR, ASSIGNMENT, PROJECT, TASK

# The state is written as a number, so that the small index of leased assignments is used.
LEASED_BY = text(f"""
    SELECT assignment.id, assignment.task, assignment.token, assignment.expires
    FROM assignment JOIN annotator ON annotator.id = assignment.annotator
    WHERE assignment.state = {LEASED} AND annotator.name = :name
    ORDER BY assignment.leased_at, assignment.id
""")
LAST = select(ANNOTATOR.c.last_assignment).where(ANNOTATOR.c.name == text(":name"))
SHARED_PAIR = text("""
    SELECT 1 FROM item first JOIN item second ON first.image = second.image AND first.caption = second.caption
    WHERE first.task = :task AND second.task = :other LIMIT 1
""")
STATE_OF = text("""
    SELECT assignment.state FROM assignment JOIN annotator ON annotator.id = assignment.annotator
    WHERE assignment.token = :token AND annotator.name = :name
""")
PAIR_OF = text(f"""
    SELECT item.image, item.caption FROM item
    JOIN assignment ON assignment.task = item.task AND assignment.state <> {OPEN}
    JOIN annotator ON annotator.id = assignment.annotator
    WHERE item.id = :item AND annotator.name = :name LIMIT 1
""")
ANNOTATOR_OF = text("""
    SELECT annotator.id FROM assignment JOIN annotator ON annotator.id = assignment.annotator
    WHERE assignment.id = :assignment AND annotator.name = :name
""")
SUBMITTED_BY = text(f"""
    SELECT annotator.name, submitted.assignments FROM (
        SELECT annotator, COUNT(*) AS assignments FROM assignment WHERE state = {SUBMITTED} GROUP BY annotator
    ) submitted
    JOIN annotator ON annotator.id = submitted.annotator
""")
COUNT = text("SELECT COUNT(*) FROM assignment")
COUNT_BY_STATE = text(f"""
    SELECT CASE WHEN state = {LEASED} AND {ENDED.format(row="")} THEN {OPEN} ELSE state END AS state_now,
        COUNT(*) AS assignments
    FROM assignment GROUP BY 1
""")
OPEN_TO_ANY = text(f"""
    SELECT 1 FROM assignment free CROSS JOIN annotator candidate
    WHERE candidate.id IN :annotators
        AND (free.state = {OPEN}
            OR (free.state = {LEASED} AND {ENDED.format(row="free.")} AND free.annotator <> candidate.id))
        AND {OPEN_TO_ANNOTATOR.replace(":annotator", "candidate.id")}
    LIMIT 1
""").bindparams(bindparam("annotators", expanding=True))
AT_ONCE = 500
"""How many annotators one query looks at."""
MAX_SKIPPED = 20
"""How many tasks that share a pair with the current one are skipped."""


class Queue(StorePart):
    """The assignments of a project: `project.queue`."""

    def lease(self, annotator: str, seconds: float = 1800, now: float | None = None) -> Lease | None:
        """Lease an open assignment to an annotator; None where nothing is left for this annotator.

        An annotator who holds an assignment gets the same one again, also after the lease has expired, unless
        another annotator has taken it. Nobody gets a task twice, nor a task with a pair already answered in
        another one.

        Parameters
        ----------
        annotator
            The name; a new name is added as an annotator of the kind PERSON.
        seconds
            How long the lease is valid.
        now
            The time in seconds since 1970; the current time by default.
        """
        now, seconds = check_time(now, "now"), check_seconds(seconds, "the time of a lease") or 0.0
        check_name(annotator, "an annotator")
        with self._db.write_soon() as connection:
            row = self._annotator(connection, annotator)
            last = self._last(connection, row)
            assignment: RowMapping | None
            if last is None or (last["annotator"], last["state"]) != (row["id"], LEASED):
                assignment = self._take(connection, row, self._cursor(connection, row, last), now, seconds)
            elif not has_ended(last["expires"], last["lease_seconds"], now):
                assignment = last
            else:
                assignment = extend_lease(connection, last["id"], now + seconds, seconds)
            return None if assignment is None else lease_of(connection, annotator, assignment)

    def at_hand(self, annotator: str, seconds: float, now: float | None = None) -> Lease | None:
        """Return the current lease, or a new one; None where nothing is left for this annotator.

        Parameters
        ----------
        annotator
            The name.
        seconds
            How long a new lease is valid.
        now
            The time in seconds since 1970; the current time by default.
        """
        with self._db.read() as connection:
            held = leased_by(connection, annotator)
            last = connection.execute(LAST, {"name": annotator}).scalar_one_or_none()
        if held and held[0]["id"] != last:
            with self._db.write_soon() as connection:
                self._promote(connection, annotator)
        return self.lease(annotator, seconds, now)

    def ahead(self, annotator: str, seconds: float, now: float | None = None) -> Lease | None:
        """Return the lease after the current one, taken now if necessary; None where there is none.

        Only an open assignment is taken, never an expired one of another annotator, since there is no hurry
        yet; and none whose task shares a pair with the current one, since nobody is asked about a pair twice.
        """
        now = check_time(now, "now")
        with self._db.write_soon() as connection:
            row = self._annotator(connection, annotator)
            held = leased_by(connection, annotator)
            if not held:
                return None
            if len(held) > 1:
                return read_lease(connection, annotator, held[1]["id"])
            assignment = find_without_shared_pair(connection, row, held[0]["task"])
            if assignment is None:
                return None
            return lease_of(connection, annotator, lease_to(connection, assignment, row["id"], now, seconds))

    def held(self, annotator: str) -> Lease | None:
        """Return the current lease without taking a new one; None where there is none."""
        with self._db.read() as connection:
            held = leased_by(connection, annotator)
            return read_lease(connection, annotator, held[0]["id"]) if held else None

    def renew(self, token: str, seconds: float = 1800, now: float | None = None) -> float:
        """Extend a lease and return the time at which it expires."""
        now, seconds = check_time(now, "now"), check_seconds(seconds, "the time of a lease") or 0.0
        with self._db.write_soon() as connection:
            assignment = self._held(connection, token, now)
            extend_lease(connection, assignment["id"], now + seconds, seconds)
        return now + seconds

    def release(self, token: str) -> None:
        """Return a leased assignment to the end of the queue; the answers given in it no longer count.

        They count again if the same annotator gets the same assignment again.
        """
        with self._db.write() as connection:
            # Rows are always locked in the order project, annotator, assignment: no two programs deadlock.
            place = take_places(connection, 1)
            assignment = self._held(connection, token, None)
            cleared = dict.fromkeys(("annotator", "token", "expires", "lease_seconds", "leased_at"))
            connection.execute(
                update(ASSIGNMENT)
                .where(ASSIGNMENT.c.id == assignment["id"])
                .values(state=OPEN, place=place, **cleared)
            )

    def submit(self, token: str, now: float | None = None) -> None:
        """Submit an assignment; every item and every required question must have an answer.

        Submitting the same assignment again changes nothing.
        """
        now = check_time(now, "now")
        with self._db.write() as connection:
            assignment = self._by_token(connection, token)
            if assignment["state"] == SUBMITTED:
                return
            self._check_complete(connection, assignment)
            connection.execute(
                update(ASSIGNMENT)
                .where(ASSIGNMENT.c.id == assignment["id"])
                .values(state=SUBMITTED, submitted_at=now)
            )

    def ask_again(self, tasks: Iterable[int]) -> None:
        """Add an open assignment to each of some tasks, for instance where a submitted one was rejected."""
        task = np.asarray(list(tasks), dtype=np.int64)
        with self._db.write() as connection:
            place = take_places(connection, len(task))
            wrong = np.flatnonzero((task < 0) | (task >= next_number(connection, TASK)))
            if len(wrong):
                raise InputError(f"there is no task {task[wrong[0]]}", fix="tasks are numbered from 0")
            add_assignments(connection, task, place)

    def items(self, lease: Lease) -> tuple[Item, ...] | None:
        """Return the items of a lease with the answers so far; None where the annotator has lost it."""
        with self._db.read() as connection:
            values = {"assignment": lease.assignment, "name": lease.annotator}
            annotator = connection.execute(ANNOTATOR_OF, values).scalar_one_or_none()
            # The assignment may be another annotator's by now, and so are its answers.
            if annotator is None:
                return None
            return items_of(connection, lease.assignment, lease.task, annotator)

    def state_of(self, annotator: str, token: str) -> int | None:
        """Return the state of the assignment that an annotator has under a token; None without one."""
        with self._db.read() as connection:
            return connection.execute(STATE_OF, {"token": token, "name": annotator}).scalar_one_or_none()

    def pair_of(self, annotator: str, item: int) -> tuple[int, int] | None:
        """Return image and caption of an item that an annotator holds or has submitted; else None."""
        with self._db.read() as connection:
            row = connection.execute(PAIR_OF, {"item": item, "name": annotator}).one_or_none()
        return None if row is None else (row.image, row.caption)

    def assignments(self, now: float | None = None) -> AssignmentTable:
        """Return every assignment as columns; a lease that has expired by `now` counts as open."""
        now = check_time(now, "now")
        columns = "id, task, COALESCE(annotator, -1), state, expires, lease_seconds, leased_at, submitted_at"
        query = f"SELECT {columns} FROM assignment ORDER BY id"
        with self._db.read() as connection:
            assignment, task, annotator, state, expires, seconds, leased, submitted = bulk.read_columns(
                connection, query, "iiiiffff"
            )
            ids, _, _ = all_annotators(connection)
        state = np.where((state == LEASED) & has_ended(expires, seconds, now), OPEN, state)
        index = np.searchsorted(np.array(ids, np.int64), annotator)
        index = np.where((annotator < 0) | (state == OPEN), -1, index)
        return AssignmentTable(assignment, task, index, np.array(STATES)[state], leased, submitted)

    def progress(self) -> tuple[int, dict[str, int]]:
        """Return how many assignments there are, and how many each annotator has submitted, by name."""
        with self._db.read() as connection:
            submitted = {row.name: int(row.assignments) for row in connection.execute(SUBMITTED_BY)}
            return int(connection.execute(COUNT).scalar_one()), submitted

    def counts(self, now: float | None = None) -> dict[str, int]:
        """Return how many assignments are open, leased and submitted; an expired lease counts as open."""
        with self._db.read() as connection:
            rows = connection.execute(COUNT_BY_STATE, {"now": check_time(now, "now")}).all()
        return dict.fromkeys(STATES, 0) | {STATES[row.state_now]: row.assignments for row in rows}

    def can_continue(self, annotators: Iterable[str], now: float | None = None) -> bool:
        """Return whether any of some annotators could get an assignment that is open now.

        Nobody gets a task twice, nor a task with a pair that they have answered in another one. An expired
        lease is open to all but its holder.

        Parameters
        ----------
        annotators
            Their names; a new name can get whatever is open.
        now
            The time in seconds since 1970; the current time by default.
        """
        now = check_time(now, "now")
        names = list(annotators)
        with self._db.read() as connection:
            ids, stored, _ = all_annotators(connection)
            number = dict(zip(stored, ids))
            if any(name not in number for name in names):
                rows = connection.execute(COUNT_BY_STATE, {"now": now})
                return any(row.state_now == OPEN for row in rows)
            for begin in range(0, len(names), AT_ONCE):
                part = [number[name] for name in names[begin : begin + AT_ONCE]]
                if connection.execute(OPEN_TO_ANY, {"annotators": part, "now": now}).first() is not None:
                    return True
        return False

    def _annotator(self, connection: Connection, name: str) -> RowMapping:
        """Return an annotator's row, locked, so that two windows do not get two assignments."""
        end = select(PROJECT.c.places).scalar_subquery().label("end")
        query = select(ANNOTATOR, end).where(ANNOTATOR.c.name == name)
        row = self._row(connection, query, lock=ANNOTATOR)
        if row is None:
            add_annotators(connection, {name: PERSON})
            row = self._row(connection, query, lock=ANNOTATOR)
        assert row is not None
        return row

    def _last(self, connection: Connection, annotator: RowMapping) -> RowMapping | None:
        """Return the assignment that the annotator leased last, whoever has it now."""
        if annotator["last_assignment"] is None:
            return None
        query = select(ASSIGNMENT).where(ASSIGNMENT.c.id == annotator["last_assignment"])
        return self._row(connection, query, lock=ASSIGNMENT)

    def _cursor(self, connection: Connection, annotator: RowMapping, last: RowMapping | None) -> int:
        """Return where to search from; a task whose assignment went to another annotator is open again."""
        if last is None or last["annotator"] in (None, annotator["id"]):
            return annotator["cursor"]
        first = select(func.min(ASSIGNMENT.c.place)).where(
            ASSIGNMENT.c.task == last["task"], ASSIGNMENT.c.state == OPEN
        )
        place = connection.execute(first).scalar_one()
        return annotator["cursor"] if place is None else min(annotator["cursor"], place)

    def _take(
        self, connection: Connection, annotator: RowMapping, cursor: int, now: float, seconds: float
    ) -> RowMapping | None:
        """Lease an assignment that is open to the annotator and return it; None where there is none."""
        assignment, cursor = find_assignment(connection, annotator["id"], cursor, annotator["end"], now)
        number = None if assignment is None else assignment["id"]
        connection.execute(
            update(ANNOTATOR)
            .where(ANNOTATOR.c.id == annotator["id"])
            .values(cursor=cursor, last_assignment=number)
        )
        return None if number is None else lease_to(connection, number, annotator["id"], now, seconds)

    def _check_complete(self, connection: Connection, assignment: RowMapping) -> None:
        """Raise when an item or a required question has no answer."""
        items = items_of(connection, assignment["id"], assignment["task"], assignment["annotator"])
        missing = [item.position + 1 for item in items if item.code is None]
        if missing:
            raise InputError(
                f"the task has {plural(len(missing), 'item')} without an answer, "
                f"the first is number {missing[0]}",
                fix="answer every item",
            )
        for item in items:
            question = unanswered(self.form, str(item.code), item.details)
            if question is not None:
                raise InputError(
                    f"item number {item.position + 1} has no answer to {question!r}", fix="answer it too"
                )

    def _by_token(self, connection: Connection, token: str) -> RowMapping:
        """Return the assignment of a token, locked."""
        query = select(ASSIGNMENT).where(ASSIGNMENT.c.token == check_text(token, "the token", MAX_NAME))
        assignment = self._row(connection, query, lock=ASSIGNMENT)
        if assignment is None:
            raise lease_lost()
        return assignment

    def _check_held(self, connection: Connection, assignment: RowMapping, now: float | None) -> None:
        """Raise when an assignment has been submitted; extend its lease when it has expired."""
        if assignment["state"] == SUBMITTED:
            raise already_submitted()
        seconds = assignment["lease_seconds"]
        if now is not None and has_ended(assignment["expires"], seconds, now):
            extend_lease(connection, assignment["id"], now + seconds, seconds)

    def _held(self, connection: Connection, token: str, now: float | None) -> RowMapping:
        """Return the assignment of a token that has not been submitted."""
        assignment = self._by_token(connection, token)
        self._check_held(connection, assignment, now)
        return assignment

    def _promote(self, connection: Connection, annotator: str) -> None:
        """Make the annotator's oldest leased assignment the one that `lease` returns."""
        row = self._annotator(connection, annotator)
        held = leased_by(connection, annotator)
        if held:
            # The last one may have gone to another annotator: its task is then open to this annotator again.
            cursor = self._cursor(connection, row, self._last(connection, row))
            values: dict[str, Any] = {"last_assignment": held[0]["id"], "cursor": cursor}
            connection.execute(update(ANNOTATOR).where(ANNOTATOR.c.id == row["id"]).values(**values))


def leased_by(connection: Connection, annotator: str) -> Sequence[RowMapping]:
    """Return the assignments that are leased to an annotator, the oldest first."""
    return connection.execute(LEASED_BY, {"name": annotator}).mappings().all()


def find_without_shared_pair(connection: Connection, annotator: RowMapping, task: int) -> int | None:
    """Return an assignment that is open to an annotator and whose task shares no pair with `task`."""
    cursor = annotator["cursor"]
    for _ in range(MAX_SKIPPED):
        assignment, _ = find_assignment(connection, annotator["id"], cursor, annotator["end"], None)
        if assignment is None:
            return None
        if connection.execute(SHARED_PAIR, {"task": task, "other": assignment["task"]}).first() is None:
            return int(assignment["id"])
        place = select(ASSIGNMENT.c.place).where(ASSIGNMENT.c.id == assignment["id"])
        cursor = 1 + connection.execute(place).scalar_one()
    return None


def lease_to(
    connection: Connection, assignment: int, annotator: int, now: float, seconds: float
) -> RowMapping:
    """Lease an assignment to an annotator under a new token; return its row."""
    query = (
        update(ASSIGNMENT)
        .where(ASSIGNMENT.c.id == assignment)
        .values(
            state=LEASED, annotator=annotator, token=secrets.token_urlsafe(24), lease_seconds=seconds,
            expires=now + seconds, leased_at=now,
        )
        .returning(ASSIGNMENT)
    )  # fmt: skip
    return connection.execute(query).mappings().one()


def read_lease(connection: Connection, annotator: str, assignment: int) -> Lease:
    """Return the lease of an annotator's assignment."""
    row = connection.execute(select(ASSIGNMENT).where(ASSIGNMENT.c.id == assignment)).mappings().one()
    return lease_of(connection, annotator, row)


def lease_of(connection: Connection, annotator: str, row: RowMapping) -> Lease:
    """Return the lease that the row of a leased assignment describes."""
    items = items_of(connection, row["id"], row["task"], row["annotator"])
    return Lease(row["id"], row["task"], annotator, row["token"], row["expires"], items)


def lease_lost() -> InputError:
    """Return the error for a token that no assignment has."""
    return InputError(
        "this lease has expired and another annotator has the assignment, or its token is unknown",
        fix="take a new task",
    )


def already_submitted() -> InputError:
    """Return the error for an assignment whose answers are final."""
    return InputError("this task was already submitted", fix="take a new task")
