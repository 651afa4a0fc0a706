"""Publishing and exporting: jobs that leave a folder or a file for download."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from karat._util import plural
from karat.errors import InputError
from karat.judging import Project, export_answers, export_tasks, publish
from karat.judging.exchange import FORMATS
from karat.judging.publishing import FILE, NAME
from karat.web.dashboard.jobs import Job, JobOutcome

Step = Callable[[Job, str], None]


class Shelf:
    """Where published folders stand: the folder that the owner gave, else one that goes with the server.

    Parameters
    ----------
    folder
        Its path; empty for a temporary one.
    """

    def __init__(self, folder: str | Path = "") -> None:
        self.kept = bool(folder)
        self._temporary = None if folder else tempfile.TemporaryDirectory(prefix="karat-published-")
        self.folder = Path(folder) if self._temporary is None else Path(self._temporary.name)
        if not self.folder.is_dir():
            raise InputError(
                "there is no such folder for what is published", where=self.folder, fix="create it first"
            )

    def names(self) -> list[str]:
        """Return what was published so far, also by earlier servers."""
        found = (one for one in self.folder.iterdir() if not one.name.startswith("."))
        return sorted(one.name for one in found if not one.is_symlink() and (one / FILE).is_file())

    def place(self, name: str) -> Path:
        """Return where something new of a name goes; a name never leads out of the folder."""
        if not NAME.fullmatch(name) or name.startswith("."):
            raise InputError(
                f"{name!r:.100} cannot be a name",
                fix="use letters, digits and . ( ) = + @ _ -, a letter first",
            )
        return self.folder / name

    def find(self, name: str) -> Path | None:
        """Return the published folder of a name; None where there is none."""
        return self.folder / name if name in self.names() else None

    def close(self) -> None:
        """Remove a temporary folder."""
        if self._temporary is not None:
            self._temporary.cleanup()


def publish_job(
    project: Project, shelf: Shelf, step: Step, options: Mapping[str, Any]
) -> Callable[[Job, Path], JobOutcome]:
    """Return the work of publishing; wrong choices raise at once."""
    name, place = options["name"], shelf.place(options["name"])

    def work(job: Job, folder: Path) -> JobOutcome:
        step(job, "reading the answers and writing the folder")
        found = publish(
            project,
            place,
            truth_name=name,
            aggregate=options["aggregation"],
            keep_original=options["original_policy"],
            approved_only=options["approved_only"],
            licence=options["licence"],
        )
        counts = found.facts.counts
        said = (
            f"{found.correction.truth.name}: {plural(counts['judged_pairs'], 'pair')} judged, "
            f"{counts['relevant_pairs']:,} relevant, from {plural(counts['answers_used'], 'answer')}"
        )
        return JobOutcome(said, found.notes, found.folder, f"{name}.zip")

    return work


def export_job(
    project: Project, step: Step, what: Literal["answers", "tasks"], format: str
) -> Callable[[Job, Path], JobOutcome]:
    """Return the work of exporting."""
    suffix = FORMATS[format].suffix

    def work(job: Job, folder: Path) -> JobOutcome:
        step(job, f"writing {what}")
        path = folder / f"{what}-{format}{suffix}"
        done = (
            export_tasks(project, path, format) if what == "tasks" else export_answers(project, path, format)
        )
        single = len(done.files) == 1
        said = f"{plural(done.number, what[:-1])} written as {done.format}"
        name = path.name if single else f"{what}-{format}.zip"
        return JobOutcome(said, done.notes, done.files[0] if single else folder, name)

    return work
