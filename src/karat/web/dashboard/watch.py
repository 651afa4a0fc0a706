"""The watch: one thread computes for all open dashboards, which get the events of registered sources.

Requests never compute: they get the last numbers, or how far the first ones are.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from karat.errors import KaratError
from karat.store import Project, Signs, StoreError
from karat.store.accounts import READER, User
from karat.web.dashboard.computation import EVERY, SHARE, Closing, ComputationProgress, Follower
from karat.web.dashboard.live import live_numbers
from karat.web.dashboard.statistics import Statistics, compute
from karat.web.dashboard.tally import Tally
from karat.web.failures import sentence_of

STATISTICS_EVERY = 60.0
"""Seconds between two computations of the statistics."""
SLOWEST = 10.0
"""The most seconds between two reads: the first one reads everything, and must not delay the second."""
REFRESH = 30.0
"""Seconds after which the pace is sent again without a new answer: time has passed."""
PATIENCE = 0.1
"""The most seconds that a request waits for newer numbers: with few answers, they are there by then."""
LINGER = 15.0
"""Seconds for which a request for numbers counts as an open dashboard."""
BEAT = 15.0
"""Seconds after which an idle stream sends a comment, and checks that its user may still read."""
LOG = logging.getLogger("karat.web")


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
        self.numbers: dict[str, Any] | None = None
        self.closed = False
        self._listeners: dict[object, Callable[[], object]] = {}
        self._guard, self._wake, self._telling = threading.Lock(), threading.Event(), threading.Lock()
        # Counts are numbered by those who ask: who asks gets one that began after that.
        self._counts = threading.Condition()
        self._asked = self._answered = 0
        self._count_error: Exception | None = None
        self._lingers = 0.0
        self._thread: threading.Thread | None = None
        self._slow: threading.Thread | None = None
        self._version = 0
        self._sources: dict[str, tuple[str, ...]] = {}
        self._live, self._statistics = self.register("live"), self.register("statistics")
        self._trouble, self._computing = self.register("trouble"), self.register("computing")
        self._progress: dict[str, ComputationProgress] = {}
        self._counting = self._follow("live")
        self._computed = Follower(self.compute, self._follow("statistics"), STATISTICS_EVERY)
        self._followers = [self._computed]

    def listen(self, loop: asyncio.AbstractEventLoop) -> tuple[object, asyncio.Event]:
        """Start to watch; return a key for `leave`, and an event that is set when there is something new."""
        event, key = asyncio.Event(), object()
        with self._guard:
            self._listeners[key] = lambda: loop.call_soon_threadsafe(event.set)
            self._start()
        event.set()
        return key, event

    def _start(self) -> None:
        """Start the thread unless it runs, under the guard."""
        if self._thread is None and not self.closed:
            self._thread = threading.Thread(target=self._run, name="karat-dashboard", daemon=True)
            self._thread.start()

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
        with self._counts:
            self._counts.notify_all()
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

    def follow(self, name: str, work: Callable[[], None]) -> Callable[[], None]:
        """Have the slow thread do some work whenever the project changed; return a function that asks for it.

        It is done only while a dashboard is open, and less often the longer it takes. The page is told by
        this name how far it is.
        """
        follower = Follower(work, self._follow(name))
        # Before the statistics, which take longest.
        self._followers.insert(-1, follower)

        def ask() -> None:
            follower.ask()
            self._wake.set()

        return ask

    def _follow(self, name: str) -> ComputationProgress:
        """Return the progress of a new computation, of which all who watch are told."""
        progress = self._progress[name] = ComputationProgress(lambda: self.closed, self._tell_progress)
        return progress

    def _tell_progress(self) -> None:
        # One after the other, so that the last word is the newest.
        with self._telling:
            if not self.closed:
                self._computing({name: progress.announced() for name, progress in self._progress.items()})

    def progress(self, name: str) -> dict[str, Any] | None:
        """Return how far a computation is, or the one that it waits for; None if it is not going on."""
        shown = self._progress[name].shown()
        if shown is not None or name == "live" or self.statistics is not None:
            return shown
        # The first statistics come after what is computed before them.
        before = [(other, self._progress[other].shown()) for other in self._progress if other != "live"]
        return next(
            (
                found | {"stages": [{"what": f"waiting for the {other}", "done": 0, "total": None}]}
                for other, found in before
                if found is not None
            ),
            None,
        )

    def news(self, user: User) -> list[tuple[str, int, str]]:
        """Return the newest event of every source that a user may see, by age: name, number and data."""
        with self._guard:
            events = [(name, *event) for name, event in self.events.items() if user.may(*self._sources[name])]
        return sorted(events, key=lambda event: event[1])

    def ask(self) -> None:
        """Have the statistics computed soon, because something changed that they depend on."""
        self._computed.ask()
        self._wake.set()

    def recount(self) -> None:
        """Have the live numbers counted and published soon."""
        with self._counts:
            self._asked += 1
        self._visit()
        self._wake.set()

    def count(self) -> dict[str, Any] | None:
        """Return the live numbers: new ones if they come soon, else the last; None if there are none yet."""
        with self._counts:
            self._asked += 1
            mine = self._asked
        self._visit()
        self._wake.set()
        with self._counts:
            patience = self._counting.patience(PATIENCE)
            told = self._counts.wait_for(lambda: self._answered >= mine or self.closed, patience)
            error = self._count_error
        if error is not None and (told or self.numbers is None):
            raise error.with_traceback(None)
        return self.numbers

    def current(self) -> Statistics | None:
        """Return the latest statistics; None while the first are computed."""
        self._visit()
        if self.statistics is None:
            slow = [progress for name, progress in self._progress.items() if name != "live"]
            patience = min(progress.patience(PATIENCE) for progress in slow)
            with self._counts:
                self._counts.wait_for(
                    lambda: self.statistics or self._computed.error or self.closed, patience
                )
            error = self._computed.error
            if self.statistics is None and error is not None:
                raise error.with_traceback(None)
        return self.statistics

    def compute(self) -> None:
        """Compute the current statistics, and publish them."""
        self.statistics = compute(self.project)
        self._statistics(self.statistics.data)

    def _visit(self) -> None:
        """Read the project for a while, as if a dashboard were open."""
        with self._guard:
            self._lingers = time.monotonic() + LINGER
            self._start()

    def _wake_all(self) -> None:
        with self._guard:
            for wake in list(self._listeners.values()):
                # The loop may have ended.
                with contextlib.suppress(RuntimeError):
                    wake()

    def _run(self) -> None:
        """Read, publish and wait, until no dashboard is open."""
        last, answered = 0.0, -1
        while True:
            with self._guard:
                if self.closed or not (self._listeners or time.monotonic() < self._lingers):
                    self._thread = None
                    return
            with self._counts:
                asked = self._asked
            start, error = time.monotonic(), None
            try:
                with self._counting.going():
                    new = self.tally.update()
                    if new or asked > answered or start - last > REFRESH:
                        self.numbers = live_numbers(self.tally, time.time())
                        self._live(self.numbers)
                        last, answered = start, asked
                self._compute_due(start)
            except Closing:
                continue
            except Exception as raised:  # The thread must survive a locked or restored database.
                error = raised
                self._failed(error)
            self._tell_all(asked, error)
            took = time.monotonic() - start
            self._pause(took)

    def _tell_all(self, asked: int, error: Exception | None) -> None:
        """Let those who wait for a count go on."""
        with self._counts:
            self._answered, self._count_error = asked, error
            self._counts.notify_all()

    def _pause(self, took: float) -> None:
        """Wait before the next read; those who ask for one get a third of the time at most."""
        end = time.monotonic() + min(2 * took, SLOWEST)
        self._wake.wait(min(max(EVERY, SHARE * took), SLOWEST))
        self._wake.clear()
        while not self.closed and (left := end - time.monotonic()) > 0:
            self._wake.wait(left)
            self._wake.clear()

    def _compute_due(self, now: float) -> None:
        """Start the slow thread for what is due, unless it is busy."""
        signs = self.tally.signs
        due = [follower for follower in self._followers if follower.is_due(signs, now)]
        if due and (self._slow is None or not self._slow.is_alive()):
            work = partial(self._compute_all, due, signs)
            self._slow = threading.Thread(target=work, name="karat-statistics", daemon=True)
            self._slow.start()

    def _compute_all(self, followers: list[Follower], signs: Signs | None) -> None:
        """Do one work after the other."""
        for follower in followers:
            try:
                follower.run(signs)
            except Closing:
                return
            except Exception as error:
                self._failed(error)
            with self._counts:
                self._counts.notify_all()

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
