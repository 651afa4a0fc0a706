"""How a server is set up; every limit stands here."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

from karat.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine that no other machine can take."""

EVERYWHERE = ("0.0.0.0", "::", "")
"""Listening on these is listening on every address of this machine."""


@dataclass(frozen=True)
class Settings:
    """How a server is set up.

    Parameters
    ----------
    project
        The file or the address of the project.
    host, port
        Where it listens.
    url
        The address that people type, such as "https://judge.example.org/karat"; left out, it is where
        it listens.
    prefix
        The path below which everything lies, such as "/karat"; that of `url` when left out.
    proxies
        Addresses of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed.
    most_bytes, body_seconds
        The largest body of a request, and how long it may take to arrive.
    session_seconds, idle_seconds
        How long a session lasts at most, and without a request.
    invitation_seconds
        How long a link holds unless the owner says otherwise.
    lease_seconds
        How long a task is held for somebody who does not go on.
    published
        The folder for what is published; one that goes with the server when left out.
    demo
        Whether this is a demonstration.

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
    most_bytes: int = 262_144
    body_seconds: float = 10.0
    session_seconds: float = 14 * 86_400.0
    idle_seconds: float = 3 * 86_400.0
    invitation_seconds: float = 7 * 86_400.0
    lease_seconds: float = 1800.0
    published: str = ""
    demo: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if self.url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query):
            raise InputError(
                f"the address is {self.url!r:.80}", fix="write it like https://judge.example.org"
            )
        if not re.fullmatch(r"(/[\w.~-]+)*", self.path, re.ASCII) or {".", ".."} & set(self.path.split("/")):
            raise InputError(f"the prefix is {self.path!r:.80}", fix="write it like /karat")

    @property
    def path(self) -> str:
        """The prefix, with a slash before and none behind; empty where there is none."""
        given = (self.prefix or urlsplit(self.url).path).strip("/")
        return f"/{given}" if given else ""

    @property
    def secure(self) -> bool:
        """Whether people come by https."""
        return self.url.startswith("https:")

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def public(self) -> bool:
        """Whether somebody else than this machine's users may reach it, be it by way of a proxy."""
        return (
            not self.local
            or bool(self.proxies)
            or not is_loopback(urlsplit(self.url).hostname or "localhost")
        )

    @property
    def origin(self) -> str:
        """Scheme and host of the address that people type; browsers send it with every change."""
        if self.url:
            parts = urlsplit(self.url)
            return f"{parts.scheme}://{parts.netloc}".lower()
        host = own_address(self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def address(self) -> str:
        """Where the pages are, without a slash at the end."""
        return f"{self.origin}{self.path}"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine and nothing else.

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
    """Return where a server that listens on `host` can be reached: for "everywhere", this machine's address.

    >>> own_address("127.0.0.1")
    '127.0.0.1'
    """
    if host not in EVERYWHERE:
        return host
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            # Nothing is sent: the system only says by which of its addresses it would be.
            asked.connect(("192.0.2.1", 9))
            return str(asked.getsockname()[0])
    except OSError:
        return "127.0.0.1"
