"""Answers: stored one or many at a time, withdrawn, imported and read; each is a new row.

Answers of many annotators are written in one transaction: one wait for the disk instead of one for each. Each
answer is stored or refused by itself. When the database fails, none of them is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, RowMapping, bindparam, insert, select

from karat.errors import InputError, unknown_name
from karat.forms import (
    MAX_NAME,
    NOT_GOLD,
    AnswerRows,
    AnswerTable,
    ChosenDetails,
    check_details,
    check_seconds,
    check_text,
    check_time,
    chosen_names,
    read_details,
)
from karat.store import bulk
from karat.store.annotators import all_annotators
from karat.store.answer_rows import import_rows
from karat.store.answers_in_effect import damaged, in_effect, read_assignments, read_gold
from karat.store.assignments import SUBMITTED, extend_lease, has_ended
from karat.store.part import StorePart
from karat.store.queue import already_submitted, lease_lost
from karat.store.tables import ANNOTATOR, ANSWER, ASSIGNMENT, ITEM

MAX_NUMBER = 2**63 - 1
"""The largest whole number that a database can store."""
PAGE = 10_000
COLUMNS = (
    "COALESCE(assignment, -1), COALESCE(item, -1), annotator, image, caption, seconds, at, code, details"
)

# Built once: building a query takes longer than running it.
ASSIGNMENTS = (
    select(ASSIGNMENT)
    .where(ASSIGNMENT.c.token.in_(bindparam("tokens", expanding=True)))
    .order_by(ASSIGNMENT.c.id)
)
ASSIGNMENTS_LOCKED = ASSIGNMENTS.with_for_update()
"""Locked in the order of their numbers, so that two batches never deadlock."""
# Not by pairs of assignment and key: for those, SQLite would read the whole table.
KEYS = select(ANSWER).where(
    ANSWER.c.assignment.in_(bindparam("assignments", expanding=True)),
    ANSWER.c.client_key.in_(bindparam("keys", expanding=True)),
)
ITEMS = select(ITEM).where(ITEM.c.id.in_(bindparam("items", expanding=True)))
APPEND = insert(ANSWER).returning(ANSWER.c.id, sort_by_parameter_order=True)


@dataclass(frozen=True)
class Answer:
    """An answer of an annotator, or the withdrawal of one: the one record of it from the request to the row.

    Parameters
    ----------
    token
        Of the lease. An expired lease is still valid while no other annotator has taken the assignment.
    item
        The id of one of the lease's items.
    code
        One of the form's answers; None withdraws the answer to the item.
    details
        Answers to follow-up questions: a choice, a list of choices or a text by the question's code. Once the
        answer is checked, the same as json text.
    seconds
        How long it took.
    key
        Chosen by the caller: the same key again, in the same assignment, returns the same number and writes
        nothing.
    at
        When, in seconds since 1970; the current time by default.

    Examples
    --------
    >>> Answer("secret", 3, "yes", seconds=2.5)
    Answer(item=3, code='yes', details=None, seconds=2.5, key='', at=None)
    """

    token: str = field(repr=False)
    item: int
    code: str | None
    details: Mapping[str, Any] | str | None = None
    seconds: float | None = None
    key: str = ""
    at: float | None = None

    def content(self) -> tuple[Any, ...]:
        """Return what two answers with the same key must have in common."""
        return self.item, self.code, self.details


class StoredAnswers(StorePart):
    """The answers of a project: `project.answers`."""

    def give(
        self,
        token: str,
        item: int,
        code: str,
        details: Mapping[str, Any] | None = None,
        seconds: float | None = None,
        key: str = "",
        now: float | None = None,
    ) -> int:
        """Store an answer and return its number; when this returns, the answer is on the disk.

        Parameters
        ----------
        token, item, code, details, seconds, key
            As in `Answer`.
        now
            The time in seconds since 1970; the current time by default.
        """
        return self._store_one(Answer(token, item, code, details, seconds, key, now))

    def withdraw(self, token: str, item: int, key: str = "", now: float | None = None) -> int:
        """Withdraw an answer by a new row without a code; return its number."""
        return self._store_one(Answer(token, item, None, key=key, at=now))

    def store(self, answers: Sequence[Answer]) -> list[int | InputError]:
        """Store answers in their order; return for each its number, or the error why it was refused.

        When this returns, they are on the disk. A refused answer does not affect the others. When the
        database fails, this raises and nothing is stored.

        Parameters
        ----------
        answers
            Of any annotators.
        """
        outcomes = [self._checked(answer) for answer in answers]
        checked = [answer for answer in outcomes if isinstance(answer, Answer)]
        if not checked:
            return [error for error in outcomes if isinstance(error, InputError)]
        with self._db.write() as connection:
            written = iter(self._write(connection, checked))
        return [next(written) if isinstance(outcome, Answer) else outcome for outcome in outcomes]

    def record(self, rows: AnswerRows) -> int:
        """Import answers that were given elsewhere, all or none; return how many.

        An annotator's rows of one task become one submitted assignment: the one that the annotator has, else
        an open one, else a new one. Answers to required follow-up questions may be missing; those that are
        present must fit the form.

        Parameters
        ----------
        rows
            The answers. A duplicate, among them or of a stored answer, raises and nothing is changed.
        """
        return import_rows(self._db, self._subject, rows)

    def read(self, submitted: bool = False) -> AnswerTable:
        """Return the answers in effect, gold included: the last one of each item, unless it was withdrawn.

        Parameters
        ----------
        submitted
            Only answers of submitted assignments, and answers without a task.
        """
        with self._db.read() as connection:
            ids, names, kinds = all_annotators(connection)
            assignments, gold = read_assignments(connection), read_gold(connection)
            columns = bulk.read_columns(connection, f"SELECT {COLUMNS} FROM answer ORDER BY id", "iiiiiffrr")
        assignment, item, annotator, image, caption, seconds, at, code, details = columns
        rating = self._ratings(code)
        pair = image * self._subject.captions + caption
        rows = in_effect(assignment, item, annotator, pair, ~np.isnan(rating), assignments)
        if submitted:
            rows = rows[(assignment[rows] < 0) | (assignments.state[assignment[rows]] == SUBMITTED)]
        if int(item.max(initial=-1)) >= len(gold):
            raise damaged()
        gold = np.where(item[rows] < 0, NOT_GOLD, np.append(gold, NOT_GOLD)[item[rows]])
        return AnswerTable(
            image[rows], caption[rows], np.searchsorted(np.array(ids, np.int64), annotator[rows]),
            rating[rows], gold, assignment[rows], seconds[rows], at[rows], names, kinds,
            self._choices(details, rows),
        )  # fmt: skip

    def history(self) -> Iterator[dict[str, Any]]:
        """Yield every row, in the order in which they were written; `code` is None for a withdrawal."""
        query = select(ANSWER, ANNOTATOR.c.name).join(ANNOTATOR, ANNOTATOR.c.id == ANSWER.c.annotator)
        for row in self._pages(query, ANSWER, PAGE):
            yield {
                "id": row["id"], "assignment": row["assignment"], "item": row["item"],
                "annotator": row["name"], "image": row["image"], "caption": row["caption"],
                "code": row["code"], "details": read_details(row["details"]),
                "seconds": row["seconds"], "at": row["at"], "key": row["client_key"],
            }  # fmt: skip

    def _store_one(self, answer: Answer) -> int:
        """Store one answer, or raise the error why it was refused."""
        (outcome,) = self.store([answer])
        if isinstance(outcome, InputError):
            raise outcome
        return outcome

    def _checked(self, answer: Answer) -> Answer | InputError:
        """Return an answer as it is stored, or the error why it cannot be; without the database."""
        try:
            details = None
            if answer.code is not None:
                codes = [choice.code for choice in self.form.answers]
                if answer.code not in codes:
                    raise unknown_name("answer", str(answer.code)[:60], codes, owner=f"form {self.form.name}")
                details = check_details(self.form, answer.code, answer.details)  # type: ignore[arg-type]
            if not 0 <= answer.item <= MAX_NUMBER:
                raise not_in_task(answer.item)
            return Answer(
                check_text(answer.token, "the token", MAX_NAME), int(answer.item), answer.code, details,
                None if answer.code is None else check_seconds(answer.seconds, "seconds"),
                check_text(answer.key, "the key", MAX_NAME), check_time(answer.at, "now"),
            )  # fmt: skip
        except InputError as error:
            return error

    def _write(self, connection: Connection, answers: Sequence[Answer]) -> list[int | InputError]:
        """Store answers; return the number of each, or the error why it was refused."""
        assignments = self._assignments(connection, {answer.token for answer in answers})
        stored = self._with_same_key(connection, answers, assignments)
        items = self._items(connection, {answer.item for answer in answers})
        expires = {assignment["id"]: assignment["expires"] for assignment in assignments.values()}
        # An answer among the outcomes is replaced by its number below.
        outcomes: list[Answer | int | InputError] = []
        new: list[Answer] = []
        for answer in answers:
            assignment = assignments.get(answer.token)
            outcome = outcome_of(answer, assignment, stored, items)
            outcomes.append(outcome)
            if outcome is not answer:
                continue
            assert assignment is not None
            assert answer.at is not None
            if answer.key:
                stored[assignment["id"], answer.key] = (answer.content(), answer)
            seconds = assignment["lease_seconds"]
            if has_ended(expires[assignment["id"]], seconds, answer.at):
                expires[assignment["id"]] = answer.at + seconds
                extend_lease(connection, assignment["id"], expires[assignment["id"]], seconds)
            new.append(answer)
        values = [values_of(answer, assignments[answer.token], items[answer.item]) for answer in new]
        numbers = connection.execute(APPEND, values).scalars() if values else ()
        number_of = {id(answer): int(number) for answer, number in zip(new, numbers, strict=True)}
        return [number_of[id(outcome)] if isinstance(outcome, Answer) else outcome for outcome in outcomes]

    def _assignments(self, connection: Connection, tokens: set[str]) -> dict[str, RowMapping]:
        """Return the assignments of tokens, locked."""
        query = ASSIGNMENTS if self._db.sqlite else ASSIGNMENTS_LOCKED
        rows = connection.execute(query, {"tokens": list(tokens)}).mappings()
        return {row["token"]: row for row in rows}

    def _with_same_key(
        self, connection: Connection, answers: Iterable[Answer], assignments: Mapping[str, RowMapping]
    ) -> dict[tuple[int, str], tuple[tuple[Any, ...], Answer | int]]:
        """Return content and number of the stored answers with the same keys, by assignment and key."""
        pairs = {
            (assignments[answer.token]["id"], answer.key)
            for answer in answers
            if answer.key and answer.token in assignments
        }
        if not pairs:
            return {}
        numbers, keys = ([*{pair[side] for pair in pairs}] for side in (0, 1))
        return {
            (row["assignment"], row["client_key"]): ((row["item"], row["code"], row["details"]), row["id"])
            for row in connection.execute(KEYS, {"assignments": numbers, "keys": keys}).mappings()
        }

    def _items(self, connection: Connection, numbers: set[int]) -> dict[int, RowMapping]:
        """Return items by their numbers."""
        return {
            item["id"]: item for item in connection.execute(ITEMS, {"items": list(numbers)}).mappings()
        }  # fmt: skip

    def _ratings(self, code: tuple[list[str | None], np.ndarray]) -> np.ndarray:
        """Return the ratings of answers by their codes, distinct ones and numbers; NaN for a withdrawal."""
        rating: dict[str | None, float] = {
            choice.code: float(choice.rating or 0.0) for choice in self.form.answers
        }
        rating[None] = np.nan
        try:
            texts, number = code
            return np.array([*map(rating.__getitem__, texts), np.nan])[number]
        except KeyError as error:
            raise InputError(
                f"a stored answer is {error.args[0]!r:.60}, which the form does not have",
                where=self._db.place.shown,
                fix="restore a copy of the project",
            ) from None

    def _choices(self, details: tuple[list[str | None], np.ndarray], rows: np.ndarray) -> ChosenDetails:
        """Return the choices of follow-up questions; each text is parsed once."""
        number: dict[str, int] = {}
        texts, text_of = details
        text_of = text_of[rows]
        parsed: list[list[int]] = [[] for _ in texts]
        # In the order in which they come first: names are numbered by it.
        used, first = np.unique(text_of, return_index=True)
        for at in used[np.argsort(first)].tolist():
            if texts[at]:
                names = chosen_names(self.form, texts[at])
                parsed[at] = [number.setdefault(name, len(number)) for name in names]
        size = np.array([len(choices) for choices in parsed], np.int64)
        begin = np.cumsum(size) - size
        count = size[text_of] if len(texts) else np.zeros(0, np.int64)
        row = np.repeat(np.arange(len(rows)), count)
        within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        flat = np.array([choice for choices in parsed for choice in choices], np.int64)
        return ChosenDetails(row, flat[begin[text_of[row]] + within], tuple(number))


def outcome_of(
    answer: Answer,
    assignment: RowMapping | None,
    stored: Mapping[tuple[int, str], tuple[tuple[Any, ...], Answer | int]],
    items: Mapping[int, RowMapping],
) -> Answer | int | InputError:
    """Return the answer itself if it is new, the error why it is refused, or what has the same key."""
    if assignment is None:
        return lease_lost()
    if answer.key and (assignment["id"], answer.key) in stored:
        content, same = stored[assignment["id"], answer.key]
        if content != answer.content():
            return InputError(f"the key {answer.key!r} was used for another answer", fix="choose a new key")
        return same
    if assignment["state"] == SUBMITTED:
        return already_submitted()
    item = items.get(answer.item)
    return not_in_task(answer.item) if item is None or item["task"] != assignment["task"] else answer


def not_in_task(item: int) -> InputError:
    """Return the error for an item of another task."""
    return InputError(f"item {item} is not in the task of this lease", fix="answer the items of the lease")


def values_of(answer: Answer, assignment: RowMapping, item: RowMapping) -> dict[str, Any]:
    """Return the columns of an answer."""
    return {
        "assignment": assignment["id"], "item": answer.item, "annotator": assignment["annotator"],
        "image": item["image"], "caption": item["caption"], "code": answer.code, "details": answer.details,
        "seconds": answer.seconds, "at": answer.at, "client_key": answer.key or None,
    }  # fmt: skip
