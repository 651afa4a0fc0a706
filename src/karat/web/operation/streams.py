"""Streams of events end when the server is to stop; everything else is finished first."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.web.operation.figures import Requests
from karat.web.operation.request_log import NOTE

KIND = b"text/event-stream"


class Streams:
    """Tell streams that their reader has gone when the server stops; browsers then come back by themselves.

    Parameters
    ----------
    app
        What is inside.
    stopping
        Set when the server is to stop.
    requests
        Where open streams are counted.
    """

    def __init__(self, app: ASGIApp, stopping: asyncio.Event, requests: Requests) -> None:
        self.app, self.stopping, self.requests = app, stopping, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        # Browsers read streams by GET; nothing else has to wait for two things at once.
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        streaming, complete = False, False

        async def seen(message: Message) -> None:
            nonlocal streaming, complete
            if message["type"] == "http.response.start" and is_stream(message):
                streaming = True
                self.requests.streams.inc()
                scope.get(NOTE, {})["stream"] = True
            elif message["type"] == "http.response.body":
                complete = not message.get("more_body", False)
            await send(message)

        async def until_the_end() -> Message:
            coming = asyncio.ensure_future(receive())
            ending = asyncio.ensure_future(self.stopping.wait())
            try:
                await asyncio.wait((coming, ending), return_when=asyncio.FIRST_COMPLETED)
                if not coming.done() and streaming:
                    return {"type": "http.disconnect"}
                return await coming
            finally:
                coming.cancel()
                ending.cancel()

        try:
            await self.app(scope, until_the_end, seen)
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
        key.lower() == b"content-type" and value.startswith(KIND) for key, value in message.get("headers", [])
    )
