"""Health: whether the store can be read and written, and what is wrong with the server.

Everyone may ask, so the store is checked every few seconds at most. A thread of its own checks it, which
responds even when all other threads wait for the store.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from karat.store import DESCRIPTORS, DISK_FULL, READ_ONLY, Project, StoreError, has_descriptors
from karat.web.failures import CONNECTIONS, Failures, sentence_of
from karat.web.writer import Writer

KEPT, PATIENCE = 2.0, 3.0
"""How long a finding is kept, and how long the store may take, in seconds."""
ROOM = 64 * 2**20
"""How many bytes must be free on the disk."""
MOVED = 60.0
"""By how many seconds the clock may be moved before it is reported."""
SLOW, ERROR, UNSAVED, CLOCK = "slow", "error", "unsaved", "clock-moved"
SENTENCES = {
    SLOW: "The project does not answer in time.",
    ERROR: "The server has an unexpected error; its log has the details.",
    UNSAVED: "The last answers could not be saved.",
}
LOG = logging.getLogger("karat.web.health")


@dataclass(frozen=True)
class HealthFinding:
    """The state of the server.

    Parameters
    ----------
    readable, writable
        Whether the store can be read and written.
    state
        One word for what is wrong; empty if nothing is. The word "clock-moved" is a notice: the server works.
    reason
        The state in a sentence.
    """

    readable: bool
    writable: bool
    state: str = ""
    reason: str = ""

    @property
    def healthy(self) -> bool:
        """Whether the store can be read and written, and requests are accepted."""
        return self.readable and self.writable and self.state in ("", CLOCK)


def failing(readable: bool, state: str) -> HealthFinding:
    """Return the finding of a state in which nothing can be written."""
    return HealthFinding(readable, False, state, SENTENCES.get(state) or sentence_of(state))


class Clock:
    """Compares the wall clock, which can be moved, with one that cannot and does not stop in suspension."""

    def __init__(self) -> None:
        self._steady = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
        self._begin = self._offset()

    def _offset(self) -> float:
        return time.time() - time.clock_gettime(self._steady)

    def moved(self) -> float:
        """Return by how many seconds the wall clock was moved since the server started."""
        return self._offset() - self._begin


class Health:
    """Checks the store, every few seconds at most.

    Parameters
    ----------
    project
        The project.
    writer
        The writer, which knows whether the last answers were saved.
    failures
        What failed in requests.
    """

    def __init__(self, project: Project, writer: Writer, failures: Failures) -> None:
        self.project, self.writer, self.failures = project, writer, failures
        self.clock = Clock()
        self._pool = ThreadPoolExecutor(1, "karat-health")
        self._check: asyncio.Future[HealthFinding] | None = None
        self._last, self._at = HealthFinding(False, False), float("-inf")

    async def look(self) -> HealthFinding:
        """Return the last finding if it is recent, or check; a store that takes too long is not healthy."""
        if time.monotonic() - self._at < KEPT:
            return self._last
        if self._check is None:
            self._check = asyncio.get_running_loop().run_in_executor(self._pool, self.look_now)
            self._check.add_done_callback(self._keep)
        try:
            # Shielded: requests in the meantime wait for the same check.
            return await asyncio.wait_for(asyncio.shield(self._check), PATIENCE)
        except TimeoutError:
            return failing(False, SLOW)

    def _keep(self, check: asyncio.Future[HealthFinding]) -> None:
        self._check = None
        if not check.cancelled() and check.exception() is None:
            self._last, self._at = check.result(), time.monotonic()

    def look_now(self) -> HealthFinding:
        """Check the store and the machine."""
        readable = False
        try:
            readable = self.project.is_readable()
            state = self.problem()
        except StoreError as error:
            self.failures.note(error.state)
            return failing(readable, error.state)
        except Exception:
            # Whatever the error is: a store that raises is not healthy.
            LOG.exception("the health could not be checked")
            return failing(readable, ERROR)
        if state:
            if state != UNSAVED:
                self.failures.note(state)
            return failing(readable, state)
        if crowded := self.failures.recent(DESCRIPTORS, CONNECTIONS):
            return HealthFinding(readable, True, crowded, sentence_of(crowded))
        self.failures.over()
        moved = self.clock.moved()
        if abs(moved) > MOVED:
            what = f"The clock was moved by {moved:+.0f} seconds since the server started."
            return HealthFinding(readable, True, CLOCK, what)
        return HealthFinding(readable, True)

    def problem(self) -> str:
        """Return the state in which nothing can be written, or raise it; empty if there is none."""
        if not has_descriptors():
            return DESCRIPTORS
        path = self.project.path
        if path is not None and not os.access(path, os.W_OK):
            return READ_ONLY
        if not self.project.is_writable():
            return READ_ONLY
        if path is not None and shutil.disk_usage(path.parent).free < ROOM:
            return DISK_FULL
        if not self.writer.alive:
            return ERROR
        if self.writer.figures.broken:
            # Without annotators nothing is saved that would tell: the next look finds what this one did.
            self.writer.figures.broken = not self.project.is_writable(really=True)
            return UNSAVED
        return ""

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)
