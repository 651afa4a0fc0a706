"""HTTP with an end to patience: who does not finish the first lines of a request is cut off."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 15.0
"""How long the headers of a request may take; bodies have a limit of their own."""


class Patient(H11Protocol):
    """uvicorn's HTTP, but a connection on which a request never gets complete is closed."""

    patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait with the connection."""
        super().connection_made(transport)
        self.wait_for_request()

    def handle_events(self) -> None:
        """Handle what has come; wait for the rest of a request that is not complete."""
        super().handle_events()
        if self.is_idle():
            self.wait_for_request()
        elif self.patience is not None:
            self.patience.cancel()
            self.patience = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        if self.patience is not None:
            self.patience.cancel()
        super().connection_lost(exc)

    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def wait_for_request(self) -> None:
        """Give the client some time, once: what trickles in does not lengthen it."""
        if self.patience is None:
            self.patience = self.loop.call_later(HEADER_SECONDS, self.give_up)

    def give_up(self) -> None:
        """Close the connection unless a request is being answered."""
        self.patience = None
        if self.is_idle() and not self.transport.is_closing():
            self.transport.close()
