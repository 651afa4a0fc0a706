"""Storing what people answer. The only place that writes answers, so that the writer can be changed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI

from karat.judging.store import Project
from karat.judging.store.rows import SUBMITTED
from karat.validation import InputError
from karat.web.judging.owning import HandedIn, check_own
from karat.web.waiting import saved


def store_answer(
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
    with explained(app.state.project, worker, token):
        writer = getattr(app.state, "writer", None)
        if writer is None:
            return int(app.state.project.answer(token, item, code, details, seconds, key))
        return saved(writer.answer(token, item, code, details, seconds, key))


def store_withdrawal(app: FastAPI, worker: str, token: str, item: int, key: str) -> int:
    """Take an answer back and return the number of the row that says so."""
    with explained(app.state.project, worker, token):
        writer = getattr(app.state, "writer", None)
        if writer is None:
            return int(app.state.project.withdraw(token, item, key))
        return saved(writer.withdraw(token, item, key))


@contextmanager
def explained(project: Project, worker: str, token: str) -> Iterator[None]:
    """Let only the holder in, and say why the store refused: a page does different things about it."""
    check_own(project, worker, token)
    try:
        yield
    except InputError as error:
        if check_own(project, worker, token)["state"] == SUBMITTED:
            raise HandedIn(error.what, fix=error.fix) from None
        raise
