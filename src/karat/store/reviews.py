"""Reviews: decisions of the project's owners about submitted assignments, pairs, images and captions.

Every decision is a new row, and so is withdrawing one; the latest counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from sqlalchemy import insert, select

from karat._util import check_choice
from karat.errors import InputError, unknown_name
from karat.forms import ADJUDICATOR, check_name, check_text, check_time
from karat.store import bulk
from karat.store.annotators import add_annotators
from karat.store.assignments import SUBMITTED
from karat.store.part import StorePart
from karat.store.tables import ANNOTATOR, ANSWER, ASSIGNMENT, MARK, REVIEW

DECISIONS = ("approve", "reject")
MARKED = ("image", "caption")


class Reviews(StorePart):
    """Decisions about submitted assignments and pairs, and invalid images and captions: `project.reviews`."""

    def add(self, assignments: Iterable[int], decision: str, by: str, why: str = "") -> None:
        """Approve or reject submitted assignments.

        Parameters
        ----------
        assignments
            Their numbers.
        decision
            "approve" or "reject".
        by, why
            Who decided, a user or a rule, and the reason.
        """
        decision = check_choice(decision, DECISIONS, "the decision")
        check_name(by, "the reviewer's name"), check_text(why, "the reason")
        number = np.array([int(assignment) for assignment in assignments], dtype=np.int64)
        with self._db.write() as connection:
            submitted = connection.execute(
                select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.state == SUBMITTED)
            ).scalars()
            wrong = np.flatnonzero(~np.isin(number, np.fromiter(submitted, np.int64)))
            if len(wrong):
                raise InputError(
                    f"assignment {number[wrong[0]]} has not been submitted",
                    fix="review submitted assignments only",
                )
            n = len(number)
            bulk.insert(
                connection, REVIEW, assignment=number, decision=[decision] * n, author=[by] * n,
                why=[why] * n, at=[time.time()] * n,
            )  # fmt: skip

    def read(self) -> dict[int, tuple[str, str, str, float]]:
        """Return by assignment the latest decision, who made it, why and when."""
        with self._db.read() as connection:
            rows = connection.execute(select(REVIEW).order_by(REVIEW.c.id)).all()
        return {row.assignment: (row.decision, row.author, row.why, row.at) for row in rows}

    def mark_invalid(self, kind: Literal["image", "caption"], index: int, why: str, by: str) -> None:
        """Mark an image or a caption as one that cannot be judged, with the reason."""
        self._mark(kind, index, True, why, by)

    def mark_valid(self, kind: Literal["image", "caption"], index: int, why: str, by: str) -> None:
        """Withdraw such a mark."""
        self._mark(kind, index, False, why, by)

    def _mark(self, kind: str, index: int, invalid: bool, why: str, by: str) -> None:
        kind, index = check_choice(kind, MARKED, "the kind of the mark"), int(index)
        check_name(by, "the reviewer's name"), check_text(why, "the reason")
        self._subject.check_pair(*((index, 0) if kind == "image" else (0, index)))
        row = {"kind": kind, "number": index, "invalid": int(invalid), "why": why, "author": by}
        with self._db.write() as connection:
            connection.execute(insert(MARK).values(**row, at=time.time()))

    def invalid(self) -> dict[str, dict[int, str]]:
        """Return the reasons by index, for the invalid "image" and "caption" indices."""
        reasons: dict[str, dict[int, str]] = {kind: {} for kind in MARKED}
        with self._db.read() as connection:
            rows = connection.execute(select(MARK).order_by(MARK.c.id)).all()
        for row in rows:
            reasons[row.kind].pop(row.number, None)
            if row.invalid:
                reasons[row.kind][row.number] = row.why
        return reasons

    def adjudicate(
        self, by: str, image: int, caption: int, code: str | None, now: float | None = None
    ) -> int:
        """Decide about a pair, as an answer without a task; return its number.

        Parameters
        ----------
        by
            The name of an annotator of the kind ADJUDICATOR, added where it is new. A user who also judges
            needs another name for that, since an adjudicator sees the answers of others.
        image, caption
            The pair, as indices into the benchmark.
        code
            One of the form's answers; None withdraws an earlier decision.
        now
            The time in seconds since 1970; the current time by default.
        """
        codes = [choice.code for choice in self.form.answers]
        if code is not None and code not in codes:
            raise unknown_name("answer", str(code)[:60], codes, owner=f"form {self.form.name}")
        name, at = check_name(by, "an adjudicator"), check_time(now, "now")
        image, caption = int(image), int(caption)
        self._subject.check_pair(image, caption)
        with self._db.write() as connection:
            annotator = add_annotators(connection, {name: ADJUDICATOR})[name]
            values = {"annotator": annotator, "image": image, "caption": caption, "code": code, "at": at}
            return int(
                connection.execute(insert(ANSWER).values(**values).returning(ANSWER.c.id)).scalar_one()
            )

    def decisions(self) -> dict[tuple[int, int], dict[str, Any]]:
        """Return the last decision about each pair: its `code`, `by` whom and `at` what time."""
        # By the index of annotators: with one query for both, SQLite reads every answer there is.
        adjudicators = select(ANNOTATOR.c.id, ANNOTATOR.c.name).where(ANNOTATOR.c.kind == ADJUDICATOR)
        query = select(
            ANSWER.c.id, ANSWER.c.image, ANSWER.c.caption, ANSWER.c.code, ANSWER.c.at, ANSWER.c.annotator
        )
        decisions: dict[tuple[int, int], dict[str, dict[str, Any]]] = {}
        with self._db.read() as connection:
            names = {row.id: row.name for row in connection.execute(adjudicators)}
            own = query.where(ANSWER.c.annotator.in_(list(names)), ANSWER.c.assignment.is_(None))
            rows = connection.execute(own).all() if names else []
        for row in sorted(rows, key=lambda row: row.id):
            name = names[row.annotator]
            by_name = decisions.setdefault((row.image, row.caption), {})
            # When an adjudicator withdraws a decision, an earlier one of another adjudicator counts again.
            by_name.pop(name, None)
            if row.code is not None:
                by_name[name] = {"code": row.code, "by": name, "at": row.at}
        return {pair: list(by_name.values())[-1] for pair, by_name in decisions.items() if by_name}
