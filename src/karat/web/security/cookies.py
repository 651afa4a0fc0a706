"""The two cookies, of a session and of a visitor who has not signed in, and the CSRF token made from them."""

from __future__ import annotations

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.responses import Response

from karat.store.accounts import is_token, new_token


class Cookies:
    """The cookies of one server.

    Parameters
    ----------
    place
        The place of the project: browsers ignore ports, so two servers on one machine need two names.
    path
        The prefix.
    secure
        Whether they are sent by https only.
    seconds
        How long a browser keeps the session.

    Examples
    --------
    >>> Cookies("own.db", "", secure=True, seconds=60).session
    '__Host-karat-a28c4c26'
    """

    def __init__(self, place: str, path: str, secure: bool, seconds: float) -> None:
        mark = hashlib.sha256(place.encode("utf-8", "replace")).hexdigest()[:8]
        # Browsers refuse cookies with these prefixes from other hosts and from plain http.
        prefix = ("__Secure-" if path else "__Host-") if secure else ""
        self.session, self.visit = f"{prefix}karat-{mark}", f"{prefix}karat-visit-{mark}"
        self.path, self.secure, self.seconds = path or "/", secure, int(seconds)

    def session_of(self, header: str) -> str:
        """Return the session token of a Cookie header; empty if there is none."""
        return read(header, self.session)

    def guarded_by(self, header: str) -> tuple[str, bool]:
        """Return the token that the CSRF token is made from, and whether it is new and must be set."""
        token = read(header, self.session) or read(header, self.visit)
        return (token, False) if token else (new_token(), True)

    def set_session(self, response: Response, token: str, https: bool) -> None:
        """Set the session cookie, and delete the visitor's."""
        response.set_cookie(self.session, token, max_age=self.seconds, **self._how(https))
        response.delete_cookie(self.visit, **self._how(https))

    def set_visit(self, response: Response, token: str, https: bool) -> None:
        """Set a visitor's cookie, until the browser is closed."""
        response.set_cookie(self.visit, token, **self._how(https))

    def clear(self, response: Response, https: bool) -> None:
        """Delete the session cookie."""
        response.delete_cookie(self.session, **self._how(https))

    def _how(self, https: bool) -> dict[str, Any]:
        return {"path": self.path, "secure": self.secure or https, "httponly": True, "samesite": "strict"}


def read(header: str, name: str) -> str:
    """Return the token of a cookie; empty if there is none, or if it is not a token.

    >>> token = "x" * 43
    >>> read(f"a=1; karat={token}", "karat") == token, read("karat=1", "karat"), read("karat=;;=", "karat")
    (True, '', '')
    """
    try:
        cookie = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return cookie.value if cookie is not None and is_token(cookie.value) else ""


def csrf_of(token: str) -> str:
    """Return the CSRF token, which a page sends with every change; it cannot be made without the cookie."""
    return hashlib.sha256(f"karat-csrf:{token}".encode()).hexdigest()


def same(text: str, secret: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(text.encode("utf-8", "replace"), secret.encode())
