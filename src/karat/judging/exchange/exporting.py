"""Writing a project's tasks, or its answers, to files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat._util import check_writable
from karat.errors import InputError
from karat.judging.exchange.formats import FORMATS, Format, format_for
from karat.judging.exchange.outgoing import collect_answers, collect_tasks


@dataclass(frozen=True)
class Exported:
    """What an export wrote: how many tasks or answers, to which files, and what to know of them."""

    number: int
    format: str
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def export_tasks(
    project: Any, path: str | Path, format: str | None = None, images: str = "{name}"
) -> Exported:
    """Write the tasks of a project for people to answer elsewhere.

    What is written never says which pairs are known beforehand, what systems scored, or what others
    answered. Caption ids are left out as well: in many sets they say which image a caption belongs to.

    Parameters
    ----------
    project
        From `open_project`.
    path
        Where to; formats with a page or an interface write it beside.
    format
        One of `FORMATS`; from the file's name when it is not given.
    images
        The address of an image, with ``{id}`` or ``{name}`` (of its file) in it.
    """
    path, chosen = choose(path, format)
    tasks = collect_tasks(project, images)
    files = chosen.write_tasks(tasks, path)
    return Exported(len(tasks.tasks), chosen.name, tuple(files), tasks.notes)


def export_answers(project: Any, path: str | Path, format: str | None = None) -> Exported:
    """Write the answers in effect of a project; `import_answers` reads them back.

    Parameters
    ----------
    project
        From `open_project`.
    path
        Where to.
    format
        One of `FORMATS`; from the file's name when it is not given.
    """
    path, chosen = choose(path, format)
    answers = collect_answers(project)
    if not answers.rows:
        raise InputError("the project has no answers", fix="import or collect some first")
    chosen.write_answers(answers, path)
    return Exported(len(answers.rows), chosen.name, (path,))


def choose(path: str | Path, format: str | None) -> tuple[Path, Format]:
    """Return where to write, and how."""
    path = Path(path)
    check_writable(path)
    return path, format_for(path) if format is None else FORMATS[format]
