"""The owner's page of users: roles, links, export and removal, and the audit log."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from karat._util import plural
from karat.store.accounts import OWNER, RESET, Accounts, User
from karat.web.access import require
from karat.web.pages import ROLES, render
from karat.web.shapes import Body, Number, Short

router = APIRouter()
Owner = Annotated[User, Depends(require(OWNER))]
Role = Literal["owner", "judge", "reader"]


class NewLink(Body):
    """Whom to invite."""

    role: Role
    name: Short = ""
    days: Annotated[float, Field(gt=0, le=90)] = 7.0


class Change(Body):
    """What to change about a user; fields that are left out do not change."""

    role: Role | None = None
    active: bool | None = None
    confirmed: Literal[True] | None = None


class Confirmation(Body):
    """That the owner knows what came with the project."""

    confirmed: Literal[True]


@router.get("/users")
def users_page(request: Request, user: Owner) -> Response:
    """Show users, open links and the audit log."""
    accounts = accounts_of(request)
    users = accounts.users.read()
    names = {user.id: user.name for user in users}
    links = accounts.invitations.read()
    log = [readable(entry, names) for entry in accounts.audit.trail()]
    foreign = came_with_it(*accounts.foreign())
    return render(request, "users.html", users=users, invitations=links, log=log, foreign=foreign)


@router.post("/api/users/links")
def invite(request: Request, user: Owner, body: NewLink) -> dict[str, str]:
    """Create a link with which one user can join; it is shown once."""
    token = accounts_of(request).invitations.invite(
        body.role, body.name.strip() or None, body.days * 86_400, user.id
    )
    return {"link": link(request, token)}


@router.delete("/api/users/links/{number}")
def revoke(request: Request, user: Owner, number: Number) -> dict[str, bool]:
    """Revoke a link."""
    accounts_of(request).invitations.revoke(number, user.id)
    return {"done": True}


@router.patch("/api/users/links/{number}")
def confirm_link(request: Request, user: Owner, number: Number, body: Confirmation) -> dict[str, bool]:
    """Let a link that was made on another machine work."""
    accounts_of(request).invitations.confirm(number, user.id)
    return {"done": True}


@router.patch("/api/users")
def confirm_all(request: Request, user: Owner, body: Confirmation) -> dict[str, bool]:
    """Confirm every account and link that was made on another machine."""
    accounts_of(request).confirm_all(user.id)
    return {"done": True}


@router.patch("/api/users/{number}")
def change(request: Request, user: Owner, number: Number, body: Change) -> dict[str, bool]:
    """Change a user's role, disable or enable the account, or confirm one that was made elsewhere."""
    accounts: Accounts = accounts_of(request)
    if body.confirmed:
        accounts.users.confirm(number, user.id)
    if body.role is not None:
        accounts.users.set_role(number, body.role, user.id)
    if body.active is not None:
        accounts.users.set_active(number, body.active, user.id)
    return {"done": True}


@router.post("/api/users/{number}/reset")
def reset(request: Request, user: Owner, number: Number) -> dict[str, str]:
    """Create a link with which a user chooses a new password."""
    return {"link": link(request, accounts_of(request).invitations.link_for(number, RESET, 86_400, user.id))}


@router.get("/api/users/{number}/export")
def export(request: Request, user: Owner, number: Number) -> dict[str, Any]:
    """Return everything that is stored about a user."""
    stored = accounts_of(request).users.export(number)
    accounts_of(request).audit.note(user.id, "exported", number)
    return stored


@router.delete("/api/users/{number}")
def remove(request: Request, user: Owner, number: Number) -> dict[str, str]:
    """Remove a user; the answers stay under a pseudonym."""
    return {"pseudonym": accounts_of(request).users.remove(number, user.id)}


def came_with_it(users: Sequence[object], links: Sequence[object]) -> str:
    """Return the subject of a sentence on accounts and links of another machine; empty if there are none.

    >>> came_with_it([1, 2], [3]), came_with_it([1], []), came_with_it([], [])
    ('2 accounts and 1 open link were', '1 account was', '')
    """
    some = [(users, "account"), (links, "open link")]
    counts = [plural(len(rows), what) for rows, what in some if rows]
    return f"{' and '.join(counts)} {'was' if len(users) + len(links) == 1 else 'were'}" if counts else ""


def accounts_of(request: Request) -> Accounts:
    """Return the accounts of the project."""
    return request.app.state.accounts


def link(request: Request, token: str) -> str:
    """Return the address of a link, made from the settings, never from the request's Host header."""
    return f"{request.app.state.settings.address}/invitation#{token}"


def readable(entry: Mapping[str, Any], names: Mapping[int, str]) -> dict[str, Any]:
    """Return an entry of the audit log with names instead of numbers, for users who still exist.

    >>> entry = {"at": 0.0, "actor": 1, "what": "role changed", "subject": 2, "detail": '{"to": "judge"}'}
    >>> readable(entry, {1: "ann"})
    {'at': 0.0, 'actor': 'ann', 'what': 'role changed', 'subject': 'removed-2', 'detail': 'to annotator'}
    """
    detail = json.loads(entry["detail"])
    return {
        "at": entry["at"],
        "actor": name_of(entry["actor"], names),
        "what": entry["what"],
        "subject": "" if entry["subject"] == entry["actor"] else name_of(entry["subject"], names),
        "detail": ", ".join(
            f"{key} {ROLES.get(value, value) if isinstance(value, str) else value}"
            for key, value in detail.items()
            if value is not None
        ),
    }


def name_of(number: int | None, names: Mapping[int, str]) -> str:
    """Return a user's name; a pseudonym for a user who was removed."""
    return "" if number is None else names.get(number, f"removed-{number}")
