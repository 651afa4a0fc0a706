"""Reading the results of a batch of Amazon Mechanical Turk."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.judging.checking import PERSON
from karat.judging.exchange.cells import JOIN, unguard
from karat.judging.exchange.given import (
    Collected,
    Detail,
    ImportedAnswers,
    as_seconds,
    as_times,
    bad_line,
    shorten,
)
from karat.judging.exchange.mturk_columns import KIND, NEEDED, checked_fields, field
from karat.judging.exchange.tables import Columns, read_table
from karat.judging.exchange.texts import Texts
from karat.judging.store import MOST_WORDS

if TYPE_CHECKING:
    from karat.judging.forms import FollowUp, Form

VERDICTS = {"Submitted": "", "Approved": "approve", "Rejected": "reject"}
STAMP = re.compile(r"\w{3} (\w{3}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\w{3,4}) (\d{4})", re.ASCII)
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7}
"""Hours from UTC; Amazon writes Pacific time."""


def read(data: bytes, form: Form, where: Path) -> ImportedAnswers:
    """Read a row per hand-in of a HIT."""
    lines, columns = read_table(data, where)
    for name in NEEDED:
        if name not in columns:
            raise bad_line(
                where, 1, f"there is no column {name!r}", "give the results of a batch as they are"
            )
    numbers = item_numbers(columns)
    if not numbers:
        raise bad_line(where, 1, "there is no column 'Answer.answer_1'", "use the layout that karat exports")
    check_answer_columns(columns, form, numbers, where)
    found = Collected()
    details: list[Detail] = []
    reviews: dict[tuple[str, str], tuple[str, str]] = {}
    shares: list[tuple[float, float]] = []
    rejected = 0
    work = as_seconds(columns["WorkTimeInSeconds"], lines, where, "WorkTimeInSeconds")
    for row, (line, *cells) in enumerate(zip(lines.tolist(), *columns.values())):
        record = dict(zip(columns, cells))
        about, verdict = describe(record, line, where)
        answered = [(number, code) for number in numbers if (code := taken(record, form, number))]
        if verdict and about["task"] and answered:
            reviews[(about["task"], about["worker"])] = (
                verdict,
                unguard(record.get("RequesterFeedback", "")),
            )
        if not answered and verdict != "reject":
            raise bad_line(where, line, "has no answer at all", "remove the row, or reject the assignment")
        rejected += not answered
        for number, code in answered:
            details += each_detail(record, form, number, len(found))
            times = {name: record.get(f"Answer.{field(name, number)}", "") for name in ("seconds", "at")}
            found.add(**about, **times, line=line, item=str(number) if about["task"] else "", answer=code)
            shares.append((work[row] / len(answered), parse_stamp(record.get("SubmitTime", ""))))
    notes = (f"{rejected:,} rejected hand-ins without an answer were left out",) if rejected else ()
    seconds, at = shared_out(found.columns, shares, where)
    return found.given(where, seconds, at, details=details, reviews=reviews, notes=notes)


def describe(record: dict[str, str], line: int, where: Path) -> tuple[dict[str, str], str]:
    """Return the task, or the pair, and the worker of one hand-in, and the verdict on it."""
    verdict = VERDICTS.get(record["AssignmentStatus"])
    if verdict is None:
        what = f"AssignmentStatus is {shorten(record['AssignmentStatus'])}"
        raise bad_line(where, line, what, f"it is one of {', '.join(VERDICTS)}")
    if len(record.get("RequesterFeedback", "")) > MOST_WORDS:
        raise bad_line(
            where, line, "RequesterFeedback is too long", f"give at most {MOST_WORDS:,} characters"
        )
    names = ("task",) if record["Input.task"] else ("image", "caption")
    about = dict.fromkeys(("task", "image", "caption"), "")
    about |= {name: html.unescape(record.get(f"Input.{name}", "")) for name in names}
    kind = KIND.search(record.get("RequesterAnnotation", ""))
    return about | {"worker": unguard(record["WorkerId"]), "kind": kind[1] if kind else PERSON}, verdict


def shared_out(
    columns: dict[str, list[Any]], shares: list[tuple[float, float]], where: Path
) -> tuple[np.ndarray, np.ndarray]:
    """Return how long each answer took and when it was given; a page that measured nothing shares its own."""
    seconds = as_seconds(Texts.of(columns["seconds"]), columns["line"], where)
    at = as_times(Texts.of(columns["at"]), columns["line"], where)
    share, stamp = np.array(shares, dtype=np.float64).reshape(-1, 2).T
    # A page that measures writes when, even where it cannot say how long.
    return np.where(np.isnan(seconds) & np.isnan(at), share, seconds), np.where(np.isnan(at), stamp, at)


def item_numbers(columns: Columns) -> list[int]:
    """Return the places of the pairs that a file has answers for."""
    found = (re.match(r"Answer\.answer_([1-9]\d{0,3})(\.|$)", name) for name in columns)
    return sorted({int(one[1]) for one in found if one})


def check_answer_columns(columns: Columns, form: Form, numbers: list[int], where: Path) -> None:
    """Raise on an answer column that the form does not explain: it would be lost."""
    known = {f"Answer.{field(what, number)}" for number in numbers for what in ("answer", "seconds", "at")}
    asked: list[Form | FollowUp] = [form, *form.follow_ups]
    for number in numbers:
        known |= {f"Answer.{name}" for one in asked for name, _ in checked_fields(one, number)}
        known |= {f"Answer.{field(f'details_{one.code}', number)}" for one in form.follow_ups}
    for name in columns:
        if name.startswith("Answer.") and name not in known:
            what = f"there is a column {shorten(name)}"
            raise bad_line(where, 1, what, f"the form {form.name!r} asks for no such thing")


def choices(record: dict[str, str], one: Form | FollowUp, number: int, name: str) -> tuple[str, ...]:
    """Return what was chosen, from one cell or from a column per choice."""
    value = record.get(f"Answer.{field(name, number)}", "")
    if value:
        return tuple(value.split(JOIN))
    boxes = checked_fields(one, number)
    return tuple(code for box, code in boxes if record.get(f"Answer.{box}", "").lower() in ("true", "on"))


def taken(record: dict[str, str], form: Form, number: int) -> str:
    """Return the answer for one pair; nothing where there is none."""
    return JOIN.join(choices(record, form, number, "answer"))


def each_detail(record: dict[str, str], form: Form, number: int, row: int) -> Iterator[Detail]:
    """Yield the follow-ups of one pair."""
    for one in form.follow_ups:
        name = f"details_{one.code}"
        if one.kind == "text":
            text = unguard(record.get(f"Answer.{field(name, number)}", ""))
            if text:
                yield row, one.code, text
        elif chosen := choices(record, one, number, name):
            yield row, one.code, chosen


def parse_stamp(text: str) -> float:
    """Return a time of Amazon's in seconds since 1970; NaN where it is none.

    >>> parse_stamp("Sun Sep 13 05:26:40 PDT 2020")
    1600000000.0
    """
    match = STAMP.fullmatch(text)
    if match is None or match[4] not in ZONES:
        return np.nan
    try:
        moment = datetime.strptime(" ".join(match.group(1, 2, 3, 5)), "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    except ValueError:
        return np.nan
    return (moment - timedelta(hours=ZONES[match[4]])).timestamp()


def fits(head: str) -> bool:
    """Whether a file starts like the results of a batch."""
    names = head.partition("\n")[0].replace('"', "").strip().split(",")
    return {"AssignmentId", "WorkerId"} <= set(names)
