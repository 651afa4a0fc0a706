"""The doors: signing in, using a link, changing a password; each limited, and apart from everything else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from karat.web.accounts.limits import Limit, TooMany

AT_ONCE = 2
T = TypeVar("T")


class Doors:
    """The limits of one server: who fails at the door waits, and so does everybody at the same address.

    Counted before the password is looked at, so that many tries at once are not one. A hash takes 64 MB and a
    tenth of a second: threads of its own do that, so that a crowd at the door neither fills the memory nor
    keeps those waiting who are in.
    """

    def __init__(self) -> None:
        self.open()
        self._lock = threading.Lock()
        self.threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="door")

    def open(self) -> None:
        """Forget every failure."""
        self.accounts, self.addresses = Limit(10), Limit(60)

    def try_to(self, account: str, address: str) -> None:
        """Count a try, or raise `TooMany`."""
        keys = [(limit, key) for limit, key in ((self.accounts, account), (self.addresses, address)) if key]
        with self._lock:
            wait = max(limit.wait(key) for limit, key in keys)
            if wait > 0:
                raise TooMany(wait)
            for limit, key in keys:
                limit.count(key)

    def succeeded(self, account: str, address: str) -> None:
        """Forget the failures of an account after its password was right, and this try at the address."""
        self.accounts.forget(account)
        self.addresses.take_back(address)

    async def run(self, work: Callable[[], T]) -> T:
        """Do what needs a hash, when it is its turn."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown(cancel_futures=True)
