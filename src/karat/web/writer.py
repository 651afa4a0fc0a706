"""The writer: answers of all people go through one thread, which stores many in one transaction.

A disk takes milliseconds to promise that something is written. While it does so, the next answers gather, and
go to the disk together. Nobody is told that an answer is saved before it is.
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
from karat.judging.store import Answer
from karat.web.operation import SECONDS

LOG = logging.getLogger("karat.web.writer")
MOST, ROOM = 64, 512
"""How many answers go into one transaction, and how many may wait."""
SIZES = (1, 2, 4, 8, 16, 32, 64)
PATIENCE = 8.0
"""For how many seconds a request waits for its answer to be saved: less than a server takes to stop."""


class Busy(Exception):
    """An answer is not known to be saved: 503. Sent again with the same key, it is stored once.

    Parameters
    ----------
    wait
        After how many seconds to try again.
    """

    def __init__(self, wait: int = 1) -> None:
        super().__init__("The server is busy and the answer is not saved yet: it will be sent again.")
        self.wait = wait


class AnswerStore(Protocol):
    """What the writer needs of a project: `project.answers`."""

    def store(self, answers: Sequence[Answer]) -> list[int | InputError]:
        """Store answers; return for each its number or why it was refused."""


def batch_sizes() -> Histogram:
    """Return the histogram of the answers in one transaction."""
    return Histogram("karat_batch_answers", "Answers in one transaction.", buckets=SIZES, registry=None)


def batch_seconds() -> Histogram:
    """Return the histogram of how long transactions took."""
    return Histogram("karat_batch_seconds", "How long a transaction took.", buckets=SECONDS, registry=None)


@dataclass
class Waiting:
    """An answer in the queue, and the promise of its number."""

    answer: Answer
    done: Future[int] = field(default_factory=Future)


@dataclass
class Figures:
    """What the writer has done so far; only its thread writes. `broken`: the store failed when last asked."""

    saved: int = 0
    refused: int = 0
    failed: int = 0
    broken: bool = False
    size: Histogram = field(default_factory=batch_sizes)
    seconds: Histogram = field(default_factory=batch_seconds)


class Writer:
    """A thread that stores answers, many at a time, in the order in which they came.

    Parameters
    ----------
    answers
        Where they go: `project.answers`.
    most
        How many go into one transaction.
    room
        How many may wait; to others the writer is `Busy`.

    Examples
    --------
    >>> class Paper:
    ...     def store(self, answers):
    ...         return [7 if one.code == "yes" else InputError("no such answer") for one in answers]
    >>> writer = Writer(Paper())
    >>> writer.add(Answer("token", 3, "yes")).result()
    7
    >>> writer.close()
    """

    def __init__(self, answers: AnswerStore, most: int = MOST, room: int = ROOM) -> None:
        self.answers, self.most, self.room = answers, most, room
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
        """Hand an answer over; the result is its number, once it is on the disk, or an InputError."""
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
        """Take nothing more, store what waits, and end the thread."""
        with self._gate:
            first, self._closed = not self._closed, True
        if first:
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        """Store what waits until the writer is closed."""
        while (first := self._queue.get()) is not None:
            waiting, last = self._gather(first)
            try:
                self._save(waiting)
            except Exception:
                # A mistake of ours must not end the thread: nothing would be saved any more.
                LOG.exception("the writer failed")
                for one in waiting:
                    if not one.done.done():
                        one.done.set_exception(Busy(2))
            if last:
                return

    def _gather(self, first: Waiting) -> tuple[list[Waiting], bool]:
        """Return all that wait, up to a limit, and whether the writer is to end."""
        waiting = [first]
        while len(waiting) < self.most:
            try:
                one = self._queue.get_nowait()
            except queue.Empty:
                break
            if one is None:
                return waiting, True
            waiting.append(one)
        return waiting, False

    def _save(self, waiting: list[Waiting]) -> None:
        """Store answers and tell each its outcome; whoever gave up in the queue is left out."""
        waiting = [one for one in waiting if one.done.set_running_or_notify_cancel()]
        if not waiting:
            return
        begin = time.perf_counter()
        try:
            outcomes: list[int | Exception] = [*self.answers.store([one.answer for one in waiting])]
            self.figures.broken = False
        except InputError as error:
            # The store itself: locked, full, or gone. It would say the same to each.
            LOG.error("answers were not saved: %s", error.what)
            outcomes, self.figures.broken = [Busy(2) for _ in waiting], True
        except Exception:
            LOG.exception("a batch of %d answers failed", len(waiting))
            # One of them may be to blame: the others must not suffer for it.
            outcomes = [self._alone(one.answer) for one in waiting] if len(waiting) > 1 else [Busy(2)]
        self.figures.seconds.observe(time.perf_counter() - begin)
        self.figures.size.observe(len(waiting))
        self._tell(waiting, outcomes)

    def _alone(self, answer: Answer) -> int | Exception:
        """Store one answer by itself."""
        try:
            return self.answers.store([answer])[0]
        except Exception:
            return Busy(2)

    def _tell(self, waiting: list[Waiting], outcomes: list[int | Exception]) -> None:
        """Count and hand out the outcomes."""
        figures = self.figures
        for one, outcome in zip(waiting, outcomes, strict=True):
            if isinstance(outcome, int):
                figures.saved += 1
                one.done.set_result(outcome)
                continue
            figures.refused += isinstance(outcome, InputError)
            figures.failed += isinstance(outcome, Busy)
            one.done.set_exception(outcome)


async def acknowledged(done: Future[int], seconds: float = PATIENCE) -> int:
    """Wait until an answer is on the disk and return its number; no thread waits with it.

    Raises InputError where it was refused, and `Busy` where it is not known to be saved.

    Parameters
    ----------
    done
        What `Writer.add` returned.
    seconds
        How long to wait.
    """
    try:
        # What is late is cancelled: whoever asked sends it again, and it takes up no room twice.
        return await asyncio.wait_for(asyncio.wrap_future(done), seconds)
    except TimeoutError:
        raise Busy from None
