"""Long work: its stages, how far each is, and who is told.

The library says what it does by `say`, `stage` and `track`. Who wants to know installs a reporter by
`reporting`: the command line and `karat.progress` draw bars, a server may send numbers to a browser. Without
one nothing is shown, and next to nothing is spent. A thread does not inherit the reporter: what it does is
told by the thread that waits for it, or through a `Stage` that it is given.

Work that would not be lost if it were stopped says so by `keeping`; who stops it, such as the command line on
a signal, asks by `what_stays`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from time import monotonic
from typing import Protocol, TypeVar

T = TypeVar("T")


class Reporter(Protocol):
    """Who is told how far the work is."""

    every: float
    """Seconds between two calls at least, while a stage goes on; its begin and its end are told at once."""

    def show(self, stages: Sequence[Stage]) -> object:
        """Take the stages under way, the outermost first; the first of all is the work as a whole."""


class Stage:
    """A stage of long work, from the begin of its ``with`` block to the end; see `stage`.

    Parameters
    ----------
    work
        What it belongs to; None where nobody is told.
    what, total, done
        What is done, of how much (None: unknown), and how much is done already.
    """

    def __init__(self, work: LongWork | None, what: str, total: int | None, done: int = 0) -> None:
        self.work, self.what, self.total = work, what, total
        self.start = self.done = done
        self.said = ""
        """What is done right now, where somebody has said it."""
        self.began = monotonic()

    def __enter__(self) -> Stage:
        if self.work is not None:
            self.work.stages.append(self)
            # Without a name, that of its first item follows at once.
            if self.what:
                self.work.tell(now=True)
        return self

    def __exit__(self, *raised: object) -> None:
        if self.work is not None:
            self.work.stages.remove(self)
            self.work.tell(now=True)

    def advance(self, n: int = 1) -> None:
        """Say that so much more is done; from any thread."""
        if self.work is not None:
            with self.work.lock:
                self.at(self.done + n)

    def at(self, done: int, what: str | None = None) -> None:
        """Say how much is done, and what is done now."""
        self.done, self.said = done, ""
        if what is not None:
            self.what = what
        if self.work is not None:
            self.work.tell(now=what is not None)


class LongWork:
    """Work that a reporter is told of: the stages that are under way."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.stages = [Stage(self, "", None)]
        self.lock = threading.RLock()
        self._due = 0.0

    def tell(self, now: bool = False) -> None:
        """Tell the reporter, unless it was told a moment ago."""
        moment = monotonic()
        if now or moment >= self._due:
            with self.lock:
                self._due = moment + self.reporter.every
                self.reporter.show(tuple(self.stages))


WORK: ContextVar[LongWork | None] = ContextVar("WORK", default=None)


@contextmanager
def reporting(reporter: Reporter | None) -> Iterator[None]:
    """Tell a reporter how far the work in this block is; None tells nobody.

    >>> class Printed:
    ...     every = 0.0
    ...     def show(self, stages):
    ...         print(*(f"{stage.what} {stage.done}/{stage.total}" for stage in stages[1:]))
    >>> with reporting(Printed()):
    ...     words = [word.upper() for word in track(["a", "b"], "reading")]
    reading 0/2
    reading 1/2
    reading 2/2
    <BLANKLINE>
    """
    token = WORK.set(None if reporter is None else LongWork(reporter))
    try:
        yield
    finally:
        WORK.reset(token)


def current_reporter() -> Reporter | None:
    """Return who is told what happens here."""
    work = WORK.get()
    return None if work is None else work.reporter


def say(what: str) -> None:
    """Say what is done from now on, which takes nobody knows how long."""
    work = WORK.get()
    if work is not None:
        work.stages[-1].said = what
        work.tell(now=True)


def stage(what: str, total: int | None = None, done: int = 0) -> Stage:
    """Return a stage of the work, to be entered by ``with``; stages may be inside others.

    >>> with stage("reading", total=10) as reading:
    ...     reading.advance(3)
    ...     reading.at(10)
    """
    return Stage(WORK.get(), what, total, done)


def track(items: Iterable[T], what: str | Callable[[T], str], total: int | None = None) -> Iterable[T]:
    """Return items, and say of each how many are done when the next one is asked for.

    Parameters
    ----------
    items, total
        What is worked through, and how many there are, unless `items` knows.
    what
        What is done: a text, or what makes one of an item.
    """
    if WORK.get() is None:
        return items
    return tracked(items, what, len(items) if total is None and isinstance(items, Sized) else total)


def tracked(items: Iterable[T], what: str | Callable[[T], str], total: int | None) -> Iterator[T]:
    """Yield items inside a stage."""
    changes = callable(what)
    with stage("" if changes else str(what), total) as going:
        for number, item in enumerate(items):
            if callable(what):
                going.at(number, what(item))
            yield item
            going.at(number + 1)


GOES_ON = "the same command goes on from there"
KEPT: list[tuple[Callable[[], str], str]] = []
"""What says what would be kept of the work under way, the outermost first, and how to go on then.

Not a `ContextVar`: a thread that ends the program asks, too.
"""
UNHURRIED: list[str] = []
"""Work under way that ends by itself after a signal, however long that takes."""
MOST_NAMED = 3


@contextmanager
def keeping(what: Callable[[], str], then: str = GOES_ON) -> Iterator[None]:
    """Say what would be kept if the work in this block were stopped right now.

    Parameters
    ----------
    what
        Returns it in a few words, such as "3 files kept in a/"; an empty text means nothing so far.
    then
        How to go on.

    Examples
    --------
    >>> done = []
    >>> with keeping(lambda: f"{len(done)} answers kept" if done else ""):
    ...     before = what_stays()
    ...     done.append("yes")
    ...     what_stays()
    'stopped with 1 answers kept; the same command goes on from there'
    >>> before
    'stopped; nothing was written; the same command starts again'
    """
    entry = (what, then)
    KEPT.append(entry)
    try:
        yield
    finally:
        KEPT.remove(entry)


@contextmanager
def unhurried(what: str) -> Iterator[None]:
    """Let the work in this block end by itself after a signal: a server answers what it was asked."""
    UNHURRIED.append(what)
    try:
        yield
    finally:
        UNHURRIED.remove(what)


def what_stays(written: Sequence[Path] = ()) -> str:
    """Return what to say of work that is stopped now: what is kept of it, and how to go on.

    >>> what_stays([Path("a.json"), Path("b.json")])
    'stopped; a.json and b.json are written, and nothing else; the same command starts again'
    """
    said = [(text, then) for what, then in list(KEPT) if (text := what())]
    if said:
        return f"stopped with {', '.join(text for text, _ in said)}; {said[0][1]}"
    if not written:
        return "stopped; nothing was written; the same command starts again"
    names = [str(path) for path in dict.fromkeys(written)]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    *first, last = [*names[:MOST_NAMED], *more]
    listed = f"{', '.join(first)} and {last}" if first else last
    verb = "are" if first else "is"
    return f"stopped; {listed} {verb} written, and nothing else; the same command starts again"
