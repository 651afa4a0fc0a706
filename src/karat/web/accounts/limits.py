"""Limits on failed attempts to sign in, by name and address, in memory.

A stranger must not lock the owner out, so no limit is by name alone. Failures of one name from one address
cause growing delays there and nowhere else. Two more limits slow down who uses many names or many addresses;
they do not apply to an address from which that name has signed in before.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

FREE, FIRST_DELAY = 5, 2.0
"""How many failures of a name from an address have no delay, and the first delay, which then doubles."""
MOST_DELAY, KNOWN_DELAY = 900.0, 60.0
"""The longest delay, and the longest one for a name at an address from which it has signed in before."""
FORGOTTEN = 3600.0
"""After how many seconds without a failure the delays start again."""
MOST_KEYS, MOST_ADDRESSES = 20_000, 16
"""How many keys each limit remembers, the newest, and how many addresses of successful sign-ins per name."""
AT_ONCE = 2
"""How many hashes are computed at once."""
LONGEST = 80
"""How many characters of a name or an address are compared."""
T = TypeVar("T")


class TooMany(Exception):
    """Too many failed attempts: 429.

    Parameters
    ----------
    wait
        How many seconds to wait.
    """

    def __init__(self, wait: float) -> None:
        super().__init__(wait)
        self.wait = max(1, math.ceil(wait))


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
        failures, last = self._failures.get(key, (0, now))
        if failures < FREE:
            return 0.0
        # Bounded, so that the power does not overflow.
        delay = FIRST_DELAY * 2.0 ** min(failures - FREE, 30)
        return max(0.0, last + min(delay, self.most) - now)

    def count(self, key: Hashable, now: float) -> None:
        """Count an attempt as failed."""
        failures, last = self._failures.get(key, (0, now))
        put_newest(self._failures, key, (failures + 1 if now - last < FORGOTTEN else 1, now), MOST_KEYS)

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


class AttemptLimits:
    """The limits of one server on signing in, on using links and on changing passwords.

    An attempt counts as failed before the password is checked, so that parallel attempts are counted too;
    `succeeded` corrects it. A password hash takes 64 MB and a tenth of a second: hashes run in a few threads
    of their own, so that many attempts at once neither fill the memory nor delay users who have signed in.

    Parameters
    ----------
    clock
        Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self.reset()
        self.threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="karat-sign-in")

    def reset(self) -> None:
        """Forget every failure, and every known address."""
        self.pairs, self.known_pairs, self.sessions = Delays(), Delays(KNOWN_DELAY), Delays()
        # The delays of one address alone never exhaust the limit of a name.
        self.names, self.addresses, self.known = Limit(30, 1800), Limit(60, 900), KnownAddresses()

    def sign_in(self, name: str, address: str) -> Attempt:
        """Count an attempt to sign in, or raise `TooMany`."""
        name, address = name[:LONGEST], network_of(address)
        pair = (name, address)
        if pair in self.known:
            return self._count((self.known_pairs, pair))
        return self._count((self.pairs, pair), (self.names, name), (self.addresses, address))

    def remember(self, name: str, address: str) -> None:
        """Remember the address of a user who has signed in."""
        with self._lock:
            self.known.add(name[:LONGEST], network_of(address))

    def link(self, address: str) -> Attempt:
        """Count an attempt to use a link, or raise `TooMany`."""
        return self._count((self.addresses, network_of(address)))

    def confirmation(self, account: int) -> Attempt:
        """Count an attempt of a signed-in user to confirm the password, or raise `TooMany`.

        Attempts to sign in with the user's name do not count here.
        """
        return self._count((self.sessions, account))

    def _count(self, *limits: tuple[Counts, Hashable]) -> Attempt:
        now = self._clock()
        with self._lock:
            wait = max(limit.wait(key, now) for limit, key in limits)
            if wait > 0:
                raise TooMany(wait)
            for limit, key in limits:
                limit.count(key, now)
        return Attempt(self._lock, limits)

    async def run(self, work: Callable[[], T]) -> T:
        """Run a function that computes a hash, in one of the threads for it."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class Attempt:
    """An attempt that counts as failed until `succeeded` is called."""

    lock: threading.Lock
    limits: Sequence[tuple[Counts, Hashable]]

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
