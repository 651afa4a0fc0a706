"""Pages: Jinja templates in which everything is escaped."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import karat
from karat.judging.store.accounts import JUDGE, READER, User
from karat.web.security import csrf_of
from karat.web.users import current_user

HERE = Path(__file__).parent
STATIC = HERE / "static"
LINKS = (
    ("/judge", "Judge", (JUDGE,)), ("/dashboard", "Dashboard", (READER,)),
    ("/adjudicate", "Disagreements", ("owner",)), ("/people", "People", ("owner",)),
)  # fmt: skip
"""Where the bar at the top leads, and who sees it."""


@cache
def templates() -> Environment:
    """Return the templates; what is missing in one raises."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["day"] = day
    return made


def render(request: Request, template: str, status: int = 200, **context: Any) -> HTMLResponse:
    """Return a page.

    Templates extend base.html and get, beside `context`: `url(path)`, which every address must pass through,
    `user` (or None), `csrf`, `base`, `links`, `project` (its name) and `version`.

    Parameters
    ----------
    request
        What it answers.
    template
        A file in web/templates.
    status
        Of the response.
    """
    app, base = request.app, base_of(request)
    token, fresh = app.state.cookies.guarded_by(request.headers.get("cookie", ""))
    user = current_user(request)
    text = templates().get_template(template).render(
        url=lambda path: base + path,
        base=base,
        user=user,
        csrf=csrf_of(token),
        links=links_for(request, user),
        here=request.url.path.removeprefix(base),
        project=app.state.project.name,
        demo=app.state.settings.demo,
        version=karat.__version__,
        **context,
    )  # fmt: skip
    response = HTMLResponse(text, status)
    if fresh:
        app.state.cookies.set_visit(response, token, request.url.scheme == "https")
    return response


def base_of(request: Request) -> str:
    """Return the path below which everything lies; empty without a prefix."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def links_for(request: Request, user: User | None) -> list[dict[str, str]]:
    """Return the links of the bar that lead somewhere and that the user may follow."""
    there = request.app.state.pages
    return [
        {"path": path, "text": text}
        for path, text, roles in LINKS
        if path in there and user is not None and user.may(*roles)
    ]


def home_of(request: Request, user: User) -> str:
    """Return the page that a user comes to first."""
    found = [link["path"] for link in links_for(request, user)]
    wanted = "/judge" if user.role == JUDGE else "/dashboard"
    return wanted if wanted in found else (found[0] if found else "/account")


def day(at: float | None) -> str:
    """Return a time as a date and an hour, in UTC.

    >>> day(0), day(None)
    ('1970-01-01 00:00', '–')
    """
    return "–" if at is None else time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))
