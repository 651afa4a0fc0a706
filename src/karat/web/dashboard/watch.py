"""One thread that computes for all who watch, and tells them what is new in every registered source."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from karat.errors import KaratError
from karat.judging import Project
from karat.judging.store.accounts import User
from karat.web.dashboard.live import live_numbers
from karat.web.dashboard.statistics import Statistics, compute
from karat.web.dashboard.tally import Tally

EVERY, STATISTICS_EVERY = 2.0, 60.0
"""Seconds between two looks at the store, and between two computations of what takes a while."""
SHARE = 10
"""A thing that takes a second is done every ten seconds at most: the server has others to serve."""
SLOWEST = 10.0
"""Seconds between two looks at most: the first reads everything, and the second must not wait for that."""
REFRESH = 30.0
"""Seconds after which paces are told anew though nobody answered: time goes on."""
LOG = logging.getLogger("karat.web")


class Watch:
    """What is known of the project, kept up to date while somebody watches.

    Parameters
    ----------
    project
        Which.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.tally = Tally(project)
        self.events: dict[str, tuple[int, str]] = {}
        self.statistics: Statistics | None = None
        self.closed = False
        self._listeners: dict[object, Callable[[], object]] = {}
        self._guard, self._counting, self._computing = threading.Lock(), threading.Lock(), threading.RLock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._slow: threading.Thread | None = None
        self._version = 0
        self._sources: dict[str, tuple[str, ...]] = {}
        self._live, self._statistics = self.register("live"), self.register("statistics")
        self._trouble = self.register("trouble")
        self._asked = True
        self._due = self._earliest = 0.0
        self._computed_for: Any = None

    def listen(self, loop: asyncio.AbstractEventLoop) -> tuple[object, asyncio.Event]:
        """Begin to watch; return a key to stop by, and an event that is set when something is new."""
        event, key = asyncio.Event(), object()
        with self._guard:
            self._listeners[key] = lambda: loop.call_soon_threadsafe(event.set)
            if self._thread is None and not self.closed:
                self._thread = threading.Thread(target=self._run, name="karat-dashboard", daemon=True)
                self._thread.start()
        event.set()
        return key, event

    def leave(self, key: object) -> None:
        """Stop watching."""
        with self._guard:
            self._listeners.pop(key, None)
            alone = not self._listeners
        if alone:
            self._wake.set()

    @property
    def watchers(self) -> int:
        """How many watch."""
        return len(self._listeners)

    def close(self) -> None:
        """Stop for good; everybody who watches is told."""
        self.closed = True
        self._wake.set()
        self._tell()
        for thread in (self._thread, self._slow):
            if thread is not None:
                thread.join(10)

    def register(self, name: str, *roles: str) -> Callable[[Any], None]:
        """Register a source of events and return the function by which it tells its newest.

        Parameters
        ----------
        name
            Of its events; a second source of the same name raises.
        *roles
            Who is told; without roles, everybody who watches.
        """
        if name in self._sources:
            raise ValueError(f"events {name!r} have a source already")
        self._sources[name] = roles

        def publish(data: Any) -> None:
            with self._guard:
                self._version += 1
                self.events[name] = (self._version, json.dumps(data, allow_nan=False))
            self._tell()

        return publish

    def news(self, user: User) -> list[tuple[str, int, str]]:
        """Return the newest that a user may see of every source, the oldest first: name, number and data."""
        with self._guard:
            told = [(name, *one) for name, one in self.events.items() if user.may(*self._sources[name])]
        return sorted(told, key=lambda one: one[1])

    def ask(self) -> None:
        """Have the statistics computed soon: something was decided that they depend on."""
        self._asked, self._due = True, min(self._due, max(time.monotonic() + EVERY, self._earliest))

    def count(self, now: float | None = None) -> dict[str, Any]:
        """Return the live numbers of this moment, and tell them."""
        with self._counting:
            self.tally.update()
            found = live_numbers(self.tally, time.time() if now is None else now)
        self._live(found)
        return found

    def current(self) -> Statistics:
        """Return the statistics that there are; the first time they are computed, once for all who ask."""
        if self.statistics is None:
            with self._computing:
                return self.statistics or self.compute()
        return self.statistics

    def compute(self) -> Statistics:
        """Return the statistics of this moment, and tell them."""
        with self._computing:
            signs = self.tally.signs
            self._asked = False
            found = compute(self.project)
            self.statistics, self._computed_for = found, signs
        took = found.data["seconds"]
        self._due = time.monotonic() + max(STATISTICS_EVERY, SHARE * took)
        # Asked for, they come sooner, but never one right after the other.
        self._earliest = time.monotonic() + 2 * took
        self._statistics(found.data)
        return found

    def _tell(self) -> None:
        with self._guard:
            for tell in list(self._listeners.values()):
                # A loop that has ended cannot be told anything.
                with contextlib.suppress(RuntimeError):
                    tell()

    def _run(self) -> None:
        """Look, tell, wait, until nobody watches."""
        last = 0.0
        while True:
            with self._guard:
                if self.closed or not self._listeners:
                    self._thread = None
                    return
            start = time.monotonic()
            try:
                with self._counting:
                    new = self.tally.update()
                if new or start - last > REFRESH or "live" not in self.events:
                    self.count()
                    last = start
                changed = self._asked or self.tally.signs != self._computed_for
                free = self._slow is None or not self._slow.is_alive()
                if changed and start >= self._due and free:
                    self._slow = threading.Thread(target=self._compute, name="karat-statistics", daemon=True)
                    self._slow.start()
            except Exception as error:  # The thread must outlive a locked or restored database.
                self._failed(error)
            took = time.monotonic() - start
            self._wake.wait(min(max(EVERY, SHARE * took), SLOWEST))
            self._wake.clear()

    def _compute(self) -> None:
        try:
            self.compute()
        except Exception as error:
            self._due = time.monotonic() + STATISTICS_EVERY
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        """Say in words what went wrong; the log has the rest."""
        if self.closed:
            return
        if not isinstance(error, KaratError):
            LOG.error("the dashboard could not be computed", exc_info=error)
        said = str(error) if isinstance(error, KaratError) else "The server's log says why."
        self._trouble({"said": f"The numbers could not be computed: {said}", "at": time.time()})
