"""The owner's page about people, and what its buttons do."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from karat.web.accounts import RESET, Accounts, accounts_of
from karat.web.pages import render
from karat.web.people.trail import readable
from karat.web.shapes import Body, Number, Short
from karat.web.users import OWNER, User, require

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
    members = accounts.members()
    names = {one.id: one.name for one in members}
    links = accounts.invitations()
    trail = [readable(entry, names) for entry in accounts.trail()]
    return render(request, "people.html", members=members, invitations=links, trail=trail)


@router.post("/api/people/links")
def invite(request: Request, user: Owner, body: NewLink) -> dict[str, str]:
    """Make a link that lets one person join; it is shown once."""
    token = accounts_of(request).invite(body.role, body.name.strip() or None, body.days * 86_400, user.id)
    return {"link": link(request, token)}


@router.delete("/api/people/links/{number}")
def revoke(request: Request, user: Owner, number: Number) -> dict[str, bool]:
    """Make a link useless."""
    accounts_of(request).revoke(number, user.id)
    return {"done": True}


@router.patch("/api/people/{number}")
def change(request: Request, user: Owner, number: Number, body: Change) -> dict[str, bool]:
    """Change somebody's role, or close or open the account."""
    accounts: Accounts = accounts_of(request)
    if body.role is not None:
        accounts.set_role(number, body.role, user.id)
    if body.active is not None:
        accounts.set_active(number, body.active, user.id)
    return {"done": True}


@router.post("/api/people/{number}/reset")
def reset(request: Request, user: Owner, number: Number) -> dict[str, str]:
    """Make a link with which somebody chooses a new password."""
    return {"link": link(request, accounts_of(request).link_for(number, RESET, 86_400, user.id))}


@router.get("/api/people/{number}/export")
def export(request: Request, user: Owner, number: Number) -> dict[str, Any]:
    """Return everything that is kept about a person."""
    found = accounts_of(request).export(number)
    accounts_of(request).note(user.id, "exported", number)
    return found


@router.delete("/api/people/{number}")
def remove(request: Request, user: Owner, number: Number) -> dict[str, str]:
    """Remove a person; the answers stay under a pseudonym."""
    return {"pseudonym": accounts_of(request).remove(number, user.id)}


def link(request: Request, token: str) -> str:
    """Return the address of a link. Made from the settings, never from what the request says of its host."""
    return f"{request.app.state.settings.address}/invitation#{token}"
