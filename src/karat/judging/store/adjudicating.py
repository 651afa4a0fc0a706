"""Deciding about a pair on which people disagree: a new row each time, and so is taking it back."""

from __future__ import annotations

from sqlalchemy import insert

from karat.errors import unknown_name
from karat.judging.checking import ADJUDICATOR
from karat.judging.store.base import StorePart
from karat.judging.store.people import add_workers
from karat.judging.store.schema import ANSWER
from karat.judging.store.texts import check_name, check_time


class Adjudicating(StorePart):
    """Decisions that stand instead of the vote; see `karat.judging.checking.verdicts`."""

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
        self._check_pair(image, caption)
        with self._db.write() as connection:
            worker = add_workers(connection, {name: ADJUDICATOR})[name]
            values = {"worker": worker, "image": image, "caption": caption, "code": code, "at": at}
            return int(
                connection.execute(insert(ANSWER).values(**values).returning(ANSWER.c.id)).scalar_one()
            )
