"""What else is written down: reviews, invalid images and captions, events, and small settings."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from sqlalchemy import delete, insert, select

from karat._util import check_choice
from karat.errors import InputError
from karat.judging.store import bulk
from karat.judging.store.base import StorePart
from karat.judging.store.rows import SUBMITTED
from karat.judging.store.schema import EVENT, MARK, REVIEW, SETTING, SLOT
from karat.judging.store.texts import check_name, check_text, to_json

VERDICTS = ("approve", "reject")
MARKED = ("image", "caption")


class Journal(StorePart):
    """Reviews, marks, events and settings. The first three are append-only, the latest row counts."""

    def review(self, slots: Iterable[int], verdict: str, by: str, why: str = "") -> None:
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

    def reviews(self) -> dict[int, tuple[str, str, str, float]]:
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
        self._check_pair(*((index, 0) if kind == "image" else (0, index)))
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

    def log(self, what: str, detail: Mapping[str, Any] | None = None) -> None:
        """Write down that something was done."""
        values = {"what": check_name(what, "an event"), "detail": to_json(dict(detail or {}), "the detail")}
        with self._db.write() as connection:
            connection.execute(insert(EVENT).values(**values, at=time.time()))

    def events(self) -> list[dict[str, Any]]:
        """Return what was done, in order: `what`, `detail` and `at`."""
        with self._db.read() as connection:
            rows = connection.execute(select(EVENT).order_by(EVENT.c.id)).all()
        return [{"what": row.what, "detail": json.loads(row.detail), "at": row.at} for row in rows]

    def settings_set(self, name: str, value: Any) -> None:
        """Keep a small value that json can hold; None removes it."""
        check_name(name, "a setting")
        text = to_json(value, name)
        with self._db.write() as connection:
            connection.execute(delete(SETTING).where(SETTING.c.name == name))
            if value is not None:
                connection.execute(insert(SETTING).values(name=name, value=text))

    def settings_get(self, name: str, default: Any = None) -> Any:
        """Return a value that was kept, or `default`."""
        with self._db.read() as connection:
            text = connection.execute(
                select(SETTING.c.value).where(SETTING.c.name == name)
            ).scalar_one_or_none()
        return default if text is None else json.loads(text)
