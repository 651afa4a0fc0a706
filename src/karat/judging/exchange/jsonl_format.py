"""``jsonl``: one json object per line and answer; for programs."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from karat._util import stage, track
from karat.judging.exchange.file_answers import (
    WRITTEN,
    AnswerColumns,
    Detail,
    ImportedAnswers,
    bad_line,
    check_numbers,
    parse_time,
    shorten,
)
from karat.judging.exchange.files import writing
from karat.judging.exchange.formats import FORMATS, Format

if TYPE_CHECKING:
    from karat.forms import Form
    from karat.judging.exchange.file_answers import ExportedAnswers
    from karat.judging.exchange.tasks import ExportedTasks

NAMES = ("task", "item", "image", "caption")
TEXTS = ("annotator", "kind", "answer")
NUMBERS = ("seconds", "at")
KNOWN = frozenset((*NAMES, *TEXTS, *WRITTEN.values(), *NUMBERS, "details"))
LARGEST_RECORD = 2**24
"""The most characters of a record: an answer has a few hundred, a task of Label Studio a few thousand."""
BLOCK = 10_000
"""How many lines are read together, and the most characters of such a line."""
COMPLETE = "check that the file is complete"


def dumps(value: Any) -> str:
    """Return json on one line; text stays readable."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def write_tasks(tasks: ExportedTasks, path: Path) -> list[Path]:
    """Write a line per pair."""
    with writing(path) as stream:
        for task in track(tasks.tasks, "writing tasks"):
            for item in task.items:
                shown = {"image_address": item.image, "caption_text": item.caption}
                if tasks.form.own_image:
                    shown["own_image_address"] = item.own_image
                stream.write(dumps({"task": task.name, "item": item.number, **shown}) + "\n")
    return [path]


def write_answers(answers: ExportedAnswers, path: Path) -> None:
    """Write a line per answer."""
    with writing(path) as stream:
        for answer in track(answers.rows, "writing answers"):
            record = {
                "task": answer.task,
                "image": answer.image,
                "caption": answer.caption,
                WRITTEN["annotator"]: answer.annotator,
                "kind": answer.kind,
                "answer": answer.code,
                "seconds": answer.seconds,
                "at": answer.at,
            }
            if answer.details:
                record["details"] = answer.details
            stream.write(dumps(record) + "\n")


def read(data: bytes, form: Form, where: Path) -> ImportedAnswers:
    """Read a line per answer."""
    answers = AnswerColumns()
    details: list[Detail] = []
    keys = dict(WRITTEN)
    for lines, records in line_blocks(data, where):
        for line, record in zip(lines, records):
            check_keys(record, line, where)
        for row, record in enumerate(records, len(answers)):
            if record.get("details"):
                details += as_details(record["details"], row, lines[row - len(answers)], where)
        keys |= {name: name for name in WRITTEN if any(name in record for record in records)}
        for name in (*NAMES, *TEXTS):
            written = WRITTEN.get(name, name)
            values = [record[written] if written in record else record.get(name) for record in records]
            answers.columns[name] += as_texts(values, keys.get(name, name), lines, where)
        for name in NUMBERS:
            answers.columns[name] += [record.get(name) for record in records]
        answers.columns["line"] += lines
    numbers = {name: number_column(answers.columns, name, where) for name in NUMBERS}
    return answers.imported(where, **numbers, details=details, annotator_column=keys["annotator"])


def check_keys(record: dict[str, Any], line: int, where: Path) -> None:
    """Raise on an unknown name, and on two names that mean the same."""
    if not record.keys() <= KNOWN:
        unknown = next(name for name in record if name not in KNOWN)
        fix = f"the names are {', '.join(sorted(KNOWN))}"
        raise bad_line(where, line, f"there is an unknown name {shorten(unknown)}", fix)
    for name, written in WRITTEN.items():
        if name in record and written in record:
            what = f"the names {written!r} and {name!r} mean the same"
            raise bad_line(where, line, what, "keep one of them")


def as_texts(values: list[Any], name: str, lines: list[int], where: Path) -> list[str]:
    """Return texts, and ids that are whole numbers as texts; a list of one type is checked as a whole."""
    types = set(map(type, values))
    if types == {str}:
        return values
    if types == {int} and name in NAMES:
        return list(map(str, values))
    check = as_name if name in NAMES else as_text
    return [check(value, name, line, where) for value, line in zip(values, lines)]


def number_column(columns: dict[str, list[Any]], name: str, where: Path) -> np.ndarray:
    """Return a column of seconds or times as numbers, or raise on the first value that is not one."""
    values = columns[name]
    plain = set(map(type, values)) == {float}
    numbers = np.array(values if plain else [as_number(value, name) for value in values], dtype=np.float64)
    return check_numbers(numbers, values, columns["line"], where, name)


def as_text(value: Any, name: str, line: int, where: Path) -> str:
    """Return a text; only the kind of an annotator may be left out."""
    if isinstance(value, str):
        return value
    if value is None and name == "kind":
        return ""
    raise bad_line(where, line, f"{name} is {shorten(value)}", "give a text")


def as_name(value: Any, name: str, line: int, where: Path) -> str:
    """Return an id or a task as text; empty where there is none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise bad_line(where, line, f"{name} is {shorten(value)}", "give a whole number or a text")
    return str(value)


def as_number(value: Any, name: str) -> float:
    """Return a number; NaN where there is none, infinity for what is not a number."""
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
    details: list[Detail] = []
    for code, answer in value.items() if isinstance(value, dict) else [("", None)]:
        if isinstance(answer, list) and all(isinstance(choice, str) for choice in answer):
            answer = tuple(answer)
        if not isinstance(answer, str | tuple):
            raise bad_line(where, line, f"details is {shorten(value)}", 'write {"question": ["choice"]}')
        if answer:
            details.append((row, code, answer))
    return details


def fits(head: str) -> bool:
    """Whether a file starts with an object."""
    return head.startswith("{")


class RefusedError(ValueError):
    """An object has a duplicate name, or a number is not finite."""


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; which of two equal names counts would depend on the reader."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise RefusedError("has a duplicate name in an object")
    return record


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and infinity, which json does not have."""
    raise RefusedError(f"contains {name}, which is not json")


DECODER = json.JSONDecoder(object_pairs_hook=unique, parse_constant=refuse_constant)


def decode(text: str, start: int, line: int, where: Path) -> tuple[Any, int]:
    """Return the value that starts at a position of a text, and where it ends."""
    try:
        return DECODER.raw_decode(text, start)
    except RecursionError:
        raise bad_line(where, line, "is nested too deeply", "an answer is a flat object") from None
    except RefusedError as error:
        raise bad_line(where, line, str(error), "write each name once, and plain numbers") from None
    except json.JSONDecodeError as error:
        at = line + text.count("\n", start, error.pos)
        raise bad_line(where, at, f"is not json ({error.msg.lower()})", COMPLETE) from None
    except ValueError:
        # Python refuses whole numbers of thousands of digits.
        raise bad_line(where, line, "has a number that is too long", "write plain numbers") from None


def line_blocks(data: bytes, where: Path) -> Iterator[tuple[list[int], list[dict[str, Any]]]]:
    """Yield the numbers and the objects of the lines that are not empty, thousands at a time.

    >>> list(line_blocks(b'{"a": 1}\\n\\n{"a": 2}', Path("a.jsonl")))
    [([1, 3], [{'a': 1}, {'a': 2}])]
    """
    # Only line feeds end a line: json texts may contain any other separator.
    stream, start = io.BytesIO(data), 1
    with stage("reading lines", data.count(b"\n") + (not data.endswith(b"\n"))) as read:
        while block := list(islice(stream, BLOCK)):
            texts = [line.decode().strip(" \t\r\n") for line in block]
            numbers = [start + at for at, text in enumerate(texts) if text]
            texts = [text for text in texts if text]
            records = decode_together(texts)
            if records is None:
                records = [decode_line(text, number, where) for number, text in zip(numbers, texts)]
            yield numbers, records
            start += len(block)
            read.advance(len(block))


def decode_together(texts: list[str]) -> list[dict[str, Any]] | None:
    """Return the objects of several lines, read as one list; None when they must be read one by one.

    A line end between lines cannot be inside a text, and every line has to start and end an object: what one
    line leaves open, the next cannot close, except for objects inside lists, which no answer has.
    """
    if (
        not all(text[0] == "{" and text[-1] == "}" for text in texts)
        or max(map(len, texts), default=0) > BLOCK
    ):
        return None
    try:
        records = DECODER.decode("[" + ",\n".join(texts) + "]")
    except (ValueError, RecursionError):
        return None
    return records if len(records) == len(texts) else None


def decode_line(text: str, number: int, where: Path) -> dict[str, Any]:
    """Return the object of one line, or raise."""
    if len(text) > LARGEST_RECORD:
        raise bad_line(where, number, f"has more than {LARGEST_RECORD:,} characters", COMPLETE)
    value, end = decode(text, 0, number, where)
    if end < len(text):
        raise bad_line(where, number, "has more after its object", "write one object per line")
    return as_object(value, number, where)


def as_object(value: Any, line: int, where: Path) -> dict[str, Any]:
    """Return an object, or raise."""
    if not isinstance(value, dict):
        raise bad_line(where, line, f"is {shorten(value)}, not an object", "write {…}")
    return value


FORMATS.add(
    "jsonl",
    Format("jsonl", "a json object per answer", ".jsonl", write_tasks, write_answers, read, fits),
)
