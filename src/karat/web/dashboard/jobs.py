"""Jobs: publishing and exporting, one after the other in the background, with files to download."""

from __future__ import annotations

import io
import logging
import shutil
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from karat._util import plural
from karat.errors import InputError, KaratError
from karat.judging import AcceptanceRule, export_answers, export_tasks, publish
from karat.judging.exchange import FORMATS
from karat.judging.publication import FILE, NAME
from karat.store import Project
from karat.web.dashboard.computation import LONG, return_memory

MOST = 20
"""How many jobs are kept; older ones are removed with their files."""
PIECE = 1 << 18
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
LOG = logging.getLogger("karat.web")


@dataclass
class JobOutcome:
    """The outcome of a job: a sentence, notes, and the file or folder to download with its name."""

    sentence: str
    notes: tuple[str, ...] = ()
    path: Path | None = None
    name: str = ""


@dataclass
class Job:
    """One job."""

    number: int
    title: str
    by: str
    at: float = field(default_factory=time.time)
    state: str = WAITING
    step: str = ""
    began: float | None = None
    ended: float | None = None
    outcome: JobOutcome | None = None
    error: str | None = None

    def shown(self) -> dict[str, Any]:
        """Return the job as the page shows it, without paths on the disk."""
        outcome = self.outcome
        took = None if self.began is None else (self.ended or time.time()) - self.began
        return {
            "number": self.number, "title": self.title, "by": self.by, "at": self.at, "state": self.state,
            "step": self.step, "seconds": took,
            "message": outcome.sentence if outcome else None,
            "notes": list(outcome.notes[:20]) if outcome else [],
            "file": outcome.name if outcome and outcome.path else None, "error": self.error,
        }  # fmt: skip


Work = Callable[[Job, Path], JobOutcome]
"""Does a job; it may set the job's step, and write into the folder."""


class Jobs:
    """The jobs of a server, of which one at a time runs.

    Parameters
    ----------
    tell
        Called whenever a job changes.

    Examples
    --------
    >>> jobs = Jobs(lambda: None)
    >>> job = jobs.start("try", "ann", lambda job, folder: JobOutcome("it worked"))
    >>> jobs.close()
    >>> jobs.get(job.number).shown()["message"]
    'it worked'
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell
        self._jobs: dict[int, Job] = {}
        self._guard = threading.Lock()
        self._count = 0
        self._folder: Path | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="karat-job")

    def start(self, title: str, by: str, work: Work) -> Job:
        """Queue a job and return it."""
        with self._guard:
            if sum(job.state in (WAITING, RUNNING) for job in self._jobs.values()) >= MOST // 2:
                raise InputError("too many jobs are waiting", fix="wait until some are done")
            self._count += 1
            job = self._jobs[self._count] = Job(self._count, title, by)
            for old in sorted(self._jobs)[:-MOST]:
                self._forget(self._jobs.pop(old))
        self.tell()
        self._pool.submit(self._do, job, work)
        return job

    def get(self, number: int) -> Job | None:
        """Return a job by its number."""
        return self._jobs.get(number)

    def shown(self) -> list[dict[str, Any]]:
        """Return all jobs, newest first."""
        with self._guard:
            return [self._jobs[number].shown() for number in sorted(self._jobs, reverse=True)]

    def step(self, job: Job, step: str) -> None:
        """Set the current step of a job."""
        job.step = step
        self.tell()

    def close(self) -> None:
        """Let the running job finish, drop the others, and remove the files."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _do(self, job: Job, work: Work) -> None:
        job.state, job.began = RUNNING, time.time()
        self.tell()
        try:
            job.outcome = work(job, self._own_folder(job))
            job.state = DONE
        except KaratError as error:
            job.state, job.error = FAILED, str(error)
        except Exception as error:
            LOG.error("job %s failed", job.number, exc_info=error)
            job.state, job.error = (
                FAILED,
                "The job failed because of a bug; the details are in the server's log.",
            )
        job.ended = time.time()
        if job.ended - job.began > LONG:
            return_memory()
        self.tell()

    def _own_folder(self, job: Job) -> Path:
        """Return a private folder of the job."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="karat-"))
        own = self._folder / str(job.number)
        own.mkdir()
        return own

    def _forget(self, job: Job) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder / str(job.number), ignore_errors=True)


class Outlet(io.RawIOBase):
    """A file that is only written; the bytes are taken out piece by piece."""

    def __init__(self) -> None:
        self.held = bytearray()

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Append bytes."""
        self.held += data
        return len(data)

    def take(self) -> bytes:
        """Return the bytes and clear them."""
        taken = bytes(self.held)
        self.held.clear()
        return taken


def zipped(folder: Path) -> Iterator[bytes]:
    """Yield a folder as a zip file, without writing it to disk.

    Links are skipped and times left out: the same files give the same bytes.

    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = (Path(place) / "a.txt").write_text("a")
    ...     zipfile.ZipFile(io.BytesIO(b"".join(zipped(Path(place))))).namelist()
    ['a.txt']
    """
    outlet = Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file():
                continue
            about = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            about.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as source, archive.open(about, "w", force_zip64=True) as target:
                while piece := source.read(PIECE):
                    target.write(piece)
                    yield outlet.take()
            yield outlet.take()
    yield outlet.take()


class Shelf:
    """The folder of published benchmarks: the owner's folder, or a temporary one.

    Parameters
    ----------
    folder
        Its path; empty for a temporary folder, which is removed when the server stops.
    """

    def __init__(self, folder: str | Path = "") -> None:
        self.kept = bool(folder)
        self._temporary = None if folder else tempfile.TemporaryDirectory(prefix="karat-published-")
        self.folder = Path(folder) if self._temporary is None else Path(self._temporary.name)
        if not self.folder.is_dir():
            raise InputError(
                "the folder for published benchmarks does not exist", where=self.folder, fix="create it first"
            )

    def names(self) -> list[str]:
        """Return the names of everything published so far, by earlier servers too."""
        entries = (entry for entry in self.folder.iterdir() if not entry.name.startswith("."))
        return sorted(entry.name for entry in entries if not entry.is_symlink() and (entry / FILE).is_file())

    def place(self, name: str) -> Path:
        """Return the path for a new name; a name never leads out of the folder."""
        if not NAME.fullmatch(name) or name.startswith("."):
            raise InputError(
                f"{name!r:.100} cannot be a name",
                fix="use letters, digits and . ( ) = + @ _ -, a letter first",
            )
        return self.folder / name

    def find(self, name: str) -> Path | None:
        """Return the published folder of a name; None if there is none."""
        return self.folder / name if name in self.names() else None

    def close(self) -> None:
        """Remove a temporary folder."""
        if self._temporary is not None:
            self._temporary.cleanup()


def publish_job(
    project: Project, shelf: Shelf, step: Callable[[Job, str], None], options: Mapping[str, Any]
) -> Work:
    """Return the work of publishing; a wrong name raises at once."""
    name, place = options["name"], shelf.place(options["name"])

    def work(job: Job, folder: Path) -> JobOutcome:
        step(job, "reading the answers and writing the folder")
        published = publish(
            project,
            place,
            acceptance=AcceptanceRule(options["aggregation"], approved_only=options["approved_only"]),
            truth_name=name,
            keep_original=options["original_policy"],
            licence=options["licence"],
        )
        counts = published.facts.counts
        sentence = (
            f"Published {published.correction.truth.name}: {plural(counts['judged_pairs'], 'pair')} judged, "
            f"{counts['relevant_pairs']:,} relevant, from {plural(counts['answers_used'], 'answer')}"
        )
        return JobOutcome(sentence, published.notes, published.folder, f"{name}.zip")

    return work


def export_job(
    project: Project, step: Callable[[Job, str], None], what: Literal["answers", "tasks"], format: str
) -> Work:
    """Return the work of exporting."""
    suffix = FORMATS[format].suffix

    def work(job: Job, folder: Path) -> JobOutcome:
        step(job, f"writing {what}")
        path = folder / f"{what}-{format}{suffix}"
        done = (
            export_tasks(project, path, format) if what == "tasks" else export_answers(project, path, format)
        )
        single = len(done.files) == 1
        sentence = f"{plural(done.number, what[:-1])} written as {done.format}"
        name = path.name if single else f"{what}-{format}.zip"
        return JobOutcome(sentence, done.notes, done.files[0] if single else folder, name)

    return work
