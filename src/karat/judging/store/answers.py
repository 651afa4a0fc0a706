"""Answers: given one or many at a time, taken back, imported, and read; every one is a new row.

Answers of many people go to the disk in one transaction: one wait for the disk instead of one for each.
Each answer is stored or refused by itself. What the store itself cannot do fails all of them: none is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, RowMapping, bindparam, insert, select

from karat.errors import InputError, unknown_name
from karat.judging.checking import AnswerTable
from karat.judging.store import bulk
from karat.judging.store.annotators import all_annotators
from karat.judging.store.answer_import import AnswerRows, import_rows
from karat.judging.store.assignments import SUBMITTED, revive
from karat.judging.store.details import check_details, chosen_names, read_details
from karat.judging.store.effect import damaged, in_effect, read_gold, read_slots
from karat.judging.store.part import ReadPart
from karat.judging.store.queue import handed_in, lost
from karat.judging.store.tables import ANSWER, ITEM, SLOT, WORKER
from karat.judging.store.texts import MOST_NAME, check_seconds, check_text, check_time
from karat.judging.tasks import UNKNOWN

LARGEST = 2**63 - 1
"""The largest number that a database can hold."""
PAGE = 10_000
COLUMNS = "COALESCE(slot, -1), COALESCE(item, -1), worker, image, caption, seconds, at, code, details"

# Made once: making a query takes longer than asking it.
SLOTS = (
    select(SLOT).where(SLOT.c.token.in_(bindparam("tokens", expanding=True))).order_by(SLOT.c.id)
)  # fmt: skip
SLOTS_LOCKED = SLOTS.with_for_update()
"""In the order of their numbers, so that two batches never wait for each other."""
# Not pairs of slot and key: for those, SQLite would read the whole table.
KEYS = select(ANSWER).where(
    ANSWER.c.slot.in_(bindparam("slots", expanding=True)),
    ANSWER.c.client_key.in_(bindparam("keys", expanding=True)),
)
ITEMS = select(ITEM).where(ITEM.c.id.in_(bindparam("items", expanding=True)))
APPEND = insert(ANSWER).returning(ANSWER.c.id, sort_by_parameter_order=True)


@dataclass(frozen=True)
class Answer:
    """An answer that an annotator gives or takes back: the one record of it from the request to the row.

    Parameters
    ----------
    token
        Of the lease. One whose time has run out still holds while nobody else has taken the slot.
    item
        One of the lease's, by its id.
    code
        One of the form's answers; None takes the answer to the item back.
    details
        Answers to follow-up questions: a choice, a list of choices or a text by the question's code. Once the
        answer is checked, the same as json text.
    seconds
        How long it took.
    key
        Chosen by the caller: the same key again, in the same slot, returns the same number and writes
        nothing.
    at
        When, in seconds since 1970; the clock's time when left out.

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

    def says(self) -> tuple[Any, ...]:
        """Return what two answers with the same key must have in common."""
        return self.item, self.code, self.details


class StoredAnswers(ReadPart):
    """The answers of a project: `project.answers`."""

    _name = "answers"

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
        """Store an answer and return its number; when this returns, it is on the disk.

        Parameters
        ----------
        token, item, code, details, seconds, key
            As in `Answer`.
        now
            The time in seconds since 1970; the clock's when left out.
        """
        return self._alone(Answer(token, item, code, details, seconds, key, now))

    def withdraw(self, token: str, item: int, key: str = "", now: float | None = None) -> int:
        """Take an answer back, by a new row without a code; return its number."""
        return self._alone(Answer(token, item, None, key=key, at=now))

    def store(self, answers: Sequence[Answer]) -> list[int | InputError]:
        """Store answers in the order given; return for each its number, or the error that refused it.

        When this returns, they are on the disk. A refused answer does not touch the others. Where the store
        fails, this raises and nothing is stored.

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

        A worker's rows of one task become one slot that is handed in: the worker's own if there is one, else
        an open one, else a new one. Required follow-up questions may be missing; what is there must fit the
        form.

        Parameters
        ----------
        rows
            The answers. One that stands twice, here or in the store, raises and nothing is changed.
        """
        return import_rows(self._db, self._subject, rows)

    def read(self, submitted: bool = False) -> AnswerTable:
        """Return the answers in effect, gold included: the last of each slot and item, unless it was undone.

        Parameters
        ----------
        submitted
            Only those of slots that were handed in, and those without a task.
        """
        with self._db.read() as connection:
            ids, names, kinds = all_annotators(connection)
            slots, gold = read_slots(connection), read_gold(connection)
            columns = bulk.read_columns(connection, f"SELECT {COLUMNS} FROM answer ORDER BY id", "iiiiifftt")
        slot, item, worker, image, caption, seconds, at, code, details = columns
        rating = self._ratings(code)
        pair = image * self._subject.captions + caption
        rows = in_effect(slot, item, worker, pair, ~np.isnan(rating), slots)
        if submitted:
            rows = rows[(slot[rows] < 0) | (slots.state[slot[rows]] == SUBMITTED)]
        if int(item.max(initial=-1)) >= len(gold):
            raise damaged()
        known = np.where(item[rows] < 0, UNKNOWN, np.append(gold, UNKNOWN)[item[rows]])
        detail_row, detail, choices = self._choices(details, rows)
        return AnswerTable(
            image[rows], caption[rows], np.searchsorted(np.array(ids, np.int64), worker[rows]), rating[rows],
            known, slot[rows], seconds[rows], at[rows], names, kinds, detail_row, detail, choices,
        )  # fmt: skip

    def history(self) -> Iterator[dict[str, Any]]:
        """Yield every row ever, in the order in which they were written; `code` is None for an undo."""
        query = (
            select(ANSWER, WORKER.c.name).join(WORKER, WORKER.c.id == ANSWER.c.worker).order_by(ANSWER.c.id)
        )
        last = -1
        while True:
            with self._db.read() as connection:
                page = connection.execute(query.where(ANSWER.c.id > last).limit(PAGE)).mappings().all()
            for row in page:
                yield {
                    "id": row["id"], "slot": row["slot"], "item": row["item"], "worker": row["name"],
                    "image": row["image"], "caption": row["caption"], "code": row["code"],
                    "details": read_details(row["details"]), "seconds": row["seconds"], "at": row["at"],
                    "key": row["client_key"],
                }  # fmt: skip
            if len(page) < PAGE:
                return
            last = page[-1]["id"]

    def _alone(self, answer: Answer) -> int:
        """Store one answer by itself, or raise what refuses it."""
        (outcome,) = self.store([answer])
        if isinstance(outcome, InputError):
            raise outcome
        return outcome

    def _checked(self, answer: Answer) -> Answer | InputError:
        """Return an answer as it is stored, or why it cannot be; the database is not asked."""
        try:
            details = None
            if answer.code is not None:
                codes = [choice.code for choice in self.form.answers]
                if answer.code not in codes:
                    raise unknown_name("answer", str(answer.code)[:60], codes, owner=f"form {self.form.name}")
                details = check_details(self.form, answer.code, answer.details)  # type: ignore[arg-type]
            if not 0 <= answer.item <= LARGEST:
                raise not_in_task(answer.item)
            return Answer(
                check_text(answer.token, "the token", MOST_NAME), int(answer.item), answer.code, details,
                None if answer.code is None else check_seconds(answer.seconds, "seconds"),
                check_text(answer.key, "the key", MOST_NAME), check_time(answer.at, "now"),
            )  # fmt: skip
        except InputError as error:
            return error

    def _write(self, connection: Connection, answers: Sequence[Answer]) -> list[int | InputError]:
        """Store what is not refused, and return the number of each, or why it is refused."""
        slots = self._slots(connection, {answer.token for answer in answers})
        before = self._before(connection, answers, slots)
        items = self._items(connection, {answer.item for answer in answers})
        expires = {slot["id"]: slot["expires"] for slot in slots.values()}
        # An answer among the outcomes stands for the number that it gets.
        outcomes: list[Answer | int | InputError] = []
        fresh: list[Answer] = []
        for answer in answers:
            slot = slots.get(answer.token)
            outcome = outcome_of(answer, slot, before, items)
            outcomes.append(outcome)
            if outcome is not answer:
                continue
            assert slot is not None
            assert answer.at is not None
            if answer.key:
                before[slot["id"], answer.key] = (answer.says(), answer)
            if expires[slot["id"]] <= answer.at:
                expires[slot["id"]] = answer.at + slot["span"]
                revive(connection, slot["id"], expires[slot["id"]], slot["span"])
            fresh.append(answer)
        values = [values_of(answer, slots[answer.token], items[answer.item]) for answer in fresh]
        numbers = connection.execute(APPEND, values).scalars() if values else ()
        stored = {id(answer): int(number) for answer, number in zip(fresh, numbers, strict=True)}
        return [stored[id(one)] if isinstance(one, Answer) else one for one in outcomes]

    def _slots(self, connection: Connection, tokens: set[str]) -> dict[str, RowMapping]:
        """Return the slots that tokens hold, locked."""
        query = SLOTS if self._db.sqlite else SLOTS_LOCKED
        found = connection.execute(query, {"tokens": list(tokens)}).mappings()
        return {slot["token"]: slot for slot in found}

    def _before(
        self, connection: Connection, answers: Iterable[Answer], slots: Mapping[str, RowMapping]
    ) -> dict[tuple[int, str], tuple[tuple[Any, ...], Answer | int]]:
        """Return what was answered before with the same keys, and its number, by slot and key."""
        asked = {(slots[one.token]["id"], one.key) for one in answers if one.key and one.token in slots}
        if not asked:
            return {}
        held, keys = ([*{one[side] for one in asked}] for side in (0, 1))
        return {
            (old["slot"], old["client_key"]): ((old["item"], old["code"], old["details"]), old["id"])
            for old in connection.execute(KEYS, {"slots": held, "keys": keys}).mappings()
        }

    def _items(self, connection: Connection, numbers: set[int]) -> dict[int, RowMapping]:
        """Return items by their numbers."""
        return {
            item["id"]: item for item in connection.execute(ITEMS, {"items": list(numbers)}).mappings()
        }  # fmt: skip

    def _ratings(self, code: list[str | None]) -> np.ndarray:
        """Return the ratings of answers by their codes; NaN for an undo."""
        rating: dict[str | None, float] = {one.code: float(one.rating or 0.0) for one in self.form.answers}
        rating[None] = np.nan
        try:
            return np.fromiter(map(rating.__getitem__, code), np.float64, len(code))
        except KeyError as error:
            raise InputError(
                f"an answer in the store is {error.args[0]!r:.60}, which the form does not have",
                where=self._db.place.shown,
                fix="restore a copy of the project",
            ) from None

    def _choices(
        self, details: list[str | None], rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
        """Return the choices of follow-up questions as row, number and names; each text is read once."""
        number: dict[str, int] = {}
        parsed: dict[str, list[int]] = {}
        where, which = [], []
        for row, text in ((at, details[one]) for at, one in enumerate(rows.tolist()) if details[one]):
            assert text is not None
            if text not in parsed:
                names = chosen_names(self.form, text)
                parsed[text] = [number.setdefault(name, len(number)) for name in names]
            where += [row] * len(parsed[text])
            which += parsed[text]
        return np.array(where, np.int64), np.array(which, np.int64), tuple(number)


def outcome_of(
    answer: Answer,
    slot: RowMapping | None,
    before: Mapping[tuple[int, str], tuple[tuple[Any, ...], Answer | int]],
    items: Mapping[int, RowMapping],
) -> Answer | int | InputError:
    """Return the answer itself where it is to be written, why it is refused, or the same one before it."""
    if slot is None:
        return lost()
    if answer.key and (slot["id"], answer.key) in before:
        said, same = before[slot["id"], answer.key]
        if said != answer.says():
            return InputError(f"the key {answer.key!r} was used for another answer", fix="choose a new key")
        return same
    if slot["state"] == SUBMITTED:
        return handed_in()
    item = items.get(answer.item)
    return not_in_task(answer.item) if item is None or item["task"] != slot["task"] else answer


def not_in_task(item: int) -> InputError:
    """Return the error for an item of another task."""
    return InputError(f"item {item} is not in the task of this lease", fix="answer its items")


def values_of(answer: Answer, slot: RowMapping, item: RowMapping) -> dict[str, Any]:
    """Return the columns of an answer."""
    return {
        "slot": slot["id"], "item": answer.item, "worker": slot["worker"], "image": item["image"],
        "caption": item["caption"], "code": answer.code, "details": answer.details,
        "seconds": answer.seconds, "at": answer.at, "client_key": answer.key or None,
    }  # fmt: skip
