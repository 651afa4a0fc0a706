"""Starting and stopping the server."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from karat.errors import InputError
from karat.web.protocol import Patient
from karat.web.settings import Settings

GRACE = 10
"""For how many seconds open requests may finish when the server stops."""


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


@contextmanager
def until_stopped() -> Iterator[None]:
    """Let a block end quietly on SIGTERM as on Ctrl+C, after everything that it opened was closed.

    uvicorn finishes open requests and then raises the signal again, which would end the program there.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or raise; port 0 takes a free one."""
    if not 0 <= port <= 65_535:
        raise InputError(f"there is no port {port}", fix="choose one up to 65535")
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # With its protocol named, asyncio sends small answers at once instead of waiting for more (Nagle).
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(place)
            listening.listen(2048)
        except OSError:
            listening.close()
            raise
        return listening
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no such host"
        raise InputError(
            f"cannot listen on {host}, port {port} ({reason})", fix="choose another with --host or --port"
        ) from None


def make_server(app: FastAPI, settings: Settings, logs: dict[str, Any] | None = None) -> uvicorn.Server:
    """Return the server, ready to run; it stops in order on SIGINT and SIGTERM.

    Requests are logged by `karat.web.operation` alone: uvicorn's own log would hold addresses and queries.

    Parameters
    ----------
    app
        What `create_app` returned.
    settings
        Its settings.
    logs
        How to log, as `logging.config.dictConfig` takes it; None leaves that as it is.
    """
    config = uvicorn.Config(
        app,
        log_config=logs,
        http=Patient,
        ws="none",
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        timeout_keep_alive=20,
        timeout_graceful_shutdown=GRACE,
    )
    return OrderlyServer(config)
