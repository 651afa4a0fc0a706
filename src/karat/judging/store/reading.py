"""Reading what people answered: the answers in effect, every row ever, and the slots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sqlalchemy import select

from karat.errors import InputError
from karat.judging.checking import AnswerTable
from karat.judging.store import bulk
from karat.judging.store.base import StorePart
from karat.judging.store.details import chosen_names, read_details
from karat.judging.store.effect import damaged, in_effect, read_gold, read_slots
from karat.judging.store.people import all_workers
from karat.judging.store.rows import LEASED, OPEN, STATES, SUBMITTED, SlotTable
from karat.judging.store.schema import ANSWER, WORKER
from karat.judging.store.texts import check_time
from karat.judging.tasks import UNKNOWN

PAGE = 10_000
COLUMNS = "COALESCE(slot, -1), COALESCE(item, -1), worker, image, caption, seconds, at, code, details"


class Reading(StorePart):
    """Reading answers."""

    def answers(self, submitted: bool = False) -> AnswerTable:
        """Return the answers in effect, gold included: the last of each slot and item, unless it was undone.

        Parameters
        ----------
        submitted
            Only those of slots that were handed in, and those without a task.
        """
        with self._db.read() as connection:
            ids, names, kinds = all_workers(connection)
            slots, gold = read_slots(connection), read_gold(connection)
            columns = bulk.read_columns(connection, f"SELECT {COLUMNS} FROM answer ORDER BY id", "iiiiifftt")
        slot, item, worker, image, caption, seconds, at, code, details = columns
        rating = self._ratings(code)
        rows = in_effect(slot, item, worker, image * self._captions + caption, ~np.isnan(rating), slots)
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

    def slots(self, now: float | None = None) -> SlotTable:
        """Return every slot as columns; a lease that has run out by `now` counts as open."""
        now = check_time(now, "now")
        columns = "id, task, COALESCE(worker, -1), state, expires, leased_at, submitted_at"
        query = f"SELECT {columns} FROM slot ORDER BY id"
        with self._db.read() as connection:
            slot, task, worker, state, expires, leased, submitted = bulk.read_columns(
                connection, query, "iiiifff"
            )
            ids, _, _ = all_workers(connection)
        state = np.where((state == LEASED) & (expires <= now), OPEN, state)
        place = np.searchsorted(np.array(ids, np.int64), worker)
        holder = np.where((worker < 0) | (state == OPEN), -1, place)
        return SlotTable(slot, task, holder, np.array(STATES)[state], leased, submitted)
