"""Who asks, and what they may do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from karat.judging.store.accounts import User


class NotSignedIn(Exception):
    """Nobody has signed in: a page leads to the sign-in page, everything else answers 401."""


class NotAllowed(Exception):
    """The user's role does not allow this: 403."""


def current_user(request: Request) -> User | None:
    """Return who has signed in; None where nobody has. The store is asked once a request."""
    if not hasattr(request.state, "user"):
        token = request.app.state.cookies.session_of(request.headers.get("cookie", ""))
        request.state.user = request.app.state.accounts.sessions.whose(token) if token else None
    return request.state.user


async def find_user(request: Request) -> User | None:
    """Return who has signed in; a thread is taken only where the store must be asked."""
    state = request.app.state
    if not hasattr(request.state, "user"):
        token = state.cookies.session_of(request.headers.get("cookie", ""))
        known = state.accounts.sessions.remembered(token) if token else None
        if known is None:
            return await run_in_threadpool(current_user, request)
        request.state.user = known
    return request.state.user


def require(*roles: str) -> Callable[[Request], Awaitable[User]]:
    """Return a dependency that yields the user, or refuses.

    It is used as ``user: Annotated[User, Depends(require("judge"))]``.

    Parameters
    ----------
    *roles
        Any of these will do, and an owner always; without roles, anybody who has signed in.
    """

    async def find(request: Request) -> User:
        user = await find_user(request)
        if user is None:
            raise NotSignedIn
        if not user.may(*roles):
            raise NotAllowed
        return user

    return find
