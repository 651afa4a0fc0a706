"""Which Host a request may name: other names are how a foreign page reaches a server on this machine."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from karat.web.security.refusing import header, refuse
from karat.web.settings import EVERYWHERE, LOOPBACK, Settings

SHAPE = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?", re.ASCII)


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """Return the names that a server answers to; addresses in numbers need no list.

    >>> sorted(allowed_hosts(Settings("own.db", url="https://judge.example.org")))
    ['127.0.0.1', '[::1]', 'judge.example.org', 'localhost']
    """
    ours = {*LOOPBACK, settings.host.lower(), urlsplit(settings.url).hostname or ""}
    return frozenset(ours - set(EVERYWHERE))


def is_allowed(host: str, names: frozenset[str], local: bool) -> bool:
    """Whether a Host header names this server.

    A name of letters can be made to point here by anybody; an address in numbers cannot.

    >>> names = frozenset(["localhost", "127.0.0.1"])
    >>> is_allowed("localhost:80", names, True), is_allowed("evil.example", names, True)
    (True, False)
    >>> is_allowed("10.0.0.1:80", names, True), is_allowed("10.0.0.1:80", names, False)
    (False, True)
    """
    found = SHAPE.fullmatch(host.lower())
    if found is None:
        return False
    if found[1] in names:
        return True
    try:
        ipaddress.ip_address(found[1].strip("[]"))
    except ValueError:
        return False
    return not local


class Hosts:
    """Refuse requests that were meant for another host.

    Parameters
    ----------
    app
        What is inside.
    settings
        They say which names are ours.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.names, self.local = app, allowed_hosts(settings), settings.local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and not is_allowed(
            header(scope["headers"], b"host") or "", self.names, self.local
        ):
            await refuse(send, 400, "This server does not go by that name.")
            return
        await self.app(scope, receive, send)
