"""Importing many answers at once, all or nothing."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, func, select

from karat.judging.store import bulk
from karat.judging.store.base import StorePart, take_places
from karat.judging.store.effect import read_slots
from karat.judging.store.people import add_workers
from karat.judging.store.placing import check_once, find_items, hand_in
from karat.judging.store.row_checks import Checked, check_rows
from karat.judging.store.rows import AnswerRows
from karat.judging.store.schema import ANSWER, TASK, WORKER


class Recording(StorePart):
    """Importing answers."""

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
        with self._db.write() as connection:
            # Nobody adds tasks or slots until this is done.
            take_places(connection, 0)
            tasks = connection.execute(select(func.count()).select_from(TASK)).scalar_one()
            given = check_rows(rows, self.form, self._images, self._captions, tasks)
            if len(given):
                self._store(connection, given)
                self._db.analyse(connection)
        return len(given)

    def _store(self, connection: Connection, given: Checked) -> None:
        """Find where the rows belong and write them."""
        number = add_workers(connection, given.kinds)
        worker = np.array(list(number.values()), dtype=np.int64)[given.worker]
        self._lock(connection, sorted(number.values()))
        pair = given.image * self._captions + given.caption
        slots = read_slots(connection)
        item = find_items(connection, given, pair, self._captions)
        check_once(connection, worker, item, pair, self._captions, slots)
        slot = hand_in(connection, given, worker, slots)
        bulk.insert(
            connection, ANSWER, slot=or_none(slot), item=or_none(item), worker=worker, image=given.image,
            caption=given.caption, code=[given.codes[one] for one in given.code.tolist()],
            details=given.details, seconds=given.seconds, at=given.at,
        )  # fmt: skip

    def _lock(self, connection: Connection, workers: list[int]) -> None:
        """Keep these workers, and everybody, from taking slots until the transaction ends."""
        if self._db.sqlite:
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
