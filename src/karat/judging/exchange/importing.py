"""Bringing answers from a file into a project, all of them or none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.errors import InputError
from karat.judging.exchange.checking import check_answers
from karat.judging.exchange.files import read_text_bytes
from karat.judging.exchange.formats import FORMATS, guess_format
from karat.judging.exchange.given import ImportedAnswers
from karat.judging.exchange.task_names import TaskNames
from karat.judging.exchange.texts import no_collecting

ROW = re.compile(r"row (\d+):? ?(.*)", re.DOTALL)


@dataclass(frozen=True)
class Imported:
    """What an import did.

    Parameters
    ----------
    answers, people
        How many answers came in, of how many workers.
    format
        How the file was read.
    reviews
        How many hand-ins were approved or rejected, as the file says.
    notes
        What was left out.
    """

    answers: int
    people: int
    format: str
    reviews: int = 0
    notes: tuple[str, ...] = ()


def import_answers(project: Any, path: str | Path, format: str | None = None) -> Imported:
    """Bring the answers of a file into a project, all of them or none.

    Parameters
    ----------
    project
        From `open_project`.
    path
        A text file in UTF-8, plain or packed alone by gzip or zip.
    format
        One of `FORMATS`; guessed from how the file starts when it is not given.

    Returns
    -------
    Imported
        How many answers came in. A file with anything wrong raises an `InputError` that names the line, and
        the project is as it was.
    """
    path = Path(path)
    with no_collecting():
        given, name = read_answers(project, path, format)
        rows = check_answers(given, project.benchmark(), project.form, project.pools.plan())
    if not len(rows):
        raise InputError("holds no answers", where=path, fix="check that it is the right file")
    try:
        number = project.answers.record(rows)
    except InputError as error:
        raise with_line(error, given) from None
    reviews = record_reviews(project, given, name)
    return Imported(number, len(given.worker.values), name, reviews, given.notes)


def read_answers(project: Any, path: Path, format: str | None) -> tuple[ImportedAnswers, str]:
    """Return the answers of a file as they are given, and the name of the format."""
    data = read_text_bytes(path)
    if not data.strip():
        raise InputError("is empty", where=path, fix="check that it is the right file")
    chosen = guess_format(data, path) if format is None else FORMATS[format]
    return chosen.read(data, project.form, path), chosen.name


def with_line(error: InputError, given: ImportedAnswers) -> InputError:
    """Return an error of the store that names the line of the file instead of the row."""
    match = ROW.match(error.what)
    if match is None or int(match[1]) >= len(given):
        return InputError(error.what, where=given.where, fix=error.fix)
    return given.error(int(match[1]), match[2], error.fix or "check the line")


def record_reviews(project: Any, given: ImportedAnswers, by: str) -> int:
    """Pass on what was approved or rejected elsewhere; return how many hand-ins that were."""
    if not given.reviews:
        return 0
    names = TaskNames(project.pools.plan())
    wanted = {(names.find(task), worker): found for (task, worker), found in given.reviews.items()}
    people, _ = project.annotators.read()
    slots = project.queue.slots()
    found: dict[tuple[str, str], list[int]] = {}
    verdict: tuple[str, str] | None
    for slot, task, worker in zip(slots.slot.tolist(), slots.task.tolist(), slots.worker.tolist()):
        verdict = wanted.get((task, people[worker])) if worker >= 0 else None
        if verdict is not None:
            found.setdefault(verdict, []).append(slot)
    for (what, why), theirs in found.items():
        project.reviews.add(theirs, what, by, why)
    return sum(map(len, found.values()))
