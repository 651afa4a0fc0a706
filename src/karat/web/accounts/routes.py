"""Signing in and out, invitation links, and the user's own account."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from karat.errors import InputError
from karat.store.accounts import UselessLink, User, fold
from karat.web.access import current_user, require
from karat.web.accounts import users
from karat.web.accounts.users import accounts_of
from karat.web.pages import base_of, home_of, render
from karat.web.shapes import Body, Path, Short

router = APIRouter()
router.include_router(users.router)
SignedIn = Annotated[User, Depends(require())]


class SignIn(Body):
    """A name and a password, and the page to open afterwards."""

    name: Short
    password: Short
    next: Path = ""


class Link(Body):
    """The token of a link."""

    token: Short


class Acceptance(Link):
    """The name and password that a user chose who follows a link."""

    name: Short = ""
    password: Short = ""


class NewPassword(Body):
    """The current password, and the new one."""

    old: Short
    new: Short


@router.get("/")
def home(request: Request, user: SignedIn) -> Response:
    """Redirect to the user's start page."""
    return RedirectResponse(base_of(request) + home_of(user), 303)


@router.get("/login")
def login_page(request: Request, next: Path = "") -> Response:
    """Show the sign-in page."""
    return render(request, "login.html", next=safe_next(next, ""))


@router.get("/invitation")
def invitation_page(request: Request) -> Response:
    """Show the page of a link. Its token is in the fragment, which browsers do not send."""
    return render(request, "invitation.html")


@router.get("/account")
def account_page(request: Request, user: SignedIn) -> Response:
    """Show the user's own account."""
    return render(request, "account.html")


@router.get("/api/session")
def who(request: Request) -> dict[str, Any]:
    """Return the name and role of the user."""
    user = current_user(request)
    return {"name": None if user is None else user.name, "role": None if user is None else user.role}


@router.post("/api/session")
async def sign_in(request: Request, response: Response, body: SignIn) -> dict[str, str]:
    """Sign in. The response and its time do not tell whether the name or the password was wrong."""
    accounts, attempts = accounts_of(request), request.app.state.attempts
    name = fold(body.name)
    attempt = attempts.sign_in(name, address_of(request), await device_of(request, name))

    def work() -> dict[str, str]:
        user = accounts.users.sign_in(body.name, body.password)
        if user is None:
            accounts.audit.note(None, "sign-in failed", accounts.users.number_of(body.name))
            raise InputError(
                "the name or the password is wrong", fix="try again, or ask the owner for a link"
            )
        attempt.succeeded()
        accounts.audit.note(user.id, "signed in")
        return enter(request, response, user, body.next)

    return await attempts.run(work, attempt.known)


@router.delete("/api/session")
def sign_out(request: Request, response: Response) -> dict[str, str]:
    """Sign out: the session ends on the server too."""
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
    """Return what a link is for, without using it."""
    with link_tried(request):
        invitation = accounts_of(request).invitations.look_at(body.token)
    return {
        "kind": invitation.kind, "role": invitation.role, "name": invitation.name,
        "expires": invitation.expires,
    }  # fmt: skip


@router.post("/api/invitation/accept")
async def accept(request: Request, response: Response, body: Acceptance) -> dict[str, str]:
    """Use a link, and sign in."""
    # Only links that work may wait before the sign-ins of strangers.
    with link_tried(request):
        await run_in_threadpool(accounts_of(request).invitations.look_at, body.token)

    def work() -> dict[str, str]:
        with link_tried(request):
            user = accounts_of(request).invitations.accept(body.token, body.name, body.password)
        return enter(request, response, user)

    return await request.app.state.attempts.run(work, ("link", body.token))


@router.post("/api/password")
async def change_password(
    request: Request, response: Response, body: NewPassword, user: SignedIn
) -> dict[str, str]:
    """Change the password; every session of the user ends, and a new one starts here."""
    accounts, attempts = accounts_of(request), request.app.state.attempts
    attempt = attempts.confirmation(user.id)

    def work() -> dict[str, str]:
        if accounts.users.sign_in(user.name, body.old) is None:
            raise InputError("the current password is wrong", fix="try again")
        attempt.succeeded()
        accounts.users.set_password(user.id, body.new, user.id)
        return enter(request, response, user)

    return await attempts.run(work, attempt.known)


@router.get("/api/account/export")
def export_own(request: Request, user: SignedIn) -> dict[str, Any]:
    """Return everything that is stored about the user."""
    return accounts_of(request).users.export(user.id)


@contextmanager
def link_tried(request: Request) -> Iterator[None]:
    """Count an attempt with a link that does not work; other errors, such as a taken name, do not count."""
    attempt = request.app.state.attempts.link(address_of(request))
    works = True
    try:
        yield
    except UselessLink:
        works = False
        raise
    finally:
        if works:
            attempt.succeeded()


def enter(request: Request, response: Response, user: User, path: str = "") -> dict[str, str]:
    """Open a session, and return the page to open next."""
    state, https = request.app.state, request.url.scheme == "https"
    token = accounts_of(request).sessions.open(user.id)
    name = fold(user.name)
    state.attempts.remember(name, address_of(request))
    state.cookies.set_session(response, token, https)
    marks = accounts_of(request).users.marks_of(name)
    if marks is not None:
        state.cookies.set_device(response, request.headers.get("cookie", ""), (name, *marks), https)
    return {"next": safe_next(path, home_of(user))}


async def device_of(request: Request, name: str) -> str:
    """Return the number of the device from which a name has signed in before; empty for all others."""
    header, cookies = request.headers.get("cookie", ""), request.app.state.cookies
    # The store is asked only for who brings such a cookie.
    if not cookies.has_device(header):
        return ""
    marks = await run_in_threadpool(accounts_of(request).users.marks_of, name)
    return "" if marks is None else cookies.device_of(header, (name, *marks))


def address_of(request: Request) -> str:
    """Return the address of the client; a proxy is trusted only if it was named with --proxy."""
    return request.client.host if request.client is not None else "unknown"


def safe_next(path: str, otherwise: str) -> str:
    """Return a path if it stays on this server, else `otherwise`.

    Browsers read backslashes as slashes and skip tabs and line breaks, so only plain paths are followed.

    >>> [safe_next(path, "/") for path in ("/judge?task=3", "//evil.example", "https://evil.example")]
    ['/judge?task=3', '/', '/']
    >>> [safe_next(path, "/") for path in ("/\\\\evil.example", "javascript:alert(1)", "/\\t/evil.example")]
    ['/', '/', '/']
    """
    plain = path.isascii() and path.isprintable() and " " not in path and "\\" not in path
    if not plain or not path.startswith("/") or path.startswith("//"):
        return otherwise
    try:
        parts = urlsplit(path)
    except ValueError:
        return otherwise
    return otherwise if parts.scheme or parts.netloc else path
