"""The cookies: of a session, of a visitor who has not signed in, and of a device; and the CSRF token."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from typing import Any

from starlette.responses import Response

from karat._util import is_sealed, seal
from karat.store.accounts import is_token, new_token

DEVICE_SECONDS = 180 * 86_400
"""How long after signing in a browser is known."""
DEVICE = re.compile(r"(\d{1,12})\.([A-Za-z0-9_-]{43})\.([0-9a-f]{64})", re.ASCII)
OURS = re.compile(r"[A-Za-z0-9_.-]{1,200}", re.ASCII)


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
        self.device = f"{prefix}karat-device-{mark}"
        self.place, self.path, self.secure, self.seconds = place, path or "/", secure, int(seconds)

    def own(self, header: str) -> str:
        """Return a Cookie header with our own cookies alone, of those that may be ours.

        What follows reads all cookies (FastAPI does for every route, by http.cookies), and removing the
        quotes of one that was made for that takes it minutes.
        """
        found = ((name, value_of(header, name)) for name in (self.session, self.visit, self.device))
        return "; ".join(f"{name}={value}" for name, value in found if OURS.fullmatch(value))

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

    def has_device(self, header: str) -> bool:
        """Whether a Cookie header has what may be the cookie of a device."""
        return DEVICE.fullmatch(value_of(header, self.device)) is not None

    def device_of(self, header: str, account: tuple[object, ...], now: float | None = None) -> str:
        """Return the number of the device of a Cookie header; empty unless the account has signed in there.

        Parameters
        ----------
        header
            The Cookie header.
        account
            What a seal of this account covers: it differs for every account, and after each change of the
            password.
        now
            The time.
        """
        found = DEVICE.fullmatch(value_of(header, self.device))
        now = time.time() if now is None else now
        # A clock that was moved back makes no cookie invalid, nor one of a far future eternal.
        if found is None or abs(now - int(found[1])) > DEVICE_SECONDS:
            return ""
        known = is_sealed(found[3], "device", self.place, found[1], found[2], *account)
        return found[2] if known else ""

    def set_device(self, response: Response, header: str, account: tuple[object, ...], https: bool) -> None:
        """Set the cookie of a device from which an account has signed in; a known one keeps its number."""
        number, issued = self.device_of(header, account) or new_token(), str(int(time.time()))
        mark = seal("device", self.place, issued, number, *account)
        value = f"{issued}.{number}.{mark}"
        response.set_cookie(self.device, value, max_age=DEVICE_SECONDS, **self._how(https))

    def _how(self, https: bool) -> dict[str, Any]:
        return {"path": self.path, "secure": self.secure or https, "httponly": True, "samesite": "strict"}


def read(header: str, name: str) -> str:
    """Return the token of a cookie; empty if there is none, or if it is not a token.

    >>> token = "x" * 43
    >>> read(f"a=1; karat={token}", "karat") == token, read("karat=1", "karat"), read("karat=;;=", "karat")
    (True, '', '')
    """
    value = value_of(header, name)
    return value if is_token(value) else ""


def value_of(header: str, name: str) -> str:
    """Return the value of a cookie, the last one of its name; empty if there is none.

    Our values are never quoted.

    >>> value_of('a="1; b=2"; karat=x; karat = y=z ', "karat")
    'y=z'
    """
    value = ""
    for part in header.split(";"):
        key, _, found = part.partition("=")
        if key.strip() == name:
            value = found.strip()
    return value


def csrf_of(token: str) -> str:
    """Return the CSRF token, which a page sends with every change; it cannot be made without the cookie."""
    return hashlib.sha256(f"karat-csrf:{token}".encode()).hexdigest()


def same(text: str, secret: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(text.encode("utf-8", "replace"), secret.encode())
