"""Whether the server is well: it answers, and its store can be read and written.

Anybody may ask, so that the store is looked at every few seconds at most, by one thread of its own: that one
answers also when all others are waiting for the store.
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
"""How old a finding may be, and how long the store may take, in seconds."""
ROOM = 64 * 2**20
"""How many bytes a disk must have left."""


@dataclass(frozen=True)
class HealthFinding:
    """What was found.

    Parameters
    ----------
    readable, writable
        The store.
    """

    readable: bool
    writable: bool

    @property
    def well(self) -> bool:
        """Whether everything is as it should be."""
        return self.readable and self.writable


class Health:
    """Looks at the store once in a while.

    Parameters
    ----------
    project
        Whose store.
    writer
        Which knows whether the last answers could be saved.
    """

    def __init__(self, project: Project, writer: Writer) -> None:
        self.project, self.writer = project, writer
        self._pool = ThreadPoolExecutor(1, "karat-health")
        self._looking: asyncio.Future[HealthFinding] | None = None
        self._found, self._at = HealthFinding(False, False), float("-inf")

    async def look(self) -> HealthFinding:
        """Return what was found lately, or look; a store that takes too long is not well."""
        if time.monotonic() - self._at < KEPT:
            return self._found
        if self._looking is None:
            self._looking = asyncio.get_running_loop().run_in_executor(self._pool, self.look_now)
            self._looking.add_done_callback(self._keep)
        try:
            # Shielded: those who ask in the meantime wait for the same look.
            return await asyncio.wait_for(asyncio.shield(self._looking), PATIENCE)
        except TimeoutError:
            return HealthFinding(False, False)

    def _keep(self, looked: asyncio.Future[HealthFinding]) -> None:
        self._looking = None
        if not looked.cancelled() and looked.exception() is None:
            self._found, self._at = looked.result(), time.monotonic()

    def look_now(self) -> HealthFinding:
        """Look at the store."""
        readable = writable = False
        try:
            readable = self.project.is_readable()
            writable = self.can_write()
        except Exception:
            # Whatever it is: a store that raises is not well, and that is the answer.
            return HealthFinding(readable, False)
        return HealthFinding(readable, writable)

    def can_write(self) -> bool:
        """Whether the store takes a writer, the disk has room, and the last answers were saved."""
        takes, path = self.project.is_writable(), self.project.path
        full = path is not None and shutil.disk_usage(path.parent).free < ROOM
        return takes and not (full or self.writer.figures.broken) and self.writer.alive

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)
