"""``mturk``: Amazon Mechanical Turk; a HIT is a task, with the pairs side by side in its row."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from karat.judging.checking import PERSON
from karat.judging.exchange.cells import guard
from karat.judging.exchange.csv_format import cell
from karat.judging.exchange.files import beside, write_text, writing
from karat.judging.exchange.formats import FORMATS, Format
from karat.judging.exchange.mturk_columns import FIXED, answer_fields, field, referenced
from karat.judging.exchange.mturk_page import page
from karat.judging.exchange.mturk_results import fits, read
from karat.judging.exchange.tables import write_rows

if TYPE_CHECKING:
    from karat.judging.exchange.outgoing import ExportedAnswer, OutgoingAnswers, OutgoingItem, Tasks
    from karat.judging.forms import Form

STATUS = {"approve": "Approved", "reject": "Rejected"}


def inputs(form: Form, item: OutgoingItem | None, number: int) -> dict[str, str]:
    """Return the cells of one pair; empty where a task has fewer pairs than others."""
    cells = {
        field("image_url", number): item.image if item else "",
        field("text", number): item.caption if item else "",
    }
    if form.own_image:
        cells[field("own_image_url", number)] = item.own_image if item else ""
    return {name: referenced(text) for name, text in cells.items()}


def write_tasks(tasks: Tasks, path: Path) -> list[Path]:
    """Write the input of a batch, a row per HIT, and beside it the layout of the page."""
    width = max(one.number for task in tasks.tasks for one in task.items)
    rows = []
    for task in tasks.tasks:
        row, items = {"task": task.name}, {one.number: one for one in task.items}
        for number in range(1, width + 1):
            row |= inputs(tasks.form, items.get(number), number)
        rows.append(row)
    layout = beside(path, ".html")
    with writing(path) as stream:
        write_rows(stream, list(rows[0]), (list(row.values()) for row in rows))
    write_text(layout, page(tasks.form, width))
    return [path, layout]


def write_answers(answers: OutgoingAnswers, path: Path) -> None:
    """Write answers as a file of results: a row for each hand-in of a task, or answer without a task."""
    form = answers.form
    hand_ins: dict[tuple[int, int], list[ExportedAnswer]] = defaultdict(list)
    for at, one in enumerate(answers.rows):
        hand_ins[(one.slot, -1 if one.task is not None else at)].append(one)
    width = max((one.number for task in answers.tasks for one in task.items), default=1)
    numbers = range(1, width + 1)
    inside = [
        "task",
        "image",
        "caption",
        *(name for number in numbers for name in inputs(form, None, number)),
    ]
    outside = [name for number in numbers for name in answer_fields(form, number)]
    names = [
        *FIXED,
        *(f"Input.{one}" for one in inside),
        *(f"Answer.{one}" for one in outside),
        "Approve",
        "Reject",
    ]
    with writing(path) as stream:
        write_rows(
            stream,
            names,
            (
                [row.get(name, "") for name in names]
                for row in (result(answers, at, rows) for at, rows in enumerate(hand_ins.values()))
            ),
        )


def result(answers: OutgoingAnswers, at: int, rows: list[ExportedAnswer]) -> dict[str, object]:
    """Return the row of one hand-in."""
    first = rows[0]
    verdict, why = answers.verdicts.get(first.slot, ("", ""))
    seconds = math.fsum(one.seconds or 0.0 for one in rows)
    row: dict[str, object] = {
        "HITId": f"karat-task-{first.task}" if first.task is not None else f"karat-pair-{at}",
        "Title": guard(answers.form.title),
        "RequesterAnnotation": "" if first.kind == PERSON else f"karat:kind={first.kind};",
        "AssignmentId": f"karat-{at}",
        "WorkerId": guard(first.worker),
        "AssignmentStatus": STATUS.get(verdict, "Submitted"),
        "SubmitTime": turk_time(max(one.at for one in rows)),
        "RequesterFeedback": guard(why),
        "WorkTimeInSeconds": round(seconds),
    }
    if first.task is None:
        row |= {"Input.image": referenced(str(first.image)), "Input.caption": referenced(str(first.caption))}
    else:
        task = answers.tasks[first.task]
        row["Input.task"] = task.name
        for item in task.items:
            cells = inputs(answers.form, item, item.number)
            row |= {f"Input.{name}": text for name, text in cells.items()}
    for one in rows:
        number = one.item or 1
        row[f"Answer.{field('answer', number)}"] = one.code
        for code, value in one.details.items():
            row[f"Answer.{field(f'details_{code}', number)}"] = cell(value)
        row[f"Answer.{field('seconds', number)}"] = one.seconds
        row[f"Answer.{field('at', number)}"] = one.at
    return row


def turk_time(at: float) -> str:
    """Return a time as Amazon writes it.

    >>> turk_time(1_600_000_000)
    'Sun Sep 13 12:26:40 UTC 2020'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")


FORMATS.add(
    "mturk",
    # No file name asks for it: its tables end in .csv too.
    Format("mturk", "Amazon Mechanical Turk's batches", "", write_tasks, write_answers, read, fits),
    aliases=["amt"],
)
