"""The middleware: security headers, allowed hosts, origins of changes, sizes of bodies, the path prefix."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import re
import secrets
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.web.security.cookies import Cookies, csrf_of, same
from karat.web.settings import EVERYWHERE, LOOPBACK, Settings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
ALWAYS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Other sites must not see the address of an invitation; our own pages need it to prove their origin.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?", re.ASCII)
SAFE = ("GET", "HEAD", "OPTIONS")
DRAINED = 8
"""How many times the limit of a body is read and discarded before a connection is closed."""
LOG = logging.getLogger("karat.web")


async def refuse(send: Send, status: int, sentence: str) -> None:
    """Send an error and close the connection."""
    body = json.dumps({"error": sentence}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def header(headers: list[tuple[bytes, bytes]], name: bytes) -> str | None:
    """Return the value of a header; None if it is missing, empty if it is a duplicate."""
    values = [value for key, value in headers if key == name]
    if not values:
        return None
    return values[0].decode("latin-1") if len(values) == 1 else ""


class Headers:
    """Set the security headers of every response, and answer 500 after an error inside.

    Parameters
    ----------
    app
        The inner application.
    secure
        Whether users connect by https; browsers then never use plain http again.
    """

    def __init__(self, app: ASGIApp, secure: bool = False) -> None:
        self.app = app
        values = ALWAYS | ({"strict-transport-security": "max-age=31536000"} if secure else {})
        self.always = [(key.encode(), value.encode()) for key, value in values.items()]
        self.names = {key for key, _ in self.always}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_marked(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": self.complete(list(message.get("headers", [])))}
            await send(message)

        try:
            await self.app(scope, receive, send_marked)
        except Exception:
            number = secrets.token_hex(4)
            # Never the query or the body: they may contain names.
            LOG.exception("error %s in %s", number, scope.get("method"))
            if started:
                raise
            await refuse(
                send_marked, 500, f"The server has failed; its log has the details as error {number}."
            )

    def complete(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return the headers with ours, which routes cannot weaken."""
        kept = [(key, value) for key, value in headers if key.lower() not in self.names and key != b"server"]
        if not any(key.lower() == b"cache-control" for key, _ in kept):
            kept.append((b"cache-control", b"no-store"))
        return kept + self.always


class Hosts:
    """Refuse requests for another host: that is how a foreign page reaches a server on this machine.

    Parameters
    ----------
    app
        The inner application.
    settings
        The settings, which name the server.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.names, self.local = app, allowed_hosts(settings), settings.local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and not is_allowed(
            header(scope["headers"], b"host") or "", self.names, self.local
        ):
            await refuse(send, 400, "The Host header does not name this server.")
            return
        await self.app(scope, receive, send)


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """Return the host names of a server; numeric addresses need no list.

    >>> sorted(allowed_hosts(Settings("own.db", url="https://judge.example.org")))
    ['127.0.0.1', '[::1]', 'judge.example.org', 'localhost']
    """
    names = {*LOOPBACK, settings.host.lower(), urlsplit(settings.url).hostname or ""}
    return frozenset(names - set(EVERYWHERE))


def is_allowed(host: str, names: frozenset[str], local: bool) -> bool:
    """Whether a Host header names this server.

    Anyone can make a name point here, but not a numeric address.

    >>> names = frozenset(["localhost", "127.0.0.1"])
    >>> is_allowed("localhost:80", names, True), is_allowed("evil.example", names, True)
    (True, False)
    >>> is_allowed("10.0.0.1:80", names, True), is_allowed("10.0.0.1:80", names, False)
    (False, True)
    """
    match = HOST.fullmatch(host.lower())
    if match is None:
        return False
    if match[1] in names:
        return True
    try:
        ipaddress.ip_address(match[1].strip("[]"))
    except ValueError:
        return False
    return not local


class Origins:
    """Refuse changes that do not come from our own pages, by the browser's headers and the page's CSRF token.

    Cookies that are not ours go no further.

    Parameters
    ----------
    app
        The inner application.
    settings
        The settings, which name our origin besides the request's own host.
    cookies
        The cookies, from which the CSRF token is made.
    """

    def __init__(self, app: ASGIApp, settings: Settings, cookies: Cookies) -> None:
        self.app, self.cookies = app, cookies
        self.ours = settings.origin if settings.url else ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with our own cookies, or refuse it."""
        if scope["type"] == "http":
            sent = "; ".join(value.decode("latin-1") for key, value in scope["headers"] if key == b"cookie")
            others = [(key, value) for key, value in scope["headers"] if key != b"cookie"]
            own = [(b"cookie", self.cookies.own(sent).encode("ascii"))] if sent else []
            scope = {**scope, "headers": others + own}
            if scope["method"] not in SAFE and (wrong := self.wrong(scope)):
                await refuse(send, 403, wrong)
                return
        await self.app(scope, receive, send)

    def wrong(self, scope: Scope) -> str:
        """Return what is wrong with a change; empty if nothing is."""
        headers = scope["headers"]
        origin, site = header(headers, b"origin"), header(headers, b"sec-fetch-site")
        if site not in (None, "same-origin") or (origin is None and site is None):
            return "This request does not come from a page of this server."
        own = f"{scope.get('scheme', 'http')}://{header(headers, b'host') or ''}".lower()
        if origin is not None and origin.lower() not in (own, self.ours or own):
            return "This request comes from another site."
        token, is_new = self.cookies.guarded_by(header(headers, b"cookie") or "")
        if is_new or not same(header(headers, b"x-csrf-token") or "", csrf_of(token)):
            return "This page is outdated or belongs to another user. Reload it."
        return ""


class TooLarge(Exception):
    """The body exceeds the limit."""


class Bodies:
    """Read a body completely, within limits, before any route runs: a slow client occupies no thread.

    Parameters
    ----------
    app
        The inner application.
    limit
        The most bytes.
    seconds
        How long the whole body may take.
    """

    def __init__(self, app: ASGIApp, limit: int, seconds: float) -> None:
        self.app, self.limit, self.seconds = app, limit, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or not has_body(scope):
            await self.app(scope, receive, send)
            return
        length = header(scope["headers"], b"content-length")
        announced = int(length[:20]) if length is not None and length.isdecimal() else 0
        try:
            if announced > self.limit:
                raise TooLarge
            messages = await asyncio.wait_for(self.collect(receive), self.seconds)
        except TooLarge:
            if announced <= DRAINED * self.limit:
                await self.drain(receive)
            await refuse(send, 413, f"The request is too large: at most {self.limit:,} bytes.")
            return
        except TimeoutError:
            await refuse(send, 408, f"The request took more than {self.seconds:g} seconds to arrive.")
            return
        if messages[-1]["type"] == "http.disconnect":
            # Nobody reads this; without it, the log would call it an error of the server.
            await refuse(send, 400, "The request did not arrive completely.")
            return
        await self.app(scope, replay(messages, receive), send)

    async def collect(self, receive: Receive) -> list[Message]:
        """Return all messages of a body."""
        messages: list[Message] = []
        size = 0
        while True:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if size > self.limit:
                raise TooLarge
            if not message.get("more_body", False):
                return messages

    async def drain(self, receive: Receive) -> None:
        """Discard the rest for a moment: a client that is still sending does not read the response."""
        left = DRAINED * self.limit
        with suppress(TimeoutError):
            async with asyncio.timeout(min(self.seconds, 2.0)):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return


def has_body(scope: Scope) -> bool:
    """Whether the headers announce a body."""
    return any(key in (b"content-length", b"transfer-encoding") for key, _ in scope["headers"])


def replay(messages: list[Message], receive: Receive) -> Receive:
    """Return a `receive` that yields the collected messages, and then new ones."""
    waiting = iter(messages)

    async def again() -> Message:
        for message in waiting:
            return message
        return await receive()

    return again


class Prefix:
    """Serve all pages below a path, behind a proxy that strips the prefix or one that keeps it.

    Parameters
    ----------
    app
        The inner application.
    path
        The prefix, such as "/karat"; empty for none.
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app, self.path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if self.path and scope["type"] == "http":
            path = scope["path"]
            if path != self.path and not path.startswith(f"{self.path}/"):
                path = self.path + path
            scope = {**scope, "path": path, "root_path": self.path}
        await self.app(scope, receive, send)
