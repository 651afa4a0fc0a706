"""Logs as lines of JSON without secrets; every request is counted, timed and logged.

An error is logged by its type and its places in the code, never by its message, which may contain a name, a
caption or a token. A request is logged by the pattern of its route, never by its path or query, which may
contain the token of an invitation.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.web.operation.metrics import METHODS, Requests

REQUEST: ContextVar[str] = ContextVar("karat_request", default="")
"""The id of the request that is being answered, in every thread."""
FRAMES = 30
LOG = logging.getLogger("karat.web.requests")
NOTE = "karat.note"
OTHER = "other"
"""The route of a path that no route matches."""
STREAM = b"text/event-stream"


class JsonLines(logging.Formatter):
    """Format a record as one line of JSON.

    The fields that a caller passes as ``extra={"fields": {...}}`` are added to the message.

    Examples
    --------
    >>> record = logging.LogRecord("karat.web", logging.INFO, "", 0, "started on %d", (80,), None)
    >>> record.created = 0.0
    >>> JsonLines().format(record)
    '{"at": "1970-01-01T00:00:00.000Z", "level": "info", "logger": "karat.web", "message": "started on 80"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "at": moment(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if number := REQUEST.get():
            line["request"] = number
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])[-FRAMES:]
            line["frames"] = [f"{place(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line, ensure_ascii=True)


def moment(at: float) -> str:
    """Return a time in UTC, to the millisecond.

    >>> moment(1.5)
    '1970-01-01T00:00:01.500Z'
    """
    return datetime.fromtimestamp(at, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def place(file: str) -> str:
    """Return the end of a file's path, without the folders of this machine.

    >>> place("/home/ann/lib/karat/web/app.py")
    'karat/web/app.py'
    """
    parts = file.replace("\\", "/").split("/")
    start = len(parts) - 1 - parts[::-1].index("karat") if "karat" in parts else max(len(parts) - 2, 0)
    return "/".join(parts[start:])


def log_config(level: str = "INFO") -> dict[str, Any]:
    """Return the configuration for `logging.config.dictConfig`: lines of JSON on standard error.

    Parameters
    ----------
    level
        The level of karat's own logs; uvicorn's level is WARNING.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonLines}},
        "handlers": {
            "json": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}
        },
        "loggers": {
            "karat": {"handlers": ["json"], "level": level, "propagate": False},
            "uvicorn": {"handlers": ["json"], "level": "WARNING", "propagate": False},
        },
    }


class RequestLog:
    """Count, time and log every request, including those that the security middleware refuses.

    It is the outermost middleware; `RouteLog`, next to the routes, tells it which route answered.

    Parameters
    ----------
    app
        The inner application.
    requests
        The metrics of requests.
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

        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                note["status"] = message["status"]
                headers = [*message.get("headers", []), (b"x-request-id", number.encode())]
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self.app({**scope, NOTE: note}, receive, send_noted)
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
        # 503 is logged once for all requests, by `karat.web.failures`.
        level = logging.ERROR if status >= 500 and status != 503 else logging.INFO
        LOG.log(level, "request", extra={"fields": fields})


class RouteLog:
    """Note the route and the user of a request for `RequestLog`.

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
    """Return the pattern of the route that answered a request, such as "/api/judge/image/{item}".

    >>> route_of({"root_path": "/karat/static"}, "/karat"), route_of({"root_path": "/karat"}, "/karat")
    ('/static', 'other')
    """
    pattern = getattr(scope.get("route"), "path", None)
    if isinstance(pattern, str) and pattern:
        return pattern
    # A mounted application, such as the static files, has moved the start of the path into `root_path`.
    return str(scope.get("root_path", "")).removeprefix(base) or OTHER


class Streams:
    """Count streams of events, and end them when the server stops; browsers reconnect by themselves.

    Parameters
    ----------
    app
        The inner application.
    stopping
        Set when the server stops.
    requests
        The metrics of requests.
    """

    def __init__(self, app: ASGIApp, stopping: asyncio.Event, requests: Requests) -> None:
        self.app, self.stopping, self.requests = app, stopping, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        # Browsers read streams by GET; other requests need not wait for two things at once.
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        streaming, complete = False, False

        async def send_counted(message: Message) -> None:
            nonlocal streaming, complete
            if message["type"] == "http.response.start" and is_stream(message):
                streaming = True
                self.requests.streams.inc()
                scope.get(NOTE, {})["stream"] = True
            elif message["type"] == "http.response.body":
                complete = not message.get("more_body", False)
            await send(message)

        async def receive_until_stop() -> Message:
            message = asyncio.ensure_future(receive())
            stop = asyncio.ensure_future(self.stopping.wait())
            try:
                await asyncio.wait((message, stop), return_when=asyncio.FIRST_COMPLETED)
                if not message.done() and streaming:
                    return {"type": "http.disconnect"}
                return await message
            finally:
                message.cancel()
                stop.cancel()

        try:
            await self.app(scope, receive_until_stop, send_counted)
            if streaming and not complete:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            if streaming:
                self.requests.streams.dec()


def is_stream(message: Message) -> bool:
    """Whether a response is a stream of events.

    >>> is_stream({"headers": [(b"content-type", b"text/event-stream; charset=utf-8")]})
    True
    """
    return any(
        key.lower() == b"content-type" and value.startswith(STREAM)
        for key, value in message.get("headers", [])
    )
