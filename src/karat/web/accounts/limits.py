"""Limits on failed attempts to sign in, counted by account and by address, in memory."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

SPAN = 900.0
MOST_KEYS = 20_000
AT_ONCE = 2
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
        self.wait = max(1, int(wait) + 1)


class Limit:
    """A maximum number of failures of each key within a time span.

    Parameters
    ----------
    most
        The number of failures.
    span
        The time span in seconds.

    Examples
    --------
    >>> limit = Limit(2)
    >>> limit.count("ann", now=0), limit.count("ann", now=1)
    (None, None)
    >>> limit.wait("ann", now=2), limit.wait("bob", now=2), limit.wait("ann", now=901)
    (898.0, 0.0, 0.0)
    """

    def __init__(self, most: int, span: float = SPAN) -> None:
        self.most, self.span = most, span
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: str, now: float | None = None) -> float:
        """Return for how many seconds a key is blocked; 0 if it is not."""
        now = time.monotonic() if now is None else now
        with self._lock:
            times = self._times.get(key)
            if times is None:
                return 0.0
            while times and now - times[0] >= self.span:
                times.popleft()
            return self.span - (now - times[0]) if len(times) >= self.most else 0.0

    def count(self, key: str, now: float | None = None) -> None:
        """Count an attempt."""
        now = time.monotonic() if now is None else now
        with self._lock:
            self._times.setdefault(key, deque(maxlen=self.most)).append(now)
            self._times.move_to_end(key)
            if len(self._times) > MOST_KEYS:
                self._times.popitem(last=False)

    def forget(self, key: str) -> None:
        """Forget all attempts of a key."""
        with self._lock:
            self._times.pop(key, None)

    def take_back(self, key: str) -> None:
        """Forget the last attempt of a key: it did not fail."""
        with self._lock:
            if self._times.get(key):
                self._times[key].pop()


class AttemptLimits:
    """The limits of one server on signing in, on using links and on changing passwords.

    An attempt is counted before the password is checked, so that parallel attempts are counted too. A
    password hash takes 64 MB and a tenth of a second: hashes run in a few threads of their own, so that many
    attempts at once neither fill the memory nor delay users who have signed in.
    """

    def __init__(self) -> None:
        self.reset()
        self._lock = threading.Lock()
        self.threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="karat-sign-in")

    def reset(self) -> None:
        """Forget every failure."""
        self.accounts, self.addresses = Limit(10), Limit(60)

    def count(self, account: str, address: str) -> None:
        """Count an attempt, or raise `TooMany`."""
        keys = [(limit, key) for limit, key in ((self.accounts, account), (self.addresses, address)) if key]
        with self._lock:
            wait = max(limit.wait(key) for limit, key in keys)
            if wait > 0:
                raise TooMany(wait)
            for limit, key in keys:
                limit.count(key)

    def succeeded(self, account: str, address: str) -> None:
        """Forget the failures of an account whose password was right, and this attempt of the address."""
        self.accounts.forget(account)
        self.addresses.take_back(address)

    async def run(self, work: Callable[[], T]) -> T:
        """Run a function that computes a hash, in one of the threads for it."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown(cancel_futures=True)
