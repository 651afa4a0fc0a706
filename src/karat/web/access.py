"""Access: which user sends a request, and what the user's role allows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from karat.store.accounts import User


class NotSignedIn(Exception):
    """The request has no session: a page redirects to the sign-in page, everything else returns 401."""


class NotAllowed(Exception):
    """The user's role does not allow this: 403."""


def current_user(request: Request) -> User | None:
    """Return the user of the session, or None. The store is read once per request."""
    if not hasattr(request.state, "user"):
        token = request.app.state.cookies.session_of(request.headers.get("cookie", ""))
        request.state.user = request.app.state.accounts.sessions.whose(token) if token else None
    return request.state.user


async def find_user(request: Request) -> User | None:
    """Return the user of the session, or None; a thread is used only if the store must be read."""
    state = request.app.state
    if not hasattr(request.state, "user"):
        token = state.cookies.session_of(request.headers.get("cookie", ""))
        user = state.accounts.sessions.remembered(token) if token else None
        if user is None:
            return await run_in_threadpool(current_user, request)
        request.state.user = user
    return request.state.user


def require(*roles: str) -> Callable[[Request], Awaitable[User]]:
    """Return a dependency that yields the user, or refuses the request.

    It is used as ``user: Annotated[User, Depends(require("judge"))]``.

    Parameters
    ----------
    *roles
        Roles that are allowed; an owner always is. Without roles, every user who has signed in.
    """

    async def find(request: Request) -> User:
        user = await find_user(request)
        if user is None:
            raise NotSignedIn
        if not user.may(*roles):
            raise NotAllowed
        return user

    return find
