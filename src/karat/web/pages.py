"""Pages: Jinja templates with automatic escaping."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import karat
from karat.store.accounts import JUDGE, OWNER, READER, User
from karat.web.access import current_user
from karat.web.security import csrf_of

HERE = Path(__file__).parent
STATIC = HERE / "static"
LINKS = (
    ("/judge", "Judge", (JUDGE,)), ("/dashboard", "Dashboard", (READER,)),
    ("/adjudicate", "Disagreements", (OWNER,)), ("/users", "Users", (OWNER,)),
)  # fmt: skip
"""The links of the top bar, and the roles that see them."""
ROLES = {JUDGE: "annotator", READER: "reader", OWNER: "owner"}
"""The roles of the store, as pages call them."""


@cache
def templates() -> Environment:
    """Return the templates; an undefined variable raises."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["day"] = day
    return environment


def render(request: Request, template: str, status: int = 200, **context: Any) -> HTMLResponse:
    """Return a page.

    Templates extend base.html. Besides `context` they get `url(path)`, which makes every address, `user` (or
    None), `roles` (what pages call them), `csrf`, `base`, `links`, `project` (its name) and `version`.

    Parameters
    ----------
    request
        The request that it answers.
    template
        A file in web/templates.
    status
        The status code of the response.
    """
    app, base = request.app, base_of(request)
    token, is_new = app.state.cookies.guarded_by(request.headers.get("cookie", ""))
    user = current_user(request)
    text = templates().get_template(template).render(
        url=lambda path: base + path,
        base=base,
        user=user,
        csrf=csrf_of(token),
        links=links_for(user),
        roles=ROLES,
        here=request.url.path.removeprefix(base),
        project=app.state.project.name,
        demo=app.state.settings.demo,
        version=karat.__version__,
        **context,
    )  # fmt: skip
    response = HTMLResponse(text, status)
    if is_new:
        app.state.cookies.set_visit(response, token, request.url.scheme == "https")
    return response


def base_of(request: Request) -> str:
    """Return the prefix of all paths; empty if there is none."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def links_for(user: User | None) -> list[dict[str, str]]:
    """Return the links of the top bar that the user may open."""
    return [
        {"path": path, "text": text} for path, text, roles in LINKS if user is not None and user.may(*roles)
    ]


def home_of(user: User) -> str:
    """Return the path of a user's start page.

    >>> home_of(User(1, "ann", "judge")), home_of(User(2, "bob", "owner"))
    ('/judge', '/dashboard')
    """
    return "/judge" if user.role == JUDGE else "/dashboard"


def day(at: float | None) -> str:
    """Return a time as date, hour and minute, in UTC; "?" for a number in a project that is no time.

    >>> day(0), day(None), day(1e300)
    ('1970-01-01 00:00', '–', '?')
    """
    try:
        return "–" if at is None else time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))
    except (ValueError, OverflowError, OSError):
        return "?"
