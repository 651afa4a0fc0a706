"""The application: its parts, and what stands before them."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles

from karat.judging import Project, open_project
from karat.judging.store.accounts import Spans
from karat.web.accounts import Doors
from karat.web.errors import add_handlers
from karat.web.pages import STATIC
from karat.web.security import Bodies, Cookies, Headers, Hosts, Origins, Prefix
from karat.web.settings import Settings
from karat.web.writer import Writer

PARTS = ("accounts", "judging", "dashboard", "operation")
"""Each is a package of `karat.web` whose `routes` module has a `router`.

It may also have `prepare(app)`, called before the guards are put up, and `watch(app)`, called after: what the
first adds is inside of them, what the second adds is outside.
"""


def create_app(settings: Settings, project: Project | None = None) -> FastAPI:
    """Return the application; the project is opened, and closed when the server stops.

    What its parts find on `app.state`: `project`, `settings`, `accounts`, `cookies`, `doors` (limits on
    trying), `writer` (of answers), `pages` (paths of the pages that exist) and `closing`, functions to be
    called, the last first, when the server stops.

    Parameters
    ----------
    settings
        How it is set up.
    project
        Where it is open already.
    """
    # No public description of the interface: it is for our own pages.
    app = FastAPI(title="karat", openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    state = app.state
    state.settings = settings
    state.project = open_project(settings.project) if project is None else project
    state.accounts = state.project.accounts
    state.accounts.set_spans(
        Spans(settings.session_seconds, settings.idle_seconds, settings.invitation_seconds)
    )
    state.cookies = Cookies(state.project.where, settings.path, settings.secure, settings.session_seconds)
    state.doors, state.writer = Doors(), Writer(state.project.answers)
    state.closing = [state.project.close, state.doors.close, state.writer.close]
    try:
        put_together(app)
    except BaseException:
        close_app(app)
        raise
    return app


def put_together(app: FastAPI) -> None:
    """Add the parts, and what stands before them."""
    state, settings = app.state, app.state.settings
    parts = [importlib.import_module(f"karat.web.{name}.routes") for name in PARTS]
    for part in parts:
        call(part, "prepare", app)
        app.include_router(part.router)
    state.pages = {
        route.path for part in parts for route in part.router.routes if isinstance(route, APIRoute)
    }
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    add_handlers(app)
    # The last one added is the first that a request meets.
    app.add_middleware(Origins, settings=settings, cookies=state.cookies)
    app.add_middleware(Bodies, most=settings.most_bytes, seconds=settings.body_seconds)
    app.add_middleware(Hosts, settings=settings)
    app.add_middleware(Headers, secure=settings.secure)
    app.add_middleware(Prefix, path=settings.path)
    for part in parts:
        call(part, "watch", app)


def call(part: ModuleType, hook: str, app: FastAPI) -> None:
    """Call a function of a part, if it has it."""
    function: Callable[[FastAPI], Any] | None = getattr(part, hook, None)
    if function is not None:
        function(app)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Run until the server stops, then close what was opened."""
    yield
    close_app(app)


def close_app(app: FastAPI) -> None:
    """Close what was opened, the last first; a second time changes nothing."""
    while app.state.closing:
        app.state.closing.pop()()
