"""The export of a project's tasks, or of its answers, to files of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from karat._util import TEXT_FORMATS, Result, check_writable, plural
from karat.benchmarks import DIRECTIONS
from karat.errors import InputError
from karat.judging.exchange.file_answers import ExportedAnswer, ExportedAnswers
from karat.judging.exchange.formats import FORMATS, Format, format_for
from karat.judging.exchange.tasks import ExportedItem, ExportedTask, ExportedTasks, TaskNames
from karat.judging.publication import both_sides

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark, Ids

FIELDS = ("{id}", "{name}")
BLOCK = 20_000
"""How many answers are taken from the table at a time."""


@dataclass(frozen=True)
class Exported(Result):
    """What an export wrote.

    Parameters
    ----------
    number, what
        How many, and of what: "task", "answer" or "approval".
    format, files
        In which format, and where.
    notes
        What a reader should know.
    """

    number: int
    what: str
    format: str
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record per file."""
        same = {"number": self.number, "what": self.what, "format": self.format}
        return [same | {"file": str(path)} for path in self.files]

    def parts(self) -> list[str]:
        """Return what is where."""
        files = " and ".join(map(str, self.files))
        return [f"{plural(self.number, self.what)} written to {files} ({self.format})."]


def export_tasks(
    project: Any, path: str | Path, format: str | None = None, images: str = "{name}"
) -> Exported:
    """Write the tasks of a project, to be answered with another tool.

    The files never reveal which pairs are gold, what systems scored, or what other annotators answered. They
    have no caption ids either: in many sets these reveal which image a caption belongs to.

    Parameters
    ----------
    project
        From `open_project`.
    path
        The file to write; formats with a page or an interface write it beside this file.
    format
        One of `FORMATS`; by default chosen by the file's name.
    images
        The address of an image, with ``{id}`` or ``{name}`` (of its file) in it.
    """
    path, chosen = choose(path, format)
    benchmark = project.benchmark()
    if benchmark.instances is not None:
        raise InputError("other tools do not show the masks of instances", fix="use karat serve")
    if chosen.shows_pictures and benchmark.directions != DIRECTIONS:
        what = f"{chosen.name} shows an image and a caption, and {benchmark.name} has {both_sides(benchmark)}"
        raise InputError(what, fix="write a table for a tool that shows them: --format csv or jsonl")
    tasks = collect_tasks(project, images)
    files = chosen.write_tasks(tasks, path)
    return Exported(len(tasks.tasks), "task", chosen.name, tuple(files), tasks.notes)


def export_answers(project: Any, path: str | Path, format: str | None = None) -> Exported:
    """Write the answers in effect of a project; `import_answers` reads them back.

    Parameters
    ----------
    project
        From `open_project`.
    path
        The file to write.
    format
        One of `FORMATS`; by default chosen by the file's name.
    """
    path, chosen = choose(path, format)
    answers = collect_answers(project)
    if not len(answers.rows):
        raise InputError("the project has no answers", fix="import or collect some first")
    chosen.write_answers(answers, path)
    return Exported(len(answers.rows), "answer", chosen.name, (path,))


def choose(path: str | Path, format: str | None) -> tuple[Path, Format]:
    """Return the file to write, and its format."""
    path = Path(path)
    check_writable(path)
    return path, format_for(path) if format is None else FORMATS[format]


def collect_tasks(project: Any, images: str = "{name}") -> ExportedTasks:
    """Return the tasks of a project as annotators may see them.

    Parameters
    ----------
    project
        From `open_project`.
    images
        The address of an image; see `export_tasks`.
    """
    benchmark, form, plan = project.benchmark(), project.form, project.pools.plan()
    if not len(plan):
        raise InputError("the project has no tasks", fix="make some with karat project tasks")
    names = TaskNames(plan)
    address, texts = shown_items(benchmark, images)
    missing = benchmark.texts is None and benchmark.sides[1].kind == "text"
    notes = (f"the benchmark has no {benchmark.sides[1].many}, so their ids are shown",) if missing else ()
    own = benchmark.caption_image if form.own_image else None
    order = np.lexsort((plan.position, plan.task))
    items: list[list[ExportedItem]] = [[] for _ in range(plan.tasks)]
    columns = (plan.task, plan.position, plan.group, plan.image, plan.caption)
    for task, position, group, image, caption in zip(*(column[order].tolist() for column in columns)):
        own_image = address[own[caption]] if own is not None and own[caption] >= 0 else ""
        items[task].append(ExportedItem(position + 1, group, address[image], str(texts[caption]), own_image))
    tasks = tuple(ExportedTask(names[task], tuple(pairs)) for task, pairs in enumerate(items))
    return ExportedTasks(form, tasks, notes)


def shown_items(benchmark: Benchmark, template: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return what tasks show of the items of each side: texts, addresses of images, or ids."""
    shown: list[Sequence[str]] = []
    for side, ids, texts, paths in zip(
        benchmark.sides, benchmark.ids, (None, benchmark.texts), (benchmark.image_paths, None)
    ):
        if texts is not None:
            shown.append(texts)
        elif side.kind == "image":
            shown.append(addresses(ids, paths, template))
        else:
            shown.append([str(item) for item in ids.gallery.tolist()])
    if benchmark.one_collection:
        # Texts are those of the second, files those of the first.
        shown = [shown[benchmark.texts is not None]] * 2
    return shown[0], shown[1]


def addresses(items: Ids, paths: Sequence[str] | None, template: str) -> list[str]:
    """Return the address of every item of a side; it never contains a folder of this machine."""
    ids = [str(item) for item in items.gallery.tolist()]
    names = ids if paths is None else [PurePath(str(path)).name for path in paths]
    encode = quote if "://" in template else str
    parts = re.split(r"(\{id\}|\{name\})", template)
    if len(parts) == 1:
        raise InputError(
            f"the address of images is {template!r}", fix="write {id} or {name}, as in https://host/{id}.jpg"
        )
    return [
        # Split, not formatted: an id that looks like a field stays as it is.
        "".join(encode({"{id}": image, "{name}": name}[part]) if part in FIELDS else part for part in parts)
        for image, name in zip(ids, names)
    ]


def collect_answers(project: Any) -> ExportedAnswers:
    """Return the answers in effect of a project."""
    assignments = project.queue.assignments()
    task_of = dict(zip(assignments.assignment.tolist(), assignments.task.tolist()))
    reviews = {
        int(assignment): (review[0], review[2]) for assignment, review in project.reviews.read().items()
    }
    tasks = collect_tasks(project).tasks if len(project.pools.plan()) else ()
    return ExportedAnswers(project.form, tasks, StoredRows(project, task_of), reviews)


class StoredRows:
    """The answers in effect of a project, made into records one after the other whenever they are asked for.

    A million records at once would take a gigabyte, and Python looks through all of them again and again,
    which stops every other thread of a server.

    Parameters
    ----------
    project
        From `open_project`.
    task_of
        The task of each assignment.
    """

    def __init__(self, project: Any, task_of: dict[int, int]) -> None:
        self._task_of, self._texts = task_of, free_texts(project)
        self._table, plan = project.answers.read(), project.pools.plan()
        keys = zip(plan.task.tolist(), plan.image.tolist(), plan.caption.tolist())
        self._item = dict(zip(keys, (plan.position + 1).tolist()))
        self._codes = {float(choice.rating or 0.0): choice.code for choice in project.form.answers}
        benchmark = project.benchmark()
        self._images, self._captions = benchmark.images.values.tolist(), benchmark.captions.values.tolist()

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[ExportedAnswer]:
        for begin in range(0, len(self), BLOCK):
            yield from self._block(begin, min(begin + BLOCK, len(self)))

    def _block(self, begin: int, end: int) -> Iterator[ExportedAnswer]:
        """Yield the answers of some rows of the table."""
        table = self._table
        details: dict[int, dict[str, str | list[str]]] = {}
        inside = np.zeros(len(table), bool)
        inside[begin:end] = True
        for row, name in table.details.where(inside):
            question, _, choice = name.partition(".")
            details.setdefault(row, {}).setdefault(question, []).append(choice)  # type: ignore[union-attr]
        names = ("image", "caption", "annotator", "rating", "assignment", "seconds", "at")
        columns = (getattr(table, name)[begin:end].tolist() for name in names)
        for row, (image, caption, annotator, rating, assignment, seconds, at) in enumerate(zip(*columns)):
            task = self._task_of.get(assignment, -1)
            name = table.annotators[annotator]
            yield ExportedAnswer(
                None if task < 0 else task,
                self._item.get((task, image, caption)),
                self._images[image],
                self._captions[caption],
                name,
                table.kinds[annotator],
                self._codes[rating],
                None if seconds != seconds else seconds,
                at,
                {**details.get(row, {}), **self._texts.get((assignment, name, image, caption), {})},
                assignment,
            )


def free_texts(project: Any) -> dict[tuple[int, str, int, int], dict[str, str]]:
    """Return the free texts of answers by assignment, annotator and pair: answer tables have only choices."""
    questions = {question.code for question in project.form.follow_ups if question.kind == "text"}
    texts: dict[tuple[int, str, int, int], dict[str, str]] = {}
    for row in project.answers.history() if questions else ():
        assignment = -1 if row["assignment"] is None else row["assignment"]
        # A later row replaces an earlier one, and an undo all of it.
        texts[(assignment, row["annotator"], row["image"], row["caption"])] = {
            code: text for code, text in row["details"].items() if code in questions
        }
    return texts
