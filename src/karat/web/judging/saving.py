"""Storing what people answer. The only place that writes answers, so that the writer can be changed here."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from karat.errors import InputError
from karat.judging.store import SUBMITTED
from karat.web.judging.owning import HandedIn, check_own
from karat.web.waiting import acknowledged

MOST_HOLDERS = 100_000
"""Tokens whose holders are remembered."""


async def store_answer(
    app: FastAPI,
    worker: str,
    token: str,
    item: int,
    code: str,
    details: Mapping[str, Any] | None,
    seconds: float | None,
    key: str,
) -> int:
    """Store an answer of the lease's holder and return its number; when this returns, it is on the disk."""
    await let_in(app, worker, token)
    return await finished(
        app, worker, token, app.state.writer.answer(token, item, code, details, seconds, key)
    )


async def store_withdrawal(app: FastAPI, worker: str, token: str, item: int, key: str) -> int:
    """Take an answer back and return the number of the row that says so."""
    await let_in(app, worker, token)
    return await finished(app, worker, token, app.state.writer.withdraw(token, item, key))


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


async def finished(app: FastAPI, worker: str, token: str, done: Future[int]) -> int:
    """Return the number of an answer, or say why the store refused: a page does different things about it."""
    try:
        return await acknowledged(done)
    except InputError as error:
        row = await run_in_threadpool(check_own, app.state.project, worker, token)
        if row["state"] == SUBMITTED:
            raise HandedIn(error.what, fix=error.fix) from None
        raise
