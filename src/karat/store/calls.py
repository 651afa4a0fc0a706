"""Calls of machine judges: what was sent and what came back, word for word."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select

from karat.forms import MAX_JSON, check_name, check_text, check_time, to_json
from karat.store.part import StorePart
from karat.store.tables import CALL

PAGE = 1_000


@dataclass(frozen=True)
class Call:
    """A call of a machine judge about one pair.

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
        When, in seconds since 1970; by default when it is stored.
    id
        Its number in the project; none before it is stored.
    """

    judge: str
    model: str
    prompt: str
    image: int
    caption: int
    request: Mapping[str, Any]
    reply: str | None = None
    code: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    error: str | None = None
    at: float | None = None
    id: int | None = None


class Calls(StorePart):
    """Calls of machine judges, append-only: `project.calls`."""

    def add(self, call: Call) -> int:
        """Store one call and return its number."""
        self._subject.check_pair(int(call.image), int(call.caption))
        texts = {"reply": call.reply, "code": call.code, "error": call.error}
        values = {
            "judge": check_name(call.judge, "the machine judge"),
            "model": check_text(call.model, "the model"),
            "prompt": check_text(call.prompt, "the prompt's hash"), "image": int(call.image),
            "caption": int(call.caption), "request": to_json(dict(call.request), "the request"),
            "tokens_in": call.tokens_in, "tokens_out": call.tokens_out, "cost": call.cost,
            "at": check_time(call.at, "at"),
        }  # fmt: skip
        for name, text in texts.items():
            # A model may return anything, also characters that PostgreSQL cannot store.
            values[name] = None if text is None else check_text(text.replace("\0", "\ufffd"), name, MAX_JSON)
        with self._db.write() as connection:
            return int(connection.execute(insert(CALL).values(**values).returning(CALL.c.id)).scalar_one())

    def read(self) -> Iterator[Call]:
        """Yield the calls, in the order in which they were stored."""
        for row in self._pages(select(CALL), CALL, PAGE):
            yield Call(**{**row, "request": json.loads(row["request"])})
