"""Limits on failed attempts to sign in, by name and device or address, in memory; and who is hashed first.

A stranger must not lock the owner out, so no limit is by name alone. Failures of one name from one address
cause growing delays there and nowhere else. Two more limits slow down who uses many names or many addresses.
They do not apply to a browser that brings a cookie of an earlier sign-in with that name, which is counted by
itself, nor to an address from which that name has signed in since the server started.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

FREE, FIRST_DELAY = 5, 2.0
"""How many failures of a name from an address have no delay, and the first delay, which then doubles."""
MOST_DELAY, KNOWN_DELAY = 900.0, 60.0
"""The longest delay, and the longest one of a device or address from which the name has signed in before."""
FORGOTTEN = 3600.0
"""After how many seconds without a failure the delays start again."""
MOST_KEYS, MOST_ADDRESSES = 20_000, 16
"""How many keys each limit remembers, the newest, and how many addresses of successful sign-ins per name."""
AT_ONCE, ROOM, OWN_ROOM = 2, 64, 2
"""How many hashes are computed at once, how many attempts of strangers wait for that, and how many of one
user who is known."""
LINKS_WORK = ", or ask an owner for a link: links work meanwhile"
LONGEST = 80
"""How many characters of a name or an address are compared."""
T = TypeVar("T")


class TooMany(Exception):
    """Too many failed attempts: 429.

    Parameters
    ----------
    wait
        How many seconds to wait.
    otherwise
        What else can be done, as the end of a sentence.
    """

    def __init__(self, wait: float, otherwise: str = "") -> None:
        super().__init__(wait)
        self.wait, self.otherwise = max(1, math.ceil(wait)), otherwise


class Counts(Protocol):
    """What counts attempts: `Limit` and `Delays`."""

    def wait(self, key: Hashable, now: float) -> float:
        """Return for how many seconds a key is blocked; 0 if it is not."""

    def count(self, key: Hashable, now: float) -> None:
        """Count an attempt as failed."""

    def succeeded(self, key: Hashable) -> None:
        """Note that an attempt did not fail."""


class Limit:
    """A number of failures of each key at once, and afterwards one whenever its share of a time span is over.

    Parameters
    ----------
    most
        The number of failures at once.
    span
        In how many seconds as many are allowed again.

    Examples
    --------
    >>> limit = Limit(2, 900)
    >>> limit.count("ann", now=0), limit.count("ann", now=0)
    (None, None)
    >>> [limit.wait("ann", now) for now in (0, 150, 450)], limit.wait("bob", 0)
    ([450.0, 300.0, 0.0], 0.0)
    """

    def __init__(self, most: int, span: float = 900.0) -> None:
        self.share, self.span = span / most, span
        # When every failure of a key will be forgotten.
        self._ends: OrderedDict[Hashable, float] = OrderedDict()

    def wait(self, key: Hashable, now: float) -> float:
        """Return for how many seconds a key is blocked; 0 if it is not."""
        # In this order, so that nothing is left of `now` by rounding where the key is unknown.
        return max(0.0, self._ends.get(key, now) - now + self.share - self.span)

    def count(self, key: Hashable, now: float) -> None:
        """Count an attempt as failed."""
        put_newest(self._ends, key, max(now, self._ends.get(key, now)) + self.share, MOST_KEYS)

    def succeeded(self, key: Hashable) -> None:
        """Take one attempt back; others may have failed."""
        if key in self._ends:
            self._ends[key] -= self.share


class Delays:
    """Delays that double with every failure of a key.

    Parameters
    ----------
    most
        The longest delay in seconds.

    Examples
    --------
    >>> delays = Delays()
    >>> for now in range(FREE + 2):
    ...     delays.count("ann", now)
    >>> delays.wait("ann", FREE + 1), delays.wait("ann", FREE + 2), delays.wait("bob", 0)
    (8.0, 7.0, 0.0)
    """

    def __init__(self, most: float = MOST_DELAY) -> None:
        self.most = most
        # The number of failures of a key, and the time of the last one.
        self._failures: OrderedDict[Hashable, tuple[int, float]] = OrderedDict()

    def wait(self, key: Hashable, now: float) -> float:
        """Return for how many seconds a key is blocked; 0 if it is not."""
        failures, last = self.recent(key, now), self._failures.get(key, (0, now))[1]
        if failures < FREE:
            return 0.0
        # Bounded, so that the power does not overflow.
        delay = FIRST_DELAY * 2.0 ** min(failures - FREE, 30)
        return max(0.0, last + min(delay, self.most) - now)

    def count(self, key: Hashable, now: float) -> None:
        """Count an attempt as failed."""
        put_newest(self._failures, key, (self.recent(key, now) + 1, now), MOST_KEYS)

    def recent(self, key: Hashable, now: float) -> int:
        """Return how many failures of a key are not forgotten."""
        failures, last = self._failures.get(key, (0, now))
        return failures if now - last < FORGOTTEN else 0

    def succeeded(self, key: Hashable) -> None:
        """Forget all failures of a key: it is the user after all."""
        self._failures.pop(key, None)


class KnownAddresses:
    """The addresses from which each user has signed in, the newest ones."""

    def __init__(self) -> None:
        self._addresses: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()

    def __contains__(self, pair: tuple[str, str]) -> bool:
        return pair[1] in self._addresses.get(pair[0], ())

    def add(self, name: str, address: str) -> None:
        """Remember a successful sign-in."""
        addresses = self._addresses.get(name, OrderedDict())
        put_newest(addresses, address, None, MOST_ADDRESSES)
        put_newest(self._addresses, name, addresses, MOST_KEYS)


class Hashes:
    """The threads that compute hashes: who is known comes first in all but one of them.

    A password hash takes 64 MB and a tenth of a second: many attempts at once must neither fill the memory,
    nor delay users who have signed in, nor let somebody wait longer than a page does.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="karat-sign-in")
        self._lock = threading.Lock()
        self._known: deque[tuple[Hashable, Callable[[], Any], Future[Any]]] = deque()
        self._strangers: deque[tuple[Hashable, Callable[[], Any], Future[Any]]] = deque()
        self._running, self._closed = 0, False

    def check_room(self, known: Hashable = None) -> None:
        """Raise if too many wait, or the server stops."""
        with self._lock:
            self._check_room(known)

    def _check_room(self, known: Hashable) -> None:
        if known is None:
            full = len(self._strangers) >= ROOM
        else:
            full = sum(key == known for key, _, _ in self._known) >= OWN_ROOM
        if full or self._closed:
            raise TooMany(5)

    def add(self, work: Callable[[], T], known: Hashable = None) -> Future[T]:
        """Queue a function, before those of strangers if it is for somebody known; raise without room."""
        done: Future[T] = Future()
        with self._lock:
            self._check_room(known)
            (self._strangers if known is None else self._known).append((known, work, done))
            self._threads.submit(self._next)
        return done

    def _next(self) -> None:
        """Do what is first now."""
        with self._lock:
            # One thread is left to strangers: whoever is known may sign in without end.
            turn = bool(self._known) and (not self._strangers or self._running < AT_ONCE - 1)
            _, work, done = (self._known if turn else self._strangers).popleft()
            self._running += turn
        try:
            if self._closed:
                done.set_exception(TooMany(5))
            elif done.set_running_or_notify_cancel():
                done.set_result(work())
        except BaseException as error:
            done.set_exception(error)
        finally:
            with self._lock:
                self._running -= turn

    def close(self, wait: bool = True) -> None:
        """Finish what runs, refuse what waits, and end the threads."""
        with self._lock:
            self._closed = True
        self._threads.shutdown(wait)


class AttemptLimits:
    """The limits of one server on signing in, on using links and on changing passwords.

    An attempt counts as failed before the password is checked, so that parallel attempts are counted too;
    `succeeded` corrects it.

    Parameters
    ----------
    clock
        Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self.reset()
        self.hashes = Hashes()

    def reset(self) -> None:
        """Forget every failure, and every known address."""
        self.pairs, self.known_pairs, self.sessions = Delays(), Delays(KNOWN_DELAY), Delays()
        # The delays of one address alone never exhaust the limit of a name.
        self.names, self.addresses, self.known = Limit(30, 1800), Limit(60, 900), KnownAddresses()
        self.tries, self.links = Delays(), Limit(60, 900)

    def sign_in(self, name: str, address: str, device: str = "") -> Attempt:
        """Count an attempt to sign in, or raise `TooMany`.

        Parameters
        ----------
        name
            The name, folded.
        address
            The address of the client.
        device
            The device from which this very name has signed in before, proved by a cookie; empty if unknown.
        """
        name, address = name[:LONGEST], network_of(address)
        pair = (name, address)
        if device:
            return self._count(name, (self.known_pairs, (name, "device", device)))
        if pair in self.known:
            return self._count(name, (self.known_pairs, pair))
        # Addresses that keep trying share one limit of the name, everybody else another: a crowd that guesses
        # without end soon leaves room for a new browser. Refused attempts count here, but cause no delay.
        now = self._clock()
        with self._lock:
            fresh = self.tries.recent(pair, now) < FREE
            self.tries.count(pair, now)
        return self._count(
            None, (self.pairs, pair), (self.names, (name, fresh)), (self.addresses, address),
            otherwise=LINKS_WORK,
        )  # fmt: skip

    def remember(self, name: str, address: str) -> None:
        """Remember the address of a user who has signed in."""
        with self._lock:
            self.known.add(name[:LONGEST], network_of(address))

    def link(self, address: str) -> Attempt:
        """Count an attempt to use a link, or raise `TooMany`; attempts to sign in do not count here."""
        return self._count("link", (self.links, network_of(address)))

    def confirmation(self, account: int) -> Attempt:
        """Count an attempt of a signed-in user to confirm the password, or raise `TooMany`.

        Attempts to sign in with the user's name do not count here.
        """
        return self._count(account, (self.sessions, account))

    def _count(self, known: Hashable, *limits: tuple[Counts, Hashable], otherwise: str = "") -> Attempt:
        now = self._clock()
        # Before it counts: what was never checked is no failure.
        self.hashes.check_room(known)
        with self._lock:
            wait = max(limit.wait(key, now) for limit, key in limits)
            if wait > 0:
                raise TooMany(wait, otherwise)
            for limit, key in limits:
                limit.count(key, now)
        return Attempt(self._lock, limits, known)

    async def run(self, work: Callable[[], T], known: Hashable = None) -> T:
        """Run a function that computes a hash, in one of the threads for it; who is known comes first."""
        return await asyncio.wrap_future(self.hashes.add(work, known))

    def close(self, wait: bool = True) -> None:
        """End the threads; what still waits for them is refused."""
        self.hashes.close(wait)


@dataclass(frozen=True)
class Attempt:
    """An attempt that counts as failed until `succeeded` is called.

    Parameters
    ----------
    lock
        Held while the limits change.
    limits
        Where it was counted.
    known
        Whose attempt it is, if that is known before the password is checked; None for strangers.
    """

    lock: threading.Lock
    limits: Sequence[tuple[Counts, Hashable]]
    known: Hashable = None

    def succeeded(self) -> None:
        """Note that the attempt did not fail."""
        with self.lock:
            for limit, key in self.limits:
                limit.succeeded(key)


def put_newest(entries: OrderedDict[Any, Any], key: Hashable, value: Any, most: int) -> None:
    """Set an entry, and drop the oldest one if there are too many."""
    entries[key] = value
    entries.move_to_end(key)
    if len(entries) > most:
        entries.popitem(last=False)


def network_of(address: str) -> str:
    """Return what counts as one address: in IPv6 the network of 64 bits, all of which one client can use.

    >>> [network_of(address) for address in ("192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1:2", "unknown")]
    ['192.0.2.7', '192.0.2.7', '2001:db8::', 'unknown']
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:LONGEST]
    if parsed.version == 4:
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.IPv6Address(int(parsed) >> 64 << 64))
