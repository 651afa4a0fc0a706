"""``jsonl``: one json object per line and answer; for programs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.judging.exchange.files import writing
from karat.judging.exchange.formats import FORMATS, Format
from karat.judging.exchange.given import (
    Collected,
    Detail,
    ImportedAnswers,
    bad_line,
    checked,
    parse_time,
    shorten,
)
from karat.judging.exchange.json_text import line_blocks

if TYPE_CHECKING:
    from karat.judging.exchange.outgoing import OutgoingAnswers, Tasks
    from karat.judging.forms import Form

NAMES = ("task", "item", "image", "caption")
TEXTS = ("worker", "kind", "answer")
NUMBERS = ("seconds", "at")
KNOWN = frozenset((*NAMES, *TEXTS, *NUMBERS, "details"))


def dumps(value: Any) -> str:
    """Return json on one line; text stays readable."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def write_tasks(tasks: Tasks, path: Path) -> list[Path]:
    """Write a line per pair."""
    with writing(path) as stream:
        for task in tasks.tasks:
            for one in task.items:
                shown = {"image_address": one.image, "caption_text": one.caption}
                if tasks.form.own_image:
                    shown["own_image_address"] = one.own_image
                stream.write(dumps({"task": task.name, "item": one.number, **shown}) + "\n")
    return [path]


def write_answers(answers: OutgoingAnswers, path: Path) -> None:
    """Write a line per answer."""
    with writing(path) as stream:
        for one in answers.rows:
            record = {
                "task": one.task,
                "image": one.image,
                "caption": one.caption,
                "worker": one.worker,
                "kind": one.kind,
                "answer": one.code,
                "seconds": one.seconds,
                "at": one.at,
            }
            if one.details:
                record["details"] = one.details
            stream.write(dumps(record) + "\n")


def read(data: bytes, form: Form, where: Path) -> ImportedAnswers:
    """Read a line per answer."""
    found = Collected()
    details: list[Detail] = []
    for lines, records in line_blocks(data, where):
        for line, record in zip(lines, records):
            if not record.keys() <= KNOWN:
                unknown = next(name for name in record if name not in KNOWN)
                fix = f"the names are {', '.join(sorted(KNOWN))}"
                raise bad_line(where, line, f"there is a name {shorten(unknown)}", fix)
        for row, record in enumerate(records, len(found)):
            if record.get("details"):
                details += as_details(record["details"], row, lines[row - len(found)], where)
        for name in (*NAMES, *TEXTS):
            found.columns[name] += as_texts([record.get(name) for record in records], name, lines, where)
        for name in NUMBERS:
            found.columns[name] += [record.get(name) for record in records]
        found.columns["line"] += lines
    numbers = {name: number_column(found.columns, name, where) for name in NUMBERS}
    return found.given(where, **numbers, details=details)


def as_texts(values: list[Any], name: str, lines: list[int], where: Path) -> list[str]:
    """Return texts, or whole numbers as texts where they are names; lists of one type need no closer look."""
    types = set(map(type, values))
    if types == {str}:
        return values
    if types == {int} and name in NAMES:
        return list(map(str, values))
    check = as_name if name in NAMES else as_text
    return [check(value, name, line, where) for value, line in zip(values, lines)]


def number_column(columns: dict[str, list[Any]], name: str, where: Path) -> np.ndarray:
    """Return a column of seconds or times as numbers, or raise on the first that is none."""
    given = columns[name]
    plain = set(map(type, given)) == {float}
    values = np.array(given if plain else [as_number(one, name) for one in given], dtype=np.float64)
    return checked(values, given, columns["line"], where, name)


def as_text(value: Any, name: str, line: int, where: Path) -> str:
    """Return a text; only the kind of a worker may be left out."""
    if isinstance(value, str):
        return value
    if value is None and name == "kind":
        return ""
    raise bad_line(where, line, f"{name} is {shorten(value)}", "give a text")


def as_name(value: Any, name: str, line: int, where: Path) -> str:
    """Return an id or a task as text; none is an empty one."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise bad_line(where, line, f"{name} is {shorten(value)}", "give a whole number or a text")
    return str(value)


def as_number(value: Any, name: str) -> float:
    """Return a number; NaN where there is none, infinity for what is no number."""
    if value is None:
        return math.nan
    if isinstance(value, str) and name == "at":
        return parse_time(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.inf
    try:
        return float(value)
    except OverflowError:
        return math.inf


def as_details(value: Any, row: int, line: int, where: Path) -> list[Detail]:
    """Return the follow-ups of one answer: a text or a list of texts by the question's code."""
    found: list[Detail] = []
    for code, given in value.items() if isinstance(value, dict) else [("", None)]:
        if isinstance(given, list) and all(isinstance(one, str) for one in given):
            given = tuple(given)
        if not isinstance(given, str | tuple):
            raise bad_line(where, line, f"details is {shorten(value)}", 'write {"question": ["choice"]}')
        if given:
            found.append((row, code, given))
    return found


def fits(head: str) -> bool:
    """Whether a file starts with an object."""
    return head.startswith("{")


FORMATS.add(
    "jsonl",
    Format("jsonl", "a json object per answer", ".jsonl", write_tasks, write_answers, read, fits),
)
