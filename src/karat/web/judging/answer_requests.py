"""Answers from the request to the writer: bounded fields, and only from the annotator who has the lease."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from karat.errors import InputError
from karat.store import SUBMITTED, Answer, Project
from karat.web.shapes import Body, Long, Storable
from karat.web.writer import acknowledged

MOST_HOLDERS = 100_000
"""How many tokens are remembered with their annotators."""

Token = Annotated[str, Field(min_length=1, max_length=100), Storable]
Item = Annotated[int, Field(ge=0, le=2**53, strict=True)]
Key = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Code = Annotated[str, Field(max_length=40), Storable]
Details = Annotated[dict[Code, Long | Annotated[list[Code], Field(max_length=200)]], Field(max_length=200)]


class LeaseRequest(Body):
    """Whether the next task is wanted too."""

    ahead: bool = False


class LeaseBody(Body):
    """The token of a lease."""

    token: Token


class Withdrawn(Body):
    """An answer to withdraw; the key tells a repeated request from a new one."""

    item: Item
    key: Key

    def answer(self, token: str) -> Answer:
        """Return the record: an answer without a code, given now."""
        return Answer(token, self.item, None, key=self.key, at=time.time())


class Answered(Withdrawn):
    """An answer, with the answers to follow-up questions by their codes."""

    code: Code
    details: Details = Field(default_factory=dict)
    seconds: Annotated[float, Field(ge=0, le=86_400)] | None = None

    def answer(self, token: str) -> Answer:
        """Return the record, given now."""
        return Answer(
            token, self.item, self.code, self.details or None, self.seconds, self.key, time.time()
        )  # fmt: skip


class Withdrawal(Withdrawn, LeaseBody):
    """An answer to withdraw, with its lease."""


class AnswerBody(Answered, LeaseBody):
    """An answer, with its lease."""


class ClosedPage(LeaseBody):
    """What a closed page had not sent yet: answers in their order, and whether the task is submitted."""

    answers: Annotated[list[Answered | Withdrawn], Field(max_length=50)]
    submit: bool


class LeaseLost(InputError):
    """The lease ended or belongs to another annotator: 409."""


class TaskSubmitted(InputError):
    """The task was submitted, so its answers are final: 410."""


async def save(app: FastAPI, annotator: str, answer: Answer) -> int:
    """Store an answer of the annotator who has the lease; return its number once it is on the disk."""
    await check_holder(app, annotator, answer.token)
    try:
        return await acknowledged(app.state.writer.add(answer))
    except InputError as error:
        # The page reacts differently to the reasons for which the store refuses.
        state = await run_in_threadpool(check_own, app.state.project, annotator, answer.token)
        if state == SUBMITTED:
            raise TaskSubmitted(error.what, fix=error.fix) from None
        raise


async def check_holder(app: FastAPI, annotator: str, token: str) -> None:
    """Raise unless the annotator has the lease of a token.

    A token is made for one lease of one annotator, so the store is read only once per token.
    """
    holders: dict[str, str] = app.state.judging_holders
    if holders.get(token) != annotator:
        await run_in_threadpool(check_own, app.state.project, annotator, token)
        if len(holders) >= MOST_HOLDERS:
            holders.clear()
        holders[token] = annotator


def check_own(project: Project, annotator: str, token: str) -> int:
    """Return the state of the assignment that an annotator has by a token, or raise `LeaseLost`."""
    # The store's tokens are shorter than this: a longer one need not be looked up.
    state = project.queue.state_of(annotator, token[:100])
    if state is None:
        raise LeaseLost(
            "the lease of this task has ended and another annotator has it", fix="take a new task"
        )
    return state
