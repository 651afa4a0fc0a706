"""Answers on their way to the writer: those of a lease's holder alone. Nothing else here writes answers."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from karat.errors import InputError
from karat.judging import Project
from karat.judging.store import SUBMITTED, Answer
from karat.web.writer import acknowledged

MOST_HOLDERS = 100_000
"""Tokens whose holders are remembered."""


class LeaseLost(InputError):
    """The lease went to somebody else, or never was this person's: 409."""


class HandedIn(InputError):
    """The task was handed in, so that its answers are fixed: 410."""


async def save(app: FastAPI, worker: str, answer: Answer) -> int:
    """Store an answer of the lease's holder and return its number; when this returns, it is on the disk."""
    await let_in(app, worker, answer.token)
    try:
        return await acknowledged(app.state.writer.add(answer))
    except InputError as error:
        # A page does different things about the reasons for which the store refuses.
        state = await run_in_threadpool(check_own, app.state.project, worker, answer.token)
        if state == SUBMITTED:
            raise HandedIn(error.what, fix=error.fix) from None
        raise


async def let_in(app: FastAPI, worker: str, token: str) -> None:
    """Let only the holder of a token in.

    A token is made for one lease of one person, so that whose it is need be looked up only once.
    """
    holders: dict[str, str] = app.state.judging_holders
    if holders.get(token) != worker:
        await run_in_threadpool(check_own, app.state.project, worker, token)
        if len(holders) >= MOST_HOLDERS:
            holders.clear()
        holders[token] = worker


def check_own(project: Project, worker: str, token: str) -> int:
    """Return the state of the slot that a token holds for a worker, or raise `LeaseLost`."""
    # A token is what the store made: anything longer need not be looked up.
    state = project.queue.state_of(worker, token[:100])
    if state is None:
        raise LeaseLost("the time for this task ran out and somebody else has it", fix="take a new task")
    return state
