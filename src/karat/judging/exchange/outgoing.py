"""What leaves a project: tasks as people may see them, and answers with the benchmark's ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from karat.errors import InputError
from karat.judging.exchange.task_names import TaskNames

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark
    from karat.judging.forms import Form


FIELDS = ("{id}", "{name}")


@dataclass(frozen=True)
class OutgoingItem:
    """A pair as people see it. There is no caption id: many say which image the caption was written for."""

    number: int
    group: int
    image: str
    caption: str
    own_image: str = ""


@dataclass(frozen=True)
class Task:
    """A task as people see it; nothing says which pairs are known or what a system scored."""

    name: str
    items: tuple[OutgoingItem, ...]


@dataclass(frozen=True)
class Tasks:
    """All tasks of a project, with the form that they are asked by."""

    form: Form
    tasks: tuple[Task, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExportedAnswer:
    """One answer in effect."""

    task: int | None
    item: int | None
    image: Any
    caption: Any
    worker: str
    kind: str
    code: str
    seconds: float | None
    at: float
    details: dict[str, str | list[str]]
    slot: int


@dataclass(frozen=True)
class OutgoingAnswers:
    """The answers of a project, in the order of its table.

    Parameters
    ----------
    project_form, tasks
        What was asked; the tasks by their numbers.
    rows
        The answers.
    verdicts
        Per slot, "approve" or "reject", and why.
    """

    form: Form
    tasks: Sequence[Task]
    rows: Sequence[ExportedAnswer]
    verdicts: dict[int, tuple[str, str]]


def collect_tasks(project: Any, images: str = "{name}") -> Tasks:
    """Return the tasks of a project as people may see them.

    Parameters
    ----------
    project
        From `open_project`.
    images
        How the address of an image is made from its id and its file's name.
    """
    benchmark, form, plan = project.benchmark(), project.form, project.pools.plan()
    if not len(plan):
        raise InputError("the project has no tasks", fix="make some with karat tasks")
    names = TaskNames(plan)
    address = addresses(benchmark, images)
    texts = benchmark.captions.gallery.tolist() if benchmark.texts is None else benchmark.texts
    notes = ("the benchmark has no captions, so their ids are shown",) if benchmark.texts is None else ()
    own = benchmark.caption_image if form.own_image else None
    order = np.lexsort((plan.position, plan.task))
    items: list[list[OutgoingItem]] = [[] for _ in range(plan.tasks)]
    columns = (plan.task, plan.position, plan.group, plan.image, plan.caption)
    for task, position, group, image, caption in zip(*(column[order].tolist() for column in columns)):
        theirs = address[own[caption]] if own is not None and own[caption] >= 0 else ""
        items[task].append(OutgoingItem(position + 1, group, address[image], str(texts[caption]), theirs))
    return Tasks(form, tuple(Task(names[at], tuple(one)) for at, one in enumerate(items)), notes)


def addresses(benchmark: Benchmark, template: str) -> list[str]:
    """Return the address of every image; folders of this machine are never part of it."""
    ids = [str(one) for one in benchmark.images.gallery.tolist()]
    paths = benchmark.image_paths
    names = ids if paths is None else [PurePath(str(path)).name for path in paths]
    coded = quote if "://" in template else str
    parts = re.split(r"(\{id\}|\{name\})", template)
    if len(parts) == 1:
        raise InputError(
            f"the address of images is {template!r}", fix="write {id} or {name}, as in https://host/{id}.jpg"
        )
    return [
        # Split, not formatted: an id that looks like a field stays as it is.
        "".join(coded({"{id}": one, "{name}": name}[part]) if part in FIELDS else part for part in parts)
        for one, name in zip(ids, names)
    ]


def collect_answers(project: Any) -> OutgoingAnswers:
    """Return the answers in effect of a project."""
    slots = project.queue.slots()
    task_of = dict(zip(slots.slot.tolist(), slots.task.tolist()))
    verdicts = {int(slot): (found[0], found[2]) for slot, found in project.reviews.read().items()}
    tasks = collect_tasks(project).tasks if len(project.pools.plan()) else ()
    return OutgoingAnswers(project.form, tasks, tuple(each_answer(project, task_of)), verdicts)


def each_answer(project: Any, task_of: dict[int, int]) -> Iterator[ExportedAnswer]:
    """Yield the answers of a project's table."""
    table, benchmark, form, plan = (
        project.answers.read(),
        project.benchmark(),
        project.form,
        project.pools.plan(),
    )
    details: dict[int, dict[str, str | list[str]]] = {}
    texts = written_texts(project)
    for row, detail in zip(table.detail_row.tolist(), table.detail.tolist()):
        question, _, choice = table.details[detail].partition(".")
        details.setdefault(row, {}).setdefault(question, []).append(choice)  # type: ignore[union-attr]
    keys = zip(plan.task.tolist(), plan.image.tolist(), plan.caption.tolist())
    item = dict(zip(keys, (plan.position + 1).tolist()))
    codes = {float(one.rating or 0.0): one.code for one in form.answers}
    images, captions = benchmark.images.values.tolist(), benchmark.captions.values.tolist()
    columns = (table.image, table.caption, table.worker, table.rating, table.slot, table.seconds, table.at)
    for row, (image, caption, worker, rating, slot, seconds, at) in enumerate(
        zip(*(column.tolist() for column in columns))
    ):
        task = task_of.get(slot, -1)
        yield ExportedAnswer(
            None if task < 0 else task,
            item.get((task, image, caption)),
            images[image],
            captions[caption],
            table.workers[worker],
            table.kinds[worker],
            codes[rating],
            None if seconds != seconds else seconds,
            at,
            {**details.get(row, {}), **texts.get((slot, table.workers[worker], image, caption), {})},
            slot,
        )


def written_texts(project: Any) -> dict[tuple[int, str, int, int], dict[str, str]]:
    """Return the free texts of answers, by slot, worker and pair: tables of answers hold choices only."""
    asked = {one.code for one in project.form.follow_ups if one.kind == "text"}
    texts: dict[tuple[int, str, int, int], dict[str, str]] = {}
    for row in project.answers.history() if asked else ():
        slot = -1 if row["slot"] is None else row["slot"]
        # A later row replaces an earlier one, and an undo all of it.
        texts[(slot, row["worker"], row["image"], row["caption"])] = {
            code: text for code, text in row["details"].items() if code in asked
        }
    return texts
