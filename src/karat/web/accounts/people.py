"""The owner's page about people: roles, links, export and deletion, and the audit trail in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from karat.judging.store.accounts import OWNER, RESET, Accounts, User
from karat.web.pages import render
from karat.web.shapes import Body, Number, Short
from karat.web.users import require

router = APIRouter()
Owner = Annotated[User, Depends(require(OWNER))]
Role = Literal["owner", "judge", "reader"]


class NewLink(Body):
    """Whom to invite."""

    role: Role
    name: Short = ""
    days: Annotated[float, Field(gt=0, le=90)] = 7.0


class Change(Body):
    """What to change about a person; what is left out stays."""

    role: Role | None = None
    active: bool | None = None


@router.get("/people")
def people_page(request: Request, user: Owner) -> Response:
    """Show people, open links and what was done."""
    accounts = accounts_of(request)
    members = accounts.users.read()
    names = {one.id: one.name for one in members}
    links = accounts.invitations.read()
    trail = [readable(entry, names) for entry in accounts.audit.trail()]
    return render(request, "people.html", members=members, invitations=links, trail=trail)


@router.post("/api/people/links")
def invite(request: Request, user: Owner, body: NewLink) -> dict[str, str]:
    """Make a link that lets one person join; it is shown once."""
    token = accounts_of(request).invitations.invite(
        body.role, body.name.strip() or None, body.days * 86_400, user.id
    )
    return {"link": link(request, token)}


@router.delete("/api/people/links/{number}")
def revoke(request: Request, user: Owner, number: Number) -> dict[str, bool]:
    """Make a link useless."""
    accounts_of(request).invitations.revoke(number, user.id)
    return {"done": True}


@router.patch("/api/people/{number}")
def change(request: Request, user: Owner, number: Number, body: Change) -> dict[str, bool]:
    """Change somebody's role, or close or open the account."""
    accounts: Accounts = accounts_of(request)
    if body.role is not None:
        accounts.users.set_role(number, body.role, user.id)
    if body.active is not None:
        accounts.users.set_active(number, body.active, user.id)
    return {"done": True}


@router.post("/api/people/{number}/reset")
def reset(request: Request, user: Owner, number: Number) -> dict[str, str]:
    """Make a link with which somebody chooses a new password."""
    return {"link": link(request, accounts_of(request).invitations.link_for(number, RESET, 86_400, user.id))}


@router.get("/api/people/{number}/export")
def export(request: Request, user: Owner, number: Number) -> dict[str, Any]:
    """Return everything that is kept about a person."""
    found = accounts_of(request).users.export(number)
    accounts_of(request).audit.note(user.id, "exported", number)
    return found


@router.delete("/api/people/{number}")
def remove(request: Request, user: Owner, number: Number) -> dict[str, str]:
    """Remove a person; the answers stay under a pseudonym."""
    return {"pseudonym": accounts_of(request).users.remove(number, user.id)}


def accounts_of(request: Request) -> Accounts:
    """Return the accounts of the project."""
    return request.app.state.accounts


def link(request: Request, token: str) -> str:
    """Return the address of a link. Made from the settings, never from what the request says of its host."""
    return f"{request.app.state.settings.address}/invitation#{token}"


def readable(entry: Mapping[str, Any], names: Mapping[int, str]) -> dict[str, Any]:
    """Return an entry with names instead of numbers, as far as there are people behind them.

    >>> entry = {"at": 0.0, "actor": 1, "what": "role changed", "subject": 2, "detail": '{"to": "owner"}'}
    >>> readable(entry, {1: "ann"})
    {'at': 0.0, 'actor': 'ann', 'what': 'role changed', 'subject': 'removed-2', 'detail': 'to owner'}
    """
    detail = json.loads(entry["detail"])
    return {
        "at": entry["at"],
        "actor": called(entry["actor"], names),
        "what": entry["what"],
        "subject": "" if entry["subject"] == entry["actor"] else called(entry["subject"], names),
        "detail": ", ".join(f"{key} {value}" for key, value in detail.items() if value is not None),
    }


def called(number: int | None, names: Mapping[int, str]) -> str:
    """Return how somebody is called."""
    return "" if number is None else names.get(number, f"removed-{number}")
