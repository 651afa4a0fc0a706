"""The writer: one thread stores the answers of all annotators, many in one transaction.

A disk takes milliseconds to sync. Answers that arrive meanwhile wait and are written together. An answer is
acknowledged only after it is on the disk.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from prometheus_client import Histogram

from karat.errors import InputError
from karat.store import Answer, StoreError
from karat.web.failures import Failures

LOG = logging.getLogger("karat.web.writer")
MOST, ROOM = 64, 512
"""How many answers go into one transaction, and how many may wait."""
SIZES = (1, 2, 4, 8, 16, 32, 64)
SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""The bounds of histograms of durations."""
PATIENCE = 8.0
"""How many seconds a request waits for its answer to be saved: less than the server takes to stop."""


class Busy(Exception):
    """An answer is not known to be saved: 503. Sent again with the same key, it is stored once.

    Parameters
    ----------
    wait
        How many seconds to wait before trying again.
    """

    def __init__(self, wait: int = 1) -> None:
        super().__init__("The server is busy and the answer is not saved yet: it will be sent again.")
        self.wait = wait


class AnswerStore(Protocol):
    """The part of a project that the writer uses: `project.answers`."""

    def store(self, answers: Sequence[Answer]) -> list[int | InputError]:
        """Store answers; return the number of each, or the error that refused it."""


def batch_sizes() -> Histogram:
    """Return the histogram of answers per transaction."""
    return Histogram("karat_batch_answers", "Answers in one transaction.", buckets=SIZES, registry=None)


def batch_seconds() -> Histogram:
    """Return the histogram of the durations of transactions."""
    return Histogram("karat_batch_seconds", "How long a transaction took.", buckets=SECONDS, registry=None)


@dataclass
class Waiting:
    """An answer in the queue, and the future of its number."""

    answer: Answer
    done: Future[int] = field(default_factory=Future)


@dataclass
class Figures:
    """The writer's counts, written by its thread only. `broken`: the last transaction failed."""

    saved: int = 0
    refused: int = 0
    failed: int = 0
    broken: bool = False
    size: Histogram = field(default_factory=batch_sizes)
    seconds: Histogram = field(default_factory=batch_seconds)


class Writer:
    """A thread that stores answers in batches, in the order of their arrival.

    Parameters
    ----------
    answers
        The store: `project.answers`.
    most
        The most answers in one transaction.
    room
        The most answers that may wait; further ones raise `Busy`.
    failures
        Told when the store fails and when it works; without it, the log is.

    Examples
    --------
    >>> class Store:
    ...     def store(self, answers):
    ...         return [7 if answer.code == "yes" else InputError("no such answer") for answer in answers]
    >>> writer = Writer(Store())
    >>> writer.add(Answer("token", 3, "yes")).result()
    7
    >>> writer.close()
    """

    def __init__(
        self, answers: AnswerStore, most: int = MOST, room: int = ROOM, failures: Failures | None = None
    ) -> None:
        self.answers, self.most, self.room, self.failures = answers, most, room, failures
        self.figures = Figures()
        self._queue: queue.Queue[Waiting | None] = queue.Queue(room)
        self._gate = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="karat-writer", daemon=True)
        self._thread.start()

    @property
    def depth(self) -> int:
        """How many answers wait."""
        return self._queue.qsize()

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def add(self, answer: Answer) -> Future[int]:
        """Queue an answer; the result is its number, once it is on the disk, or an InputError."""
        waiting = Waiting(answer)
        with self._gate:
            if self._closed:
                raise Busy(5)
            try:
                self._queue.put_nowait(waiting)
            except queue.Full:
                raise Busy() from None
        return waiting.done

    def close(self) -> None:
        """Accept no more answers, store those that wait, and end the thread."""
        with self._gate:
            first, self._closed = not self._closed, True
        if first:
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        """Store waiting answers until the writer is closed."""
        while (first := self._queue.get()) is not None:
            waiting, last = self._gather(first)
            try:
                self._save(waiting)
            except Exception:
                # A bug must not end the thread: nothing would be saved any more.
                LOG.exception("the writer failed")
                for entry in waiting:
                    if not entry.done.done():
                        entry.done.set_exception(Busy(2))
            if last:
                return

    def _gather(self, first: Waiting) -> tuple[list[Waiting], bool]:
        """Return the waiting answers, up to a limit, and whether the writer was closed."""
        waiting = [first]
        while len(waiting) < self.most:
            try:
                entry = self._queue.get_nowait()
            except queue.Empty:
                break
            if entry is None:
                return waiting, True
            waiting.append(entry)
        return waiting, False

    def _save(self, waiting: list[Waiting]) -> None:
        """Store answers and report each outcome; answers that were cancelled in the queue are skipped."""
        waiting = [entry for entry in waiting if entry.done.set_running_or_notify_cancel()]
        if not waiting:
            return
        begin = time.perf_counter()
        try:
            outcomes: list[int | Exception] = [*self.answers.store([entry.answer for entry in waiting])]
            if self.figures.broken and self.failures is not None:
                self.failures.over()
            self.figures.broken = False
        except InputError as error:
            # The store itself is locked, full or gone: it would refuse each of them.
            if self.failures is not None and isinstance(error, StoreError):
                self.failures.note(error.state)
            else:
                LOG.error("answers were not saved: %s", error.what)
            outcomes, self.figures.broken = [Busy(2) for _ in waiting], True
        except Exception:
            LOG.exception("a batch of %d answers failed", len(waiting))
            # One of them may be the cause: the others are stored one by one.
            outcomes = [self._alone(entry.answer) for entry in waiting] if len(waiting) > 1 else [Busy(2)]
        self.figures.seconds.observe(time.perf_counter() - begin)
        self.figures.size.observe(len(waiting))
        self._tell(waiting, outcomes)

    def _alone(self, answer: Answer) -> int | Exception:
        """Store one answer in a transaction of its own."""
        try:
            return self.answers.store([answer])[0]
        except Exception:
            return Busy(2)

    def _tell(self, waiting: list[Waiting], outcomes: list[int | Exception]) -> None:
        """Count the outcomes and set the futures."""
        figures = self.figures
        for entry, outcome in zip(waiting, outcomes, strict=True):
            if isinstance(outcome, int):
                figures.saved += 1
                entry.done.set_result(outcome)
                continue
            figures.refused += isinstance(outcome, InputError)
            figures.failed += isinstance(outcome, Busy)
            entry.done.set_exception(outcome)


async def acknowledged(done: Future[int], seconds: float = PATIENCE) -> int:
    """Wait until an answer is on the disk and return its number, without blocking a thread.

    Raises InputError if it was refused, and `Busy` if it is not known to be saved.

    Parameters
    ----------
    done
        What `Writer.add` returned.
    seconds
        How long to wait.
    """
    try:
        # A late answer is cancelled: the page sends it again, and it must not wait twice.
        return await asyncio.wait_for(asyncio.wrap_future(done), seconds)
    except TimeoutError:
        raise Busy from None
