"""A server that ends in order: streams first, then requests that are being answered, then the writer."""

from __future__ import annotations

import socket

import uvicorn


class OrderlyServer(uvicorn.Server):
    """uvicorn's server; before it waits for open requests, it tells the application that it is to stop.

    The application's `state.stopping`, an `asyncio.Event`, ends streams. Its writer stores what waits after
    the last request has been answered.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        stopping = getattr(getattr(self.config.app, "state", None), "stopping", None)
        if stopping is not None:
            stopping.set()
        await super().shutdown(sockets)
