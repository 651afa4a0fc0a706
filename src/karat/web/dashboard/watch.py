"""The watch: one thread computes for all open dashboards, which get the events of registered sources."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from karat.errors import KaratError
from karat.store import Project, Signs, StoreError
from karat.store.accounts import READER, User
from karat.web.dashboard.live import live_numbers
from karat.web.dashboard.statistics import Statistics, compute
from karat.web.dashboard.tally import Tally
from karat.web.failures import sentence_of

EVERY, STATISTICS_EVERY = 2.0, 60.0
"""Seconds between two reads of the store, and between two computations of the statistics."""
SHARE = 10
"""A read that takes one second is repeated every ten seconds at most: the server has other requests."""
SLOWEST = 10.0
"""The most seconds between two reads: the first one reads everything, and must not delay the second."""
REFRESH = 30.0
"""Seconds after which the pace is sent again without a new answer: time has passed."""
BEAT = 15.0
"""Seconds after which an idle stream sends a comment, and checks that its user may still read."""
LOG = logging.getLogger("karat.web")


@dataclass(eq=False)
class Follower:
    """Work of the slow thread that is repeated after every change of the project, with pauses between.

    Parameters
    ----------
    work
        What to do.
    every
        The fewest seconds between two times, unless somebody asks.
    """

    work: Callable[[], object]
    every: float = EVERY
    _requested: bool = True
    _due: float = 0.0
    _earliest: float = 0.0
    _done_for: Any = None

    def ask(self) -> None:
        """Have it done soon, even if nothing changed."""
        self._requested, self._due = True, min(self._due, self._earliest)

    def is_due(self, signs: Signs | None, now: float) -> bool:
        """Whether something changed since the last time, and the pause is over."""
        return (self._requested or signs != self._done_for) and now >= self._due

    def run(self, signs: Signs | None) -> None:
        """Do it, and pause: a tenth of the time is worked at most, on request a third."""
        self._requested, self._done_for = False, signs
        start = time.monotonic()
        try:
            self.work()
        finally:
            end = time.monotonic()
            self._earliest = end + 2 * (end - start)
            self._due = end + max(self.every, SHARE * (end - start))


class Watch:
    """The numbers of a project, kept up to date while a dashboard is open.

    Parameters
    ----------
    project
        The project.
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
        self._computed = Follower(self.compute, STATISTICS_EVERY)
        self._followers = [self._computed]

    def listen(self, loop: asyncio.AbstractEventLoop) -> tuple[object, asyncio.Event]:
        """Start to watch; return a key for `leave`, and an event that is set when there is something new."""
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
            last = not self._listeners
        if last:
            self._wake.set()

    @property
    def watchers(self) -> int:
        """How many dashboards are open."""
        return len(self._listeners)

    def close(self) -> None:
        """Stop, and wake every stream so that it ends."""
        self.closed = True
        self._wake.set()
        self._wake_all()
        for thread in (self._thread, self._slow):
            if thread is not None:
                # What it computes is not stored: the server does not wait for it to stop.
                thread.join(1)

    def register(self, name: str, *roles: str) -> Callable[[Any], None]:
        """Register a source of events, and return the function that publishes its newest event.

        Parameters
        ----------
        name
            The name of its events; a duplicate raises.
        *roles
            The roles that get them; without roles, everyone who watches.
        """
        if name in self._sources:
            raise ValueError(f"events {name!r} already have a source")
        self._sources[name] = roles

        def publish(data: Any) -> None:
            with self._guard:
                self._version += 1
                self.events[name] = (self._version, json.dumps(data, allow_nan=False))
            self._wake_all()

        return publish

    def follow(self, work: Callable[[], None]) -> Callable[[], None]:
        """Have the slow thread do some work whenever the project changed; return a function that asks for it.

        It is done only while a dashboard is open, and less often the longer it takes.
        """
        follower = Follower(work)
        self._followers.append(follower)

        def ask() -> None:
            follower.ask()
            self._wake.set()

        return ask

    def news(self, user: User) -> list[tuple[str, int, str]]:
        """Return the newest event of every source that a user may see, by age: name, number and data."""
        with self._guard:
            events = [(name, *event) for name, event in self.events.items() if user.may(*self._sources[name])]
        return sorted(events, key=lambda event: event[1])

    def ask(self) -> None:
        """Have the statistics computed soon, because something changed that they depend on."""
        self._computed.ask()

    def count(self, now: float | None = None) -> dict[str, Any]:
        """Return the current live numbers, and publish them."""
        with self._counting:
            self.tally.update()
            numbers = live_numbers(self.tally, time.time() if now is None else now)
        self._live(numbers)
        return numbers

    def current(self) -> Statistics:
        """Return the latest statistics; the first call computes them, once for all callers."""
        if self.statistics is None:
            with self._computing:
                if self.statistics is None:
                    self._computed.run(self.tally.signs)
        assert self.statistics is not None
        return self.statistics

    def compute(self) -> None:
        """Compute the current statistics, and publish them."""
        with self._computing:
            self.statistics = compute(self.project)
            self._statistics(self.statistics.data)

    def _wake_all(self) -> None:
        with self._guard:
            for wake in list(self._listeners.values()):
                # The loop may have ended.
                with contextlib.suppress(RuntimeError):
                    wake()

    def _run(self) -> None:
        """Read, publish and wait, until no dashboard is open."""
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
                signs = self.tally.signs
                works = [
                    partial(self._attempt, partial(follower.run, signs))
                    for follower in self._followers
                    if follower.is_due(signs, start)
                ]
                if works and (self._slow is None or not self._slow.is_alive()):
                    self._slow = threading.Thread(
                        target=do_all, args=(works,), name="karat-statistics", daemon=True
                    )
                    self._slow.start()
            except Exception as error:  # The thread must survive a locked or restored database.
                self._failed(error)
            took = time.monotonic() - start
            self._wake.wait(min(max(EVERY, SHARE * took), SLOWEST))
            self._wake.clear()

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        """Publish what went wrong in one sentence; the log has the details."""
        if self.closed:
            return
        if not isinstance(error, KaratError):
            LOG.error("the dashboard could not be computed", exc_info=error)
        reason = str(error) if isinstance(error, KaratError) else "the details are in the server's log."
        if isinstance(error, StoreError):
            reason = sentence_of(error.state)  # readers need not know where the project is
        self._trouble({"message": f"The numbers could not be computed: {reason}", "at": time.time()})


def do_all(works: list[Callable[[], None]]) -> None:
    """Do one work after the other."""
    for work in works:
        work()


async def events(request: Request, watch: Watch, user: User) -> AsyncIterator[str]:
    """Yield server-sent events until the reader leaves, signs out, or the server stops."""
    key, news = watch.listen(asyncio.get_running_loop())
    sent: dict[str, int] = {}
    checked = time.monotonic()
    try:
        yield "retry: 2000\n\n"
        while not watch.closed:
            try:
                await asyncio.wait_for(news.wait(), BEAT)
            except TimeoutError:
                yield ": still here\n\n"
            if time.monotonic() - checked >= BEAT:
                checked = time.monotonic()
                try:
                    allowed = await run_in_threadpool(may_read, request)
                except StoreError:
                    continue  # until the store works again, nothing new is read
                if not allowed:
                    yield "event: ended\ndata: {}\n\n"
                    return
            news.clear()
            for name, version, data in watch.news(user):
                if sent.get(name) != version:
                    sent[name] = version
                    yield f"event: {name}\ndata: {data}\n\n"
    finally:
        watch.leave(key)


def may_read(request: Request) -> bool:
    """Whether the session of a stream is still valid, and its role still allows reading."""
    state = request.app.state
    token = state.cookies.session_of(request.headers.get("cookie", ""))
    user = state.accounts.sessions.whose(token) if token else None
    return user is not None and user.may(READER)
