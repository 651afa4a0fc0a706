"""Health: whether the store can be read and written.

Everyone may ask, so the store is checked every few seconds at most. A thread of its own checks it, which
responds even when all other threads wait for the store.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from karat.judging import Project
from karat.web.writer import Writer

KEPT, PATIENCE = 2.0, 3.0
"""How long a finding is kept, and how long the store may take, in seconds."""
ROOM = 64 * 2**20
"""How many bytes must be free on the disk."""


@dataclass(frozen=True)
class HealthFinding:
    """The state of the store.

    Parameters
    ----------
    readable, writable
        Whether it can be read and written.
    """

    readable: bool
    writable: bool

    @property
    def healthy(self) -> bool:
        """Whether the store can be read and written."""
        return self.readable and self.writable


class Health:
    """Checks the store, every few seconds at most.

    Parameters
    ----------
    project
        The project.
    writer
        The writer, which knows whether the last answers were saved.
    """

    def __init__(self, project: Project, writer: Writer) -> None:
        self.project, self.writer = project, writer
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
            return HealthFinding(False, False)

    def _keep(self, check: asyncio.Future[HealthFinding]) -> None:
        self._check = None
        if not check.cancelled() and check.exception() is None:
            self._last, self._at = check.result(), time.monotonic()

    def look_now(self) -> HealthFinding:
        """Check the store."""
        readable = writable = False
        try:
            readable = self.project.is_readable()
            writable = self.can_write()
        except Exception:
            # Whatever the error is: a store that raises is not healthy.
            return HealthFinding(readable, False)
        return HealthFinding(readable, writable)

    def can_write(self) -> bool:
        """Whether the store can be written, the disk has room, and the last answers were saved."""
        writable, path = self.project.is_writable(), self.project.path
        full = path is not None and shutil.disk_usage(path.parent).free < ROOM
        return writable and not (full or self.writer.figures.broken) and self.writer.alive

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)
