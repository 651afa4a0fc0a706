"""Computations that take long: how far each is, in data for the page, and how often it is repeated."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from karat._util import Stage, reporting
from karat.store import Signs

EVERY = 2.0
"""The fewest seconds between two times."""
SHARE = 10
"""What takes one second is repeated every ten seconds at most: the server has other requests."""
RETRY = 10.0
"""Seconds after which what has failed is tried again."""
SOON = 0.5
"""What takes less than so many seconds is not announced."""

LONG = 1.0
"""What takes more than so many seconds may have taken much memory."""


class Closing(BaseException):
    """The server stops, and nobody waits for the numbers any more: not an error that work may catch."""


def return_memory() -> None:
    """Return freed memory to the system: the C library of Linux keeps hundreds of megabytes otherwise."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


class ComputationProgress:
    """How far a computation is.

    Parameters
    ----------
    closing
        Whether the server stops; the computation then raises `Closing`, at its next stage.
    tell
        Called now and then while it goes on for more than a moment, and at its end.

    Examples
    --------
    >>> from karat._util import track
    >>> progress = ComputationProgress(lambda: False, lambda: None)
    >>> with progress.going():
    ...     for number in track([1, 2], "reading"):
    ...         stages = progress.shown()["stages"]
    >>> stages, progress.shown()
    ([{'what': 'reading', 'done': 1, 'total': 2}], None)
    """

    every = 0.5

    def __init__(self, closing: Callable[[], bool], tell: Callable[[], None]) -> None:
        self.took: float | None = None
        """How many seconds it took the last time."""
        self._closing, self._tell = closing, tell
        self._began: float | None = None
        self._told = 0.0
        self._stages: Sequence[Stage] = ()

    @contextmanager
    def going(self) -> Iterator[None]:
        """Follow the work of this block."""
        self._began, self._told, self._stages = time.monotonic(), 0.0, ()
        try:
            with reporting(self):
                yield
            self.took = time.monotonic() - self._began
        finally:
            announced = self.announced() is not None
            self._began, self._stages = None, ()
            if announced:
                self._tell()

    def show(self, stages: Sequence[Stage]) -> None:
        """Take the stages under way."""
        if self._closing():
            raise Closing
        self._stages, now = stages[1:], time.monotonic()
        if self._began is not None and now >= max(self._began + SOON, self._told + self.every):
            self._told = now
            self._tell()

    def announced(self) -> dict[str, Any] | None:
        """Return what `shown` returns, once it has taken a moment: all who were told hear of the end."""
        shown = self.shown()
        return shown if shown is not None and shown["seconds"] >= SOON else None

    def patience(self, most: float) -> float:
        """Return how many seconds to wait for the result: at most `most`, and 0 where that is not enough."""
        began = self._began
        long = self.took is not None and self.took > most
        return 0.0 if long or (began is not None and time.monotonic() - began > most) else most

    def shown(self) -> dict[str, Any] | None:
        """Return seconds so far, seconds of the last time, and the stages; None if nothing is computed."""
        began, stages = self._began, self._stages
        if began is None:
            return None
        return {
            "seconds": time.monotonic() - began, "usual": self.took,
            "stages": [{"what": one.what, "done": one.done, "total": one.total} for one in stages],
        }  # fmt: skip


class Follower:
    """Work that is repeated after every change of the project, with pauses between.

    Parameters
    ----------
    work
        What to do.
    progress
        How far it is.
    every
        The fewest seconds between two times, unless somebody asks.
    """

    def __init__(
        self, work: Callable[[], object], progress: ComputationProgress, every: float = EVERY
    ) -> None:
        self.work, self.progress, self.every = work, progress, every
        self.error: Exception | None = None
        """What went wrong the last time."""
        self._requested = True
        self._due = self._earliest = 0.0
        self._done_for: Any = None
        self._guard = threading.Lock()

    def ask(self) -> None:
        """Have it done soon, even if nothing changed."""
        with self._guard:
            self._requested, self._due = True, min(self._due, self._earliest)

    def is_due(self, signs: Signs | None, now: float) -> bool:
        """Whether something changed since the last time, and the pause is over."""
        return (self._requested or signs != self._done_for) and now >= self._due

    def run(self, signs: Signs | None) -> None:
        """Do it, and pause: a tenth of the time is worked at most, on request a third."""
        with self._guard:
            self._requested, self._done_for = False, signs
        start, self.error = time.monotonic(), None
        try:
            with self.progress.going():
                self.work()
        except Exception as error:
            self.error = error
            raise
        finally:
            end = time.monotonic()
            pause = SHARE * (end - start)
            with self._guard:
                self._earliest = end + 2 * (end - start)
                self._due = end + max(self.every if self.error is None else RETRY, pause)
                self._requested |= self.error is not None
                if self._requested and self.error is None:
                    self._due = self._earliest  # somebody asked meanwhile
            if end - start > LONG:
                return_memory()
