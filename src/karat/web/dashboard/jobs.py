"""Work that takes a while: done one after the other in the background, whoever looks at the page."""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from karat.errors import InputError, KaratError

MOST = 20
"""Jobs that are remembered; older ones go, and what they left for download with them."""
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
LOG = logging.getLogger("karat.web")


@dataclass
class JobOutcome:
    """What a job left: a sentence, further notes, and what can be downloaded under which name."""

    said: str
    notes: tuple[str, ...] = ()
    path: Path | None = None
    name: str = ""


@dataclass
class Job:
    """One piece of work."""

    number: int
    title: str
    by: str
    at: float = field(default_factory=time.time)
    state: str = WAITING
    step: str = ""
    began: float | None = None
    ended: float | None = None
    result: JobOutcome | None = None
    error: str | None = None

    def shown(self) -> dict[str, Any]:
        """Return the job as the page shows it; places on the disk stay unsaid."""
        result = self.result
        took = None if self.began is None else (self.ended or time.time()) - self.began
        return {
            "number": self.number, "title": self.title, "by": self.by, "at": self.at, "state": self.state,
            "step": self.step, "seconds": took,
            "said": result.said if result else None, "notes": list(result.notes[:20]) if result else [],
            "file": result.name if result and result.path else None, "error": self.error,
        }  # fmt: skip


Work = Callable[[Job, Path], JobOutcome]
"""Does a job; it may set the job's step, and write into the folder that it is given."""


class Jobs:
    """The jobs of a server.

    Parameters
    ----------
    tell
        Called whenever one changes.

    Examples
    --------
    >>> jobs = Jobs(lambda: None)
    >>> one = jobs.start("try", "ann", lambda job, folder: JobOutcome("it worked"))
    >>> jobs.close()
    >>> jobs.get(one.number).shown()["said"]
    'it worked'
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell
        self._jobs: dict[int, Job] = {}
        self._guard = threading.Lock()
        self._count = 0
        self._folder: Path | None = None
        self._doing = ThreadPoolExecutor(1, thread_name_prefix="karat-job")

    def start(self, title: str, by: str, work: Work) -> Job:
        """Put a job into the queue and return it."""
        with self._guard:
            if sum(one.state in (WAITING, RUNNING) for one in self._jobs.values()) >= MOST // 2:
                raise InputError("too many jobs wait already", fix="wait until some are done")
            self._count += 1
            job = self._jobs[self._count] = Job(self._count, title, by)
            for old in sorted(self._jobs)[:-MOST]:
                self._forget(self._jobs.pop(old))
        self.tell()
        self._doing.submit(self._do, job, work)
        return job

    def get(self, number: int) -> Job | None:
        """Return a job by its number."""
        return self._jobs.get(number)

    def shown(self) -> list[dict[str, Any]]:
        """Return all jobs, the newest first."""
        with self._guard:
            return [self._jobs[number].shown() for number in sorted(self._jobs, reverse=True)]

    def step(self, job: Job, step: str) -> None:
        """Say what a job is at."""
        job.step = step
        self.tell()

    def close(self) -> None:
        """Let the running job finish, drop the others, and remove what was left for download."""
        self._doing.shutdown(wait=True, cancel_futures=True)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _do(self, job: Job, work: Work) -> None:
        job.state, job.began = RUNNING, time.time()
        self.tell()
        try:
            job.result = work(job, self._own_folder(job))
            job.state = DONE
        except KaratError as error:
            job.state, job.error = FAILED, str(error)
        except Exception as error:
            LOG.error("job %s failed", job.number, exc_info=error)
            job.state, job.error = FAILED, "Something went wrong; the server's log says what."
        job.ended = time.time()
        self.tell()

    def _own_folder(self, job: Job) -> Path:
        """Return a folder of the job's own, which nobody else can read."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="karat-"))
        own = self._folder / str(job.number)
        own.mkdir()
        return own

    def _forget(self, job: Job) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder / str(job.number), ignore_errors=True)
