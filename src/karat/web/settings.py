"""The settings of a server, with every limit."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

from karat.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine that cannot point to another machine."""

EVERYWHERE = ("0.0.0.0", "::", "")
"""Listening on these is listening on every address of this machine."""


@dataclass(frozen=True)
class Settings:
    """The settings of a server.

    Parameters
    ----------
    project
        The project's file or PostgreSQL address.
    host, port
        Where it listens.
    url
        The address that users type, such as "https://judge.example.org/karat"; by default, the address
        on which it listens.
    prefix
        The path of all pages, such as "/karat"; by default, the path of `url`.
    proxies
        Addresses of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted.
    most_connections
        How many connections are open at a time; further ones are answered with 503, except for /health. Less
        where the system allows fewer descriptors.
    most_bytes, body_seconds
        The largest request body, and how long it may take to arrive.
    session_seconds, idle_seconds
        How long a session lasts, and how long without a request.
    invitation_seconds
        How long an invitation link is valid by default.
    lease_seconds
        How long a task stays leased to an annotator who does not continue.
    published
        The folder for published benchmarks; by default a temporary one, removed when the server stops.
    demo
        Whether this is the demonstration.
    runs
        Files of runs, among which the owner can choose those of the goal.

    Examples
    --------
    >>> settings = Settings("own.db", url="https://judge.example.org/karat/")
    >>> settings.path, settings.secure, settings.address
    ('/karat', True, 'https://judge.example.org/karat')
    >>> Settings("own.db", port=8000).address
    'http://127.0.0.1:8000'
    """

    project: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 8765
    url: str = ""
    prefix: str = ""
    proxies: tuple[str, ...] = ()
    most_connections: int = 2000
    most_bytes: int = 262_144
    body_seconds: float = 10.0
    session_seconds: float = 14 * 86_400.0
    idle_seconds: float = 3 * 86_400.0
    invitation_seconds: float = 7 * 86_400.0
    lease_seconds: float = 1800.0
    published: str = ""
    demo: bool = False
    runs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if self.url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query):
            raise InputError(
                f"{self.url!r:.80} is not a web address", fix="write it like https://judge.example.org"
            )
        if not re.fullmatch(r"(/[\w.~-]+)*", self.path, re.ASCII) or {".", ".."} & set(self.path.split("/")):
            raise InputError(f"{self.path!r:.80} is not a prefix", fix="write it like /karat")

    @property
    def path(self) -> str:
        """The prefix, with a leading slash and no trailing one; empty if there is none."""
        path = (self.prefix or urlsplit(self.url).path).strip("/")
        return f"/{path}" if path else ""

    @property
    def secure(self) -> bool:
        """Whether users connect by https."""
        return self.url.startswith("https:")

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def public(self) -> bool:
        """Whether other machines can reach it, directly or through a proxy."""
        return (
            not self.local
            or bool(self.proxies)
            or not is_loopback(urlsplit(self.url).hostname or "localhost")
        )

    @property
    def origin(self) -> str:
        """Scheme and host of the address that users type; browsers send it with every change."""
        if self.url:
            parts = urlsplit(self.url)
            return f"{parts.scheme}://{parts.netloc}".lower()
        host = own_address(self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def address(self) -> str:
        """The address of the pages, without a trailing slash."""
        return f"{self.origin}{self.path}"


def is_loopback(host: str) -> bool:
    """Whether a host name or address always means this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@cache
def own_address(host: str) -> str:
    """Return the address of a server that listens on `host`: for "everywhere", this machine's own address.

    >>> own_address("127.0.0.1")
    '127.0.0.1'
    """
    if host not in EVERYWHERE:
        return host
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            # Nothing is sent: the system only tells which of its addresses it would use.
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
    except OSError:
        return "127.0.0.1"
