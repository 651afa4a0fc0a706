"""Signing in and out, using a link, changing one's password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from karat.errors import InputError
from karat.judging.store.accounts import UselessLink, User, fold
from karat.web.accounts import people
from karat.web.accounts.people import accounts_of
from karat.web.pages import base_of, home_of, render
from karat.web.security import safe_next
from karat.web.shapes import Body, Path, Short
from karat.web.users import current_user, require

router = APIRouter()
router.include_router(people.router)
Somebody = Annotated[User, Depends(require())]


class SignIn(Body):
    """A name and a password, and where to go then."""

    name: Short
    password: Short
    next: Path = ""


class Link(Body):
    """The token of a link."""

    token: Short


class Acceptance(Link):
    """What somebody chose who follows a link."""

    name: Short = ""
    password: Short = ""


class NewPassword(Body):
    """The password so far, and the new one."""

    old: Short
    new: Short


@router.get("/")
def home(request: Request, user: Somebody) -> Response:
    """Lead to the page that the user comes to first."""
    return RedirectResponse(base_of(request) + home_of(request, user), 303)


@router.get("/login")
def login_page(request: Request, next: Path = "") -> Response:
    """Show the sign-in page."""
    return render(request, "login.html", next=safe_next(next, ""))


@router.get("/invitation")
def invitation_page(request: Request) -> Response:
    """Show the page behind a link. Its token stands after the #, which browsers keep to themselves."""
    return render(request, "invitation.html")


@router.get("/account")
def account_page(request: Request, user: Somebody) -> Response:
    """Show one's own account."""
    return render(request, "account.html")


@router.get("/api/session")
def who(request: Request) -> dict[str, Any]:
    """Say who has signed in."""
    user = current_user(request)
    return {"name": None if user is None else user.name, "role": None if user is None else user.role}


@router.post("/api/session")
async def sign_in(request: Request, response: Response, body: SignIn) -> dict[str, str]:
    """Sign in. Whether the name or the password was wrong is not said, and takes equally long to find out."""
    accounts, doors = accounts_of(request), request.app.state.doors
    who, address = fold(body.name), address_of(request)
    doors.try_to(who, address)

    def work() -> dict[str, str]:
        user = accounts.users.sign_in(body.name, body.password)
        if user is None:
            accounts.audit.note(None, "sign-in failed", accounts.users.number_of(body.name))
            raise InputError(
                "the name or the password is wrong", fix="try again, or ask the owner for a link"
            )
        doors.succeeded(who, address)
        accounts.audit.note(user.id, "signed in")
        return enter(request, response, user, body.next)

    return await doors.run(work)


@router.delete("/api/session")
def sign_out(request: Request, response: Response) -> dict[str, str]:
    """Sign out: the session ends here, not only in the browser."""
    token = request.app.state.cookies.session_of(request.headers.get("cookie", ""))
    user = current_user(request)
    if token:
        accounts_of(request).sessions.end(token)
    if user is not None:
        accounts_of(request).audit.note(user.id, "signed out")
    request.app.state.cookies.clear(response, request.url.scheme == "https")
    return {"next": "/login"}


@router.post("/api/invitation/look")
def look(request: Request, body: Link) -> dict[str, Any]:
    """Say what a link is for; that does not use it up."""
    with link_tried(request):
        found = accounts_of(request).invitations.look_at(body.token)
    return {"kind": found.kind, "role": found.role, "name": found.name, "expires": found.expires}


@router.post("/api/invitation/accept")
async def accept(request: Request, response: Response, body: Acceptance) -> dict[str, str]:
    """Use a link, and sign in."""

    def work() -> dict[str, str]:
        with link_tried(request):
            user = accounts_of(request).invitations.accept(body.token, body.name, body.password)
        return enter(request, response, user)

    return await request.app.state.doors.run(work)


@router.post("/api/password")
async def change_password(
    request: Request, response: Response, body: NewPassword, user: Somebody
) -> dict[str, str]:
    """Change one's password; every session ends, and a new one begins here."""
    accounts, doors, address = accounts_of(request), request.app.state.doors, address_of(request)
    doors.try_to(fold(user.name), address)

    def work() -> dict[str, str]:
        if accounts.users.sign_in(user.name, body.old) is None:
            raise InputError("the password so far is wrong", fix="try again")
        doors.succeeded(fold(user.name), address)
        accounts.users.set_password(user.id, body.new, user.id)
        return enter(request, response, user)

    return await doors.run(work)


@router.get("/api/account/export")
def export_own(request: Request, user: Somebody) -> dict[str, Any]:
    """Return everything that is kept about oneself."""
    return accounts_of(request).users.export(user.id)


@contextmanager
def link_tried(request: Request) -> Iterator[None]:
    """Count a try with a link that does not work; a name that is taken is no try to get in."""
    doors, address = request.app.state.doors, address_of(request)
    doors.try_to("", address)
    works = True
    try:
        yield
    except UselessLink:
        works = False
        raise
    finally:
        if works:
            doors.succeeded("", address)


def enter(request: Request, response: Response, user: User, asked: str = "") -> dict[str, str]:
    """Open a session, and say where to go."""
    token = accounts_of(request).sessions.open(user.id)
    request.app.state.cookies.set_session(response, token, request.url.scheme == "https")
    return {"next": safe_next(asked, home_of(request, user))}


def address_of(request: Request) -> str:
    """Return the address that a request comes from; a proxy's word counts only where it was named."""
    return request.client.host if request.client is not None else "unknown"
