"""Bodies of requests: not too large, and not too slow."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.web.security.refusing import header, refuse

DRAINED = 8
"""How many times the limit is thrown away before a connection is cut."""


class TooLarge(Exception):
    """The body exceeds the limit."""


class Bodies:
    """Take a body in whole, within limits, before anything inside runs.

    So a slow client holds nothing but its own connection, and no thread.

    Parameters
    ----------
    app
        What is inside.
    most
        How many bytes at most.
    seconds
        How long it may take altogether.
    """

    def __init__(self, app: ASGIApp, most: int, seconds: float) -> None:
        self.app, self.most, self.seconds = app, most, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or not has_body(scope):
            await self.app(scope, receive, send)
            return
        length = header(scope["headers"], b"content-length")
        announced = int(length[:20]) if length is not None and length.isdecimal() else 0
        try:
            if announced > self.most:
                raise TooLarge
            messages = await asyncio.wait_for(self.collect(receive), self.seconds)
        except TooLarge:
            if announced <= DRAINED * self.most:
                await self.drain(receive)
            await refuse(send, 413, f"The request is too large: at most {self.most:,} bytes.")
            return
        except TimeoutError:
            await refuse(send, 408, f"The request took more than {self.seconds:g} seconds to arrive.")
            return
        if messages[-1]["type"] != "http.disconnect":
            await self.app(scope, replay(messages, receive), send)

    async def collect(self, receive: Receive) -> list[Message]:
        """Return the messages of a body, the last included."""
        messages: list[Message] = []
        size = 0
        while True:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if size > self.most:
                raise TooLarge
            if not message.get("more_body", False):
                return messages

    async def drain(self, receive: Receive) -> None:
        """Throw away what still comes, for a moment: who is still sending does not read the answer."""
        left = DRAINED * self.most
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
    """Return a `receive` that tells what has come, and then whatever comes."""
    waiting = iter(messages)

    async def again() -> Message:
        for message in waiting:
            return message
        return await receive()

    return again
