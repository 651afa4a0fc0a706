"""Connections: how many may be open, in all and of one address, and how long a client may take."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Container
from typing import ClassVar

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from karat._util import plural
from karat.web.accounts import network_of
from karat.web.failures import CONNECTIONS, Failures, sentence_of

HEADER_SECONDS = 15.0
"""How long the headers of a request may take to arrive; bodies have a limit of their own."""
STALLED = 2.0
"""How many seconds a server that stops waits for a client that neither sends its request nor reads."""
SPARE = 32
"""How many connections beyond the most are kept to be answered: the newest, so that /health always is."""
CROWDED_ADDRESS = "There are too many connections from your address."
LOG = logging.getLogger("karat.web")


class TimedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with limits: the time that request headers take, and the open connections.

    A connection whose request headers never complete is closed. Connections beyond the most, of all clients
    or of one address, get an answer only from `crowded`; of those, the newest displace the oldest, so that a
    crowd that sends nothing does not keep others from reading /health.
    """

    timer: asyncio.TimerHandle | None = None
    most: int = 2000
    share: int = 1000
    prefix: str = ""
    proxies: Container[str] = ()
    failures: Failures | None = None
    addresses: ClassVar[Counter[str]] = Counter()
    crowd: ClassVar[dict[TimedProtocol, None]] = {}
    warned: float = float("-inf")
    address: str = ""
    paused_at: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        # Behind a proxy, all clients have its address.
        if self.client is not None and self.client[0] not in self.proxies:
            self.address = network_of(self.client[0])
            self.addresses[self.address] += 1
        if len(self.connections) - len(self.crowd) > self.most:
            if self.failures is not None:
                self.failures.note(CONNECTIONS)
            self.join_crowd(sentence_of(CONNECTIONS))
        elif self.addresses[self.address] > self.share:
            self.warn_of_address()
            self.join_crowd(CROWDED_ADDRESS)
        self.wait_for_request()

    def join_crowd(self, sentence: str) -> None:
        """Be answered by `crowded`; the oldest one that sends nothing must go."""
        self.app = crowded(self.app, self.prefix, sentence)
        self.crowd[self] = None
        if len(self.crowd) > SPARE:
            oldest = next(connection for connection in self.crowd if connection.is_idle())
            # Now: asyncio tells of the end only after it has accepted all that wait.
            del self.crowd[oldest]
            self.connections.discard(oldest)
            oldest.transport.abort()

    def warn_of_address(self) -> None:
        """Log once a minute that an address has its share; /health does not fail for that."""
        kind = type(self)
        if self.loop.time() - kind.warned > 60:
            kind.warned = self.loop.time()
            LOG.warning(
                "an address has %s, its share; name it with --proxy if it is one",
                plural(self.share, "connection"),
            )

    def handle_events(self) -> None:
        """Handle the events; start the timer for the rest of an incomplete request."""
        super().handle_events()
        if self.is_idle():
            self.wait_for_request()
        elif self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer, and make room for others."""
        if self.timer is not None:
            self.timer.cancel()
        self.crowd.pop(self, None)
        if self.address:
            self.addresses[self.address] -= 1
            if not self.addresses[self.address]:
                del self.addresses[self.address]
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Note since when the client does not read."""
        self.paused_at = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that the client reads."""
        self.paused_at = None
        super().resume_writing()

    def is_stalled(self) -> bool:
        """Whether everything waits for the client, when the server stops: to read, or to send the rest."""
        if self.is_idle() or self.cycle.more_body:
            return True
        return self.paused_at is not None and self.loop.time() - self.paused_at >= STALLED

    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def wait_for_request(self) -> None:
        """Start the timer, unless it runs: single bytes that arrive do not extend it."""
        if self.timer is None:
            self.timer = self.loop.call_later(HEADER_SECONDS, self.give_up)

    def give_up(self) -> None:
        """Close the connection unless a request is being answered."""
        self.timer = None
        if self.is_idle() and not self.transport.is_closing():
            self.transport.close()


def crowded(app: ASGIApp, prefix: str, sentence: str) -> ASGIApp:
    """Return an application for connections beyond the most: it answers /health, and 503 to the rest."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        # A proxy may have cut the prefix off.
        if scope["type"] == "http" and scope["path"].removeprefix(prefix) == "/health":
            await app(scope, receive, send)
            return
        headers = {"retry-after": "5", "connection": "close"}
        await JSONResponse({"error": sentence}, 503, headers)(scope, receive, send)

    return answer
