"""The two cookies: one of a session, one of a visitor who has not signed in."""

from __future__ import annotations

import hashlib
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.responses import Response

from karat.judging.store.accounts import is_token, new_token


class Cookies:
    """The cookies of one server.

    Parameters
    ----------
    place
        Of the project: browsers do not tell ports apart, so two servers on one machine need two names.
    path
        The prefix.
    secure
        Whether they travel by https only.
    seconds
        How long a browser keeps the session.

    Examples
    --------
    >>> Cookies("own.db", "", secure=True, seconds=60).session
    '__Host-karat-a28c4c26'
    """

    def __init__(self, place: str, path: str, secure: bool, seconds: float) -> None:
        mark = hashlib.sha256(place.encode("utf-8", "replace")).hexdigest()[:8]
        # A browser then refuses such cookies from neighbours and from plain http.
        guard = ("__Secure-" if path else "__Host-") if secure else ""
        self.session, self.visit = f"{guard}karat-{mark}", f"{guard}karat-visit-{mark}"
        self.path, self.secure, self.seconds = path or "/", secure, int(seconds)

    def session_of(self, header: str) -> str:
        """Return the token of the session in a Cookie header; empty where there is none."""
        return read(header, self.session)

    def guarded_by(self, header: str) -> tuple[str, bool]:
        """Return the token that guards changes, and whether it is new and must be set."""
        token = read(header, self.session) or read(header, self.visit)
        return (token, False) if token else (new_token(), True)

    def set_session(self, response: Response, token: str, https: bool) -> None:
        """Give a browser its session, and take the visitor's cookie away."""
        response.set_cookie(self.session, token, max_age=self.seconds, **self._how(https))
        response.delete_cookie(self.visit, **self._how(https))

    def set_visit(self, response: Response, token: str, https: bool) -> None:
        """Give a visitor a cookie until the browser is closed."""
        response.set_cookie(self.visit, token, **self._how(https))

    def clear(self, response: Response, https: bool) -> None:
        """Take the session away."""
        response.delete_cookie(self.session, **self._how(https))

    def _how(self, https: bool) -> dict[str, Any]:
        return {"path": self.path, "secure": self.secure or https, "httponly": True, "samesite": "strict"}


def read(header: str, name: str) -> str:
    """Return the token that a cookie holds; empty where it holds none, or something else.

    >>> token = "x" * 43
    >>> read(f"a=1; karat={token}", "karat") == token, read("karat=1", "karat"), read("karat=;;=", "karat")
    (True, '', '')
    """
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found is not None and is_token(found.value) else ""
