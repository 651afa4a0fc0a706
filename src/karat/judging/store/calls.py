"""Calls of machine judges: what was sent and what came back, word for word."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import insert, select

from karat.judging.store.part import StorePart
from karat.judging.store.tables import CALL
from karat.judging.store.texts import MAX_JSON, check_name, check_text, check_time, to_json

PAGE = 1_000


class Calls(StorePart):
    """Calls of machine judges, append-only: `project.calls`."""

    def add(
        self,
        judge: str,
        model: str,
        prompt: str,
        image: int,
        caption: int,
        request: Mapping[str, Any],
        reply: str | None = None,
        code: str | None = None,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        cost: float | None = None,
        error: str | None = None,
        at: float | None = None,
    ) -> int:
        """Store one call and return its number.

        Parameters
        ----------
        judge, model, prompt
            The name of the machine judge, its model, and the hash of the prompt.
        image, caption
            The pair.
        request
            What was sent, without the API key.
        reply, code
            What came back, and the answer that was parsed from it.
        tokens_in, tokens_out, cost
            How much the call used.
        error
            The error, where there was one.
        at
            When, in seconds since 1970; the current time by default.
        """
        self._subject.check_pair(int(image), int(caption))
        texts = {"reply": reply, "code": code, "error": error}
        values = {
            "judge": check_name(judge, "the machine judge"), "model": check_text(model, "the model"),
            "prompt": check_text(prompt, "the prompt's hash"), "image": int(image), "caption": int(caption),
            "request": to_json(dict(request), "the request"), "tokens_in": tokens_in,
            "tokens_out": tokens_out, "cost": cost, "at": check_time(at, "at"),
        }  # fmt: skip
        for name, text in texts.items():
            # A model may return anything, also characters that PostgreSQL cannot store.
            values[name] = None if text is None else check_text(text.replace("\0", "\ufffd"), name, MAX_JSON)
        with self._db.write() as connection:
            return int(connection.execute(insert(CALL).values(**values).returning(CALL.c.id)).scalar_one())

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the calls, in the order in which they were stored."""
        last = -1
        while True:
            with self._db.read() as connection:
                query = select(CALL).where(CALL.c.id > last).order_by(CALL.c.id).limit(PAGE)
                page = connection.execute(query).mappings().all()
            for row in page:
                yield {**row, "request": json.loads(row["request"])}
            if len(page) < PAGE:
                return
            last = page[-1]["id"]
