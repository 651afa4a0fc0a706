"""The application: its parts, and the middleware in front of them."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from karat.store import open_project
from karat.store.accounts import Spans
from karat.web.accounts import AttemptLimits
from karat.web.errors import add_handlers
from karat.web.failures import Failures
from karat.web.pages import STATIC
from karat.web.security import Bodies, Cookies, Headers, Hosts, Origins, Prefix
from karat.web.settings import Settings
from karat.web.writer import PATIENCE, Writer

PARTS = ("accounts", "judging", "dashboard", "operation")
"""Each is a package of `karat.web` whose `routes` module has a `router`.

It may also have `prepare(app)`, called before the security middleware is added, and `watch(app)`, called
after: middleware of the first is inside it, middleware of the second is outside.
"""


def create_app(settings: Settings) -> FastAPI:
    """Return the application; the project is opened, and closed when the server stops.

    `app.state` has: `project`, `settings`, `accounts`, `cookies`, `attempts` (limits on failed sign-ins),
    `writer` (of answers), `failures` (of the store) and `closing`, the functions that are called, last first,
    when the server stops.
    """
    # No public API description: the API is for our own pages.
    app = FastAPI(title="karat", openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    state = app.state
    state.settings = settings
    state.project = open_project(settings.project)
    state.accounts = state.project.accounts
    state.accounts.set_spans(
        Spans(settings.session_seconds, settings.idle_seconds, settings.invitation_seconds)
    )
    state.cookies = Cookies(state.project.where, settings.path, settings.secure, settings.session_seconds)
    # A request fails sooner than the page gives up on it.
    state.project.database.set_patience(PATIENCE)
    state.failures = Failures(state.project)
    state.attempts, state.writer = AttemptLimits(), Writer(state.project.answers, failures=state.failures)
    state.closing = [state.project.close, state.failures.close, state.attempts.close, state.writer.close]
    try:
        add_parts(app)
    except BaseException:
        close_app(app)
        raise
    return app


def add_parts(app: FastAPI) -> None:
    """Add the parts, and the middleware in front of them."""
    state, settings = app.state, app.state.settings
    parts = [importlib.import_module(f"karat.web.{name}.routes") for name in PARTS]
    for part in parts:
        call(part, "prepare", app)
        app.include_router(part.router)
    # The report's colours and elements are those of these pages, too.
    static = StaticFiles(directory=STATIC, packages=[("karat.reports", "static")])
    app.mount("/static", static, name="static")
    add_handlers(app)
    # The last one added is the first that handles a request.
    app.add_middleware(Origins, settings=settings, cookies=state.cookies)
    app.add_middleware(Bodies, limit=settings.most_bytes, seconds=settings.body_seconds)
    app.add_middleware(Hosts, settings=settings)
    app.add_middleware(Headers, secure=settings.secure)
    app.add_middleware(Prefix, path=settings.path)
    for part in parts:
        call(part, "watch", app)


def call(part: ModuleType, hook: str, app: FastAPI) -> None:
    """Call a function of a part, if it has one of this name."""
    function: Callable[[FastAPI], Any] | None = getattr(part, hook, None)
    if function is not None:
        function(app)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Run until the server stops, then close everything that was opened."""
    yield
    close_app(app)


def close_app(app: FastAPI) -> None:
    """Close everything that was opened, last first; a second call changes nothing."""
    while app.state.closing:
        app.state.closing.pop()()
