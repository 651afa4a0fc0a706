"""Reviews: what whoever runs the project decided about hand-ins, pairs, images and captions.

Every decision is a new row, and so is taking one back; the latest counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from sqlalchemy import insert, select

from karat._util import check_choice
from karat.errors import InputError, unknown_name
from karat.judging.checking import ADJUDICATOR
from karat.judging.store import bulk
from karat.judging.store.annotators import add_annotators
from karat.judging.store.assignments import SUBMITTED
from karat.judging.store.part import ReadPart
from karat.judging.store.tables import ANSWER, MARK, REVIEW, SLOT, WORKER
from karat.judging.store.texts import check_name, check_text, check_time

VERDICTS = ("approve", "reject")
MARKED = ("image", "caption")


class Reviews(ReadPart):
    """Verdicts on hand-ins, decisions about pairs, and invalid images and captions: `project.reviews`."""

    _name = "reviews"

    def add(self, slots: Iterable[int], verdict: str, by: str, why: str = "") -> None:
        """Approve or reject slots that were handed in.

        Parameters
        ----------
        slots
            Their numbers.
        verdict
            "approve" or "reject".
        by, why
            Who decided, a person or a rule, and the reason.
        """
        verdict = check_choice(verdict, VERDICTS, "the verdict")
        check_name(by, "who reviews"), check_text(why, "the reason")
        number = np.array([int(one) for one in slots], dtype=np.int64)
        with self._db.write() as connection:
            done = connection.execute(select(SLOT.c.id).where(SLOT.c.state == SUBMITTED)).scalars()
            wrong = np.flatnonzero(~np.isin(number, np.fromiter(done, np.int64)))
            if len(wrong):
                raise InputError(f"slot {number[wrong[0]]} was not handed in", fix="review what was")
            n = len(number)
            bulk.insert(
                connection, REVIEW, slot=number, verdict=[verdict] * n, author=[by] * n, why=[why] * n,
                at=[time.time()] * n,
            )  # fmt: skip

    def read(self) -> dict[int, tuple[str, str, str, float]]:
        """Return by slot the latest verdict, who gave it, why and when."""
        with self._db.read() as connection:
            rows = connection.execute(select(REVIEW).order_by(REVIEW.c.id)).all()
        return {row.slot: (row.verdict, row.author, row.why, row.at) for row in rows}

    def mark_invalid(self, kind: Literal["image", "caption"], index: int, why: str, by: str) -> None:
        """Say that an image or a caption cannot be judged, and why."""
        self._mark(kind, index, True, why, by)

    def mark_valid(self, kind: Literal["image", "caption"], index: int, why: str, by: str) -> None:
        """Take such a mark back."""
        self._mark(kind, index, False, why, by)

    def _mark(self, kind: str, index: int, invalid: bool, why: str, by: str) -> None:
        kind, index = check_choice(kind, MARKED, "what is marked"), int(index)
        check_name(by, "who marks"), check_text(why, "the reason")
        self._subject.check_pair(*((index, 0) if kind == "image" else (0, index)))
        row = {"kind": kind, "number": index, "invalid": int(invalid), "why": why, "author": by}
        with self._db.write() as connection:
            connection.execute(insert(MARK).values(**row, at=time.time()))

    def invalid(self) -> dict[str, dict[int, str]]:
        """Return by "image" and "caption" the invalid ones and why."""
        found: dict[str, dict[int, str]] = {kind: {} for kind in MARKED}
        with self._db.read() as connection:
            rows = connection.execute(select(MARK).order_by(MARK.c.id)).all()
        for row in rows:
            found[row.kind].pop(row.number, None)
            if row.invalid:
                found[row.kind][row.number] = row.why
        return found

    def adjudicate(
        self, by: str, image: int, caption: int, code: str | None, now: float | None = None
    ) -> int:
        """Decide about a pair, as an answer without a task; return its number.

        Parameters
        ----------
        by
            Who decides: a worker of the kind ADJUDICATOR, made when it is not there yet. Somebody who judges
            too does so under another name, since an adjudicator sees what others answered.
        image, caption
            The pair, as indices into the benchmark.
        code
            One of the form's answers; None takes an earlier decision back.
        now
            The time in seconds since 1970; the clock's when left out.
        """
        codes = [choice.code for choice in self.form.answers]
        if code is not None and code not in codes:
            raise unknown_name("answer", str(code)[:60], codes, owner=f"form {self.form.name}")
        name, at = check_name(by, "an adjudicator"), check_time(now, "now")
        image, caption = int(image), int(caption)
        self._subject.check_pair(image, caption)
        with self._db.write() as connection:
            worker = add_annotators(connection, {name: ADJUDICATOR})[name]
            values = {"worker": worker, "image": image, "caption": caption, "code": code, "at": at}
            return int(
                connection.execute(insert(ANSWER).values(**values).returning(ANSWER.c.id)).scalar_one()
            )

    def decisions(self) -> dict[tuple[int, int], dict[str, Any]]:
        """Return by pair what was decided last: its `code`, `by` whom and `at` what time."""
        query = (
            select(ANSWER.c.image, ANSWER.c.caption, ANSWER.c.code, ANSWER.c.at, WORKER.c.name)
            .join(WORKER, WORKER.c.id == ANSWER.c.worker)
            .where(WORKER.c.kind == ADJUDICATOR, ANSWER.c.slot.is_(None))
            .order_by(ANSWER.c.id)
        )
        found: dict[tuple[int, int], dict[str, dict[str, Any]]] = {}
        with self._db.read() as connection:
            rows = connection.execute(query).all()
        for row in rows:
            own = found.setdefault((row.image, row.caption), {})
            # Taking back one's own decision lets an earlier one of somebody else stand.
            own.pop(row.name, None)
            if row.code is not None:
                own[row.name] = {"code": row.code, "by": row.name, "at": row.at}
        return {pair: list(own.values())[-1] for pair, own in found.items() if own}
