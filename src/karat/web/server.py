"""The server: who may reach it, the owner's link, the socket, and an orderly shutdown."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from karat.errors import InputError
from karat.judging.store.accounts import ENTER, OWNER, Accounts
from karat.web.settings import Settings

GRACE = 10
"""How many seconds running requests may take to finish when the server stops."""
HEADER_SECONDS = 15.0
"""How long the headers of a request may take to arrive; bodies have a limit of their own."""
LINK_SECONDS = 86_400.0
DEMO_OWNER = "demo owner"


def check_open(accounts: Accounts, settings: Settings) -> None:
    """Raise if others can reach the server but no owner has a password."""
    if settings.public and not accounts.users.has_owner():
        raise InputError(
            "others could reach this server, but the project has no owner with a password",
            where=accounts.where,
            fix="pass --owner NAME to create one",
        )


def owner_link(accounts: Accounts, settings: Settings) -> str | None:
    """Return a link that works once, for a day: it creates the first owner, or signs the owner in.

    Links of earlier starts stop working. On a server that others can reach, owners sign in with a password.
    """
    accounts.invitations.drop_server_links()
    owners = [user.id for user in accounts.users.read() if user.role == OWNER and user.active]
    if not owners and settings.demo:
        owners = [accounts.users.add(DEMO_OWNER, OWNER, None).id]
    if not owners:
        token = accounts.invitations.invite(OWNER, seconds=LINK_SECONDS)
    elif not settings.public:
        token = accounts.invitations.link_for(owners[0], ENTER, LINK_SECONDS)
    else:
        return None
    return f"{settings.address}/invitation#{token}"


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, or raise; port 0 takes a free port."""
    if not 0 <= port <= 65_535:
        raise InputError(f"{port} is not a port", fix="choose one from 0 to 65535")
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # With its protocol named, asyncio sends small responses at once instead of waiting for more (Nagle).
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
    """Return the server, ready to run; it shuts down cleanly on SIGINT and SIGTERM.

    Requests are logged by `karat.web.operation` alone: uvicorn's own log would contain addresses and queries.

    Parameters
    ----------
    app
        What `create_app` returned.
    settings
        Its settings.
    logs
        The logging configuration, as `logging.config.dictConfig` takes it; None leaves logging unchanged.
    """
    config = uvicorn.Config(
        app,
        log_config=logs,
        http=TimedProtocol,
        ws="none",
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        timeout_keep_alive=20,
        timeout_graceful_shutdown=GRACE,
    )
    return OrderlyServer(config)


@contextmanager
def until_stopped() -> Iterator[None]:
    """Let a block end quietly on SIGTERM as on Ctrl+C, after everything that it opened was closed.

    uvicorn finishes running requests and then raises the signal again, which would end the program there.
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


class OrderlyServer(uvicorn.Server):
    """uvicorn's server; before it waits for running requests, it tells the application that it stops.

    The application's `state.stopping`, an `asyncio.Event`, ends streams. Its writer stores the waiting
    answers after the last request was answered.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        stopping = getattr(getattr(self.config.app, "state", None), "stopping", None)
        if stopping is not None:
            stopping.set()
        await super().shutdown(sockets)


class TimedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with a timeout: a connection whose request headers never complete is closed."""

    timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        self.wait_for_request()

    def handle_events(self) -> None:
        """Handle the events; start the timer for the rest of an incomplete request."""
        super().handle_events()
        if self.is_idle():
            self.wait_for_request()
        elif self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        if self.timer is not None:
            self.timer.cancel()
        super().connection_lost(exc)

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
