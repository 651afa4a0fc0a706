"""The server: who may reach it, the owner's link, the socket, and an orderly shutdown."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, cast

import uvicorn
from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from karat.errors import InputError, printable
from karat.store import DESCRIPTORS, Project, StoreError, shared_files
from karat.store.accounts import ENTER, OWNER, Accounts
from karat.web.connections import SPARE, STALLED, TimedProtocol
from karat.web.failures import sentence_of
from karat.web.settings import Settings

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

GRACE = 10
"""How many seconds running requests may take to finish when the server stops."""
LINK_SECONDS = 86_400.0
MOST_DESCRIPTORS, RESERVED = 65_536, 256
"""How many descriptors to ask the system for, and how many are kept for files."""
DEMO_OWNER = "demo owner"


def check_open(accounts: Accounts, settings: Settings) -> None:
    """Raise if others can reach the server but no owner has a password."""
    if settings.public and not accounts.users.has_owner():
        own = ", or --confirm if the project with its accounts is your own" if accounts.foreign()[0] else ""
        raise InputError(
            "others could reach this server, but the project has no owner with a password",
            where=accounts.where,
            fix=f"pass --owner NAME to create one{own}",
        )


def mode_note(project: Project) -> str:
    """Return a sentence about files that other users of this machine can read; empty if there are none."""
    shared = [] if project.path is None else shared_files(project.path)
    if not shared:
        return ""
    modes = ", ".join(f"{path.name} has mode {mode:04o}" for path, mode in shared)
    files = " ".join(path.name for path, _ in shared)
    return (
        f"other users of this machine can access the project with its answers and password hashes ({modes}); "
        f"unless you want that, run chmod 600 {files}"
    )


def owner_link(accounts: Accounts, settings: Settings) -> str | None:
    """Return a link that works once, for a day: it creates the first owner, or signs the owner in.

    Links of earlier starts stop working. On a server that others can reach, owners sign in with a password.
    """
    accounts.invitations.drop_server_links()
    owners = [user.id for user in accounts.users.read() if user.is_owner]
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
        listening = Listening(family, kind, protocol)
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


class Listening(socket.socket):
    """A listening socket that survives without descriptors.

    asyncio would log a traceback for each attempt to accept a connection, thousands per second. Here a spare
    descriptor is given up for a moment: the connection is accepted, answered with 503, and closed.
    """

    spare: int | None = None
    on_refuse: Callable[[], object] | None = None

    def listen(self, backlog: int = 2048, /) -> None:
        """Listen, and keep a spare descriptor."""
        super().listen(backlog)
        self._keep_spare()

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection; without descriptors, refuse one."""
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE) or not self._refuse():
                raise
            # As if no connection waited: asyncio tries again at once, without a line in the log.
            raise BlockingIOError(errno.EAGAIN, "refused") from None

    def close(self) -> None:
        """Close the socket and the spare descriptor."""
        super().close()
        if self.spare is not None:
            os.close(self.spare)
            self.spare = None

    def _keep_spare(self) -> None:
        if self.spare is None:
            with suppress(OSError):
                self.spare = os.open(os.devnull, os.O_RDONLY)

    def _refuse(self) -> bool:
        """Answer a waiting connection with 503; return whether the spare descriptor could be used for it."""
        if self.on_refuse is not None:
            self.on_refuse()
        self._keep_spare()
        if self.spare is None:
            return False
        os.close(self.spare)
        self.spare = None
        try:
            with suppress(BlockingIOError):
                connection, _ = super().accept()
                with connection:
                    say_full(connection)
        except OSError:
            return False
        finally:
            self._keep_spare()
        return True


def say_full(connection: socket.socket) -> None:
    """Answer a connection whose request is not read, as /health would."""
    body = f'{{"status": "failing", "state": "{DESCRIPTORS}", "error": "{sentence_of(DESCRIPTORS)}"}}'
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 5\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with suppress(OSError):
        connection.settimeout(0.002)  # everybody else waits meanwhile
        connection.sendall(f"{head}{body}".encode("ascii"))
        connection.shutdown(socket.SHUT_WR)
        # A request that was not read would reset the connection before the client reads the answer.
        connection.recv(65_536)


def raise_descriptor_limit() -> None:
    """Let this process open as many files as the system allows: each connection is one."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def most_connections(settings: Settings) -> int:
    """Return how many connections may be open, so that descriptors are left for files."""
    soft = -1 if resource is None else resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft < 0:  # no limit
        return settings.most_connections
    return max(16, min(settings.most_connections, soft - RESERVED - SPARE))


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
    most = most_connections(settings)
    protocol = type(
        "LimitedProtocol",
        (TimedProtocol,),
        {
            "most": most,
            "share": most // 2,
            "prefix": settings.path,
            # Whom X-Forwarded-For is believed of, so that both mean the same.
            "proxies": ProxyHeadersMiddleware(cast("Any", app), list(settings.proxies)).trusted_hosts,
            "addresses": Counter(),
            "crowd": {},
            "failures": getattr(app.state, "failures", None),
        },
    )
    config = uvicorn.Config(
        app,
        log_config=logs,
        # Not uvloop, which accepts connections by itself.
        loop="asyncio",
        http=protocol,
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

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start; when descriptors run out, one line is logged instead of a traceback for each attempt."""
        failures = getattr(getattr(self.config.app, "state", None), "failures", None)
        if failures is not None:
            for listening in sockets or ():
                if isinstance(listening, Listening):
                    listening.on_refuse = lambda: failures.note(DESCRIPTORS)

            def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
                if getattr(context.get("exception"), "errno", None) in (errno.EMFILE, errno.ENFILE):
                    failures.note(DESCRIPTORS)
                else:
                    loop.default_exception_handler(context)

            asyncio.get_running_loop().set_exception_handler(handle)
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, and say what was kept."""
        state: Any = getattr(self.config.app, "state", None)
        if hasattr(state, "stopping"):
            state.stopping.set()
            # Guesses that wait for a hash would delay the end by seconds.
            state.attempts.close(wait=False)
            if not state.settings.demo:
                # The last but one: the writer has stored what waited, the project is still open.
                state.closing.insert(1, lambda: tell_kept(state.project, state.writer.figures.saved))
        dropping = asyncio.create_task(self.drop_stalled())
        try:
            await super().shutdown(sockets)
        finally:
            dropping.cancel()

    async def drop_stalled(self) -> None:
        """Close connections that only their client keeps open, until it is cancelled."""
        while True:
            await asyncio.sleep(STALLED)
            for connection in list(self.server_state.connections):
                if isinstance(connection, TimedProtocol) and connection.is_stalled():
                    connection.transport.abort()


def tell_kept(project: Project, saved: int) -> None:
    """Print what was kept, and how to go on; for a file that is lost, the log says where its copy is."""
    try:
        if project.database.file is not None:
            project.database.file.check()
    except StoreError as error:
        print(f"note: stopped; {printable(str(error))}", file=sys.stderr, flush=True)
        return
    kept = f"every acknowledged answer is stored, {saved:,} since the start"
    print(
        printable(f"note: stopped {project.where}; {kept}; start it again to go on"),
        file=sys.stderr,
        flush=True,
    )
