"""``csv``: one row per answer; tasks are a sheet with a row per pair, to be filled in and imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.judging.exchange.cells import JOIN, guard, unguard
from karat.judging.exchange.files import writing
from karat.judging.exchange.formats import FORMATS, Format
from karat.judging.exchange.given import Detail, ImportedAnswers, as_seconds, as_times, bad_line
from karat.judging.exchange.tables import Columns, check_columns, read_table, write_rows
from karat.judging.exchange.texts import Texts

if TYPE_CHECKING:
    from karat.judging.exchange.outgoing import OutgoingAnswers, Tasks
    from karat.judging.forms import Form

SHOWN = ("image_address", "caption_text", "own_image_address")
"""Columns for the people who fill in a sheet; not read back."""
COLUMNS = ("task", "item", "image", "caption", "worker", "kind", "answer", "seconds", "at")


def detail_columns(form: Form) -> list[str]:
    """Return the columns of the follow-up questions, such as ``details.shortcomings``."""
    return [f"details.{one.code}" for one in form.follow_ups]


def write_tasks(tasks: Tasks, path: Path) -> list[Path]:
    """Write a sheet with a row per pair, and empty cells for who answers what."""
    further = detail_columns(tasks.form)
    empty = [""] * (2 + len(further))
    shown = SHOWN if tasks.form.own_image else SHOWN[:2]
    with writing(path) as stream:
        write_rows(
            stream,
            ["task", "item", *shown, "worker", "answer", *further],
            (
                [
                    task.name,
                    one.number,
                    *map(guard, (one.image, one.caption, one.own_image)[: len(shown)]),
                    *empty,
                ]
                for task in tasks.tasks
                for one in task.items
            ),
        )
    return [path]


def write_answers(answers: OutgoingAnswers, path: Path) -> None:
    """Write a row per answer."""
    codes = [one.code for one in answers.form.follow_ups]
    names = [name for name in COLUMNS if name != "item"] + detail_columns(answers.form)
    with writing(path) as stream:
        write_rows(
            stream,
            names,
            (
                [
                    one.task,
                    guarded(one.image),
                    guarded(one.caption),
                    guard(one.worker),
                    one.kind,
                    one.code,
                    one.seconds,
                    one.at,
                    *(cell(one.details.get(code, "")) for code in codes),
                ]
                for one in answers.rows
            ),
        )


def guarded(value: object) -> object:
    """Return an id for a cell; numbers are no formulas."""
    return guard(value) if isinstance(value, str) else value


def cell(value: str | list[str]) -> str:
    """Return the answer to a follow-up question for a cell."""
    return guard(value) if isinstance(value, str) else JOIN.join(value)


def read(data: bytes, form: Form, where: Path) -> ImportedAnswers:
    """Read a row per answer; rows of a sheet that nobody filled in are passed over."""
    lines, columns = read_table(data, where)
    check_columns(columns, [*COLUMNS, *detail_columns(form), *SHOWN], ["worker", "answer"], where)
    if not ({"task", "item"} <= columns.keys() or {"image", "caption"} <= columns.keys()):
        raise bad_line(where, 1, "the columns name no pair", "give task and item, or image and caption")
    filled = (columns["worker"].map(bool) | columns["answer"].map(bool)).astype(bool)
    notes: tuple[str, ...] = ()
    if not filled.all():
        notes = (f"{int((~filled).sum()):,} rows without worker and answer were left out",)
        lines, columns = lines[filled], {name: column.where(filled) for name, column in columns.items()}
    column = {name: columns.get(name, Texts.empty(len(lines))) for name in COLUMNS}
    for name in ("image", "caption", "worker"):
        column[name] = column[name].turned(unguard)
    seconds, at = as_seconds(column.pop("seconds"), lines, where), as_times(column.pop("at"), lines, where)
    found: dict[str, Any] = {**column, "details": read_details(columns, form), "notes": notes}
    return ImportedAnswers(where, lines, **found, seconds=seconds, at=at)


def read_details(columns: Columns, form: Form) -> list[Detail]:
    """Return the follow-ups of every row that has some."""
    details: list[Detail] = []
    for one in form.follow_ups:
        column = columns.get(f"details.{one.code}", Texts.empty(0))
        parsed = [unguard(text) if one.kind == "text" else tuple(text.split(JOIN)) for text in column.values]
        rows = np.flatnonzero(column.map(bool))
        for row, code in zip(rows.tolist(), column.code[rows].tolist()):
            details.append((row, one.code, parsed[code]))
    return details


def fits(head: str) -> bool:
    """Whether a file starts like a table of answers."""
    names = head.partition("\n")[0].replace('"', "").strip().split(",")
    return {"worker", "answer"} <= set(names)


FORMATS.add(
    "csv",
    Format("csv", "a row per answer; for spreadsheets", ".csv", write_tasks, write_answers, read, fits),
)
