"""What pages send: every field is known and bounded."""

from __future__ import annotations

import time
from typing import Annotated

from pydantic import Field

from karat.judging.store import Answer
from karat.web.shapes import Body, Long, Storable

Token = Annotated[str, Field(min_length=1, max_length=100), Storable]
Item = Annotated[int, Field(ge=0, le=2**53, strict=True)]
Key = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Code = Annotated[str, Field(max_length=40), Storable]
Details = Annotated[dict[Code, Long | Annotated[list[Code], Field(max_length=200)]], Field(max_length=200)]


class Ask(Body):
    """Whether the task after the one at hand is wanted too."""

    ahead: bool = False


class Held(Body):
    """A lease."""

    token: Token


class Withdrawn(Body):
    """An answer to be taken back; the key tells a request that is sent again from a new one."""

    item: Item
    key: Key

    def answer(self, token: str) -> Answer:
        """Return the record of it: an answer without a code, given now."""
        return Answer(token, self.item, None, key=self.key, at=time.time())


class Answered(Withdrawn):
    """An answer, with answers to follow-up questions by their codes."""

    code: Code
    details: Details = Field(default_factory=dict)
    seconds: Annotated[float, Field(ge=0, le=86_400)] | None = None

    def answer(self, token: str) -> Answer:
        """Return the record of it, given now."""
        return Answer(
            token, self.item, self.code, self.details or None, self.seconds, self.key, time.time()
        )  # fmt: skip


class Withdrawal(Withdrawn, Held):
    """An answer of a lease to be taken back."""


class AnswerBody(Answered, Held):
    """An answer in a lease."""


class Last(Held):
    """What was still on its way when a page was closed, in order, and whether the task is handed in."""

    given: Annotated[list[Answered | Withdrawn], Field(max_length=50)]
    submit: bool
