"""Every request is counted, timed and logged, those that are refused at the door included.

Two layers: the outer one sees everything; the inner one stands next to the routes and tells which one it was.
The log has the route's pattern, never the path or the query: an invitation's token may stand in them.
"""

from __future__ import annotations

import logging
import secrets
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.web.operation.figures import METHODS, Requests
from karat.web.operation.logs import REQUEST

LOG = logging.getLogger("karat.web.requests")
NOTE = "karat.note"
OTHER = "other"
"""What stands for a path that no route answers to."""


class Outer:
    """Count, time and log requests.

    Parameters
    ----------
    app
        What is inside.
    requests
        Where they are counted.
    """

    def __init__(self, app: ASGIApp, requests: Requests) -> None:
        self.app, self.requests = app, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number, begin = secrets.token_hex(8), time.perf_counter()
        note: dict[str, Any] = {"status": 500, "route": OTHER, "account": None, "stream": False}
        mark = REQUEST.set(number)
        self.requests.running.inc()

        async def seen(message: Message) -> None:
            if message["type"] == "http.response.start":
                note["status"] = message["status"]
                headers = [*message.get("headers", []), (b"x-request-id", number.encode())]
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self.app({**scope, NOTE: note}, receive, seen)
        finally:
            self.requests.running.dec()
            self.finish(scope["method"], note, time.perf_counter() - begin)
            REQUEST.reset(mark)

    def finish(self, method: str, note: dict[str, Any], seconds: float) -> None:
        """Count and log a request that was answered."""
        status, route = note["status"], note["route"]
        self.requests.add(method, route, status, None if note["stream"] else seconds)
        fields = {
            "method": method if method in METHODS else OTHER, "route": route, "status": status,
            "ms": round(seconds * 1000, 1), "account": note["account"],
        }  # fmt: skip
        LOG.log(logging.ERROR if status >= 500 else logging.INFO, "request", extra={"fields": fields})


class Inner:
    """Tell the outer layer which route a request came to, and whose it was.

    Parameters
    ----------
    app
        The routes.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        note = scope.get(NOTE)
        if note is None:
            await self.app(scope, receive, send)
            return
        state, base = scope.setdefault("state", {}), str(scope.get("root_path", ""))
        try:
            await self.app(scope, receive, send)
        finally:
            note["route"] = route_of(scope, base)
            user = state.get("user")
            note["account"] = None if user is None else user.id


def route_of(scope: Scope, base: str) -> str:
    """Return the pattern of the route that a request came to, such as "/api/judge/image/{item}".

    >>> route_of({"root_path": "/karat/static"}, "/karat"), route_of({"root_path": "/karat"}, "/karat")
    ('/static', 'other')
    """
    pattern = getattr(scope.get("route"), "path", None)
    if isinstance(pattern, str) and pattern:
        return pattern
    # A mounted part, such as the static files, has moved the beginning of the path into `root_path`.
    return str(scope.get("root_path", "")).removeprefix(base) or OTHER
