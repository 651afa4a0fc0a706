"""The results of a batch of Amazon Mechanical Turk: their columns, and how they are read."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import unguard
from karat.forms import MAX_WORDS, PERSON, FollowUp, Form
from karat.judging.exchange.csv_format import JOIN, Columns, header_names, read_table
from karat.judging.exchange.file_answers import (
    AnswerColumns,
    Detail,
    ImportedAnswers,
    TextColumn,
    as_seconds,
    as_times,
    bad_line,
    shorten,
)

FIXED = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments",
    "RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration",
    "NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime",
    "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback",
    "WorkTimeInSeconds", "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
)  # fmt: skip
"""The first columns of every file of results; after them come Input.*, Answer.*, Approve and Reject."""
NEEDED = ("AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds", "Input.task")
KIND = re.compile(r"karat:kind=([a-z]+);")
"""How karat writes, in RequesterAnnotation, that an annotator is not a person."""
REVIEWS = {"Submitted": "", "Approved": "approve", "Rejected": "reject"}
STAMP = re.compile(r"\w{3} (\w{3}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\w{3,4}) (\d{4})", re.ASCII)
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7}
"""Hours from UTC; Amazon writes Pacific time."""


def field(what: str, number: int) -> str:
    """Return the name of a form's field for a pair, by the pair's number in the HIT.

    >>> field("answer", 3), field("details_why", 3)
    ('answer_3', 'details_why_3')
    """
    return f"{what}_{number}"


def answer_fields(form: Form, number: int) -> Iterator[str]:
    """Yield the fields that a HIT returns for a pair."""
    yield field("answer", number)
    for question in form.follow_ups:
        yield field(f"details_{question.code}", number)
    yield field("seconds", number)
    yield field("at", number)


def box_fields(question: Form | FollowUp, number: int) -> Iterator[tuple[str, str]]:
    """Yield the field and the code of each choice, where a ``crowd-form`` returns true or false for each."""
    name = field("answer" if isinstance(question, Form) else f"details_{question.code}", number)
    for choice in question.answers if isinstance(question, Form) else question.choices:
        yield f"{name}.{choice.code}", choice.code


def read(data: bytes, form: Form, where: Path) -> ImportedAnswers:
    """Read a row per assignment of a HIT."""
    lines, columns = read_table(data, where)
    for name in NEEDED:
        if name not in columns:
            fix = "give the results of a batch as they were downloaded"
            raise bad_line(where, 1, f"there is no column {name!r}", fix)
    numbers = item_numbers(columns)
    if not numbers:
        raise bad_line(where, 1, "there is no column 'Answer.answer_1'", "use the layout that karat exports")
    check_answer_columns(columns, form, numbers, where)
    answers = AnswerColumns()
    details: list[Detail] = []
    reviews: dict[tuple[str, str], tuple[str, str]] = {}
    shares: list[tuple[float, float]] = []
    rejected = 0
    work = as_seconds(columns["WorkTimeInSeconds"], lines, where, "WorkTimeInSeconds")
    for row, (line, *cells) in enumerate(zip(lines.tolist(), *columns.values())):
        record = dict(zip(columns, cells))
        about, review = describe(record, line, where)
        answered = [(number, code) for number in numbers if (code := answer_of(record, form, number))]
        if review and about["task"] and answered:
            feedback = unguard(record.get("RequesterFeedback", ""))
            reviews[(about["task"], about["annotator"])] = (review, feedback)
        if not answered and review != "reject":
            raise bad_line(where, line, "has no answers", "remove the row, or reject the assignment")
        rejected += not answered
        for number, code in answered:
            details += each_detail(record, form, number, len(answers))
            times = {name: record.get(f"Answer.{field(name, number)}", "") for name in ("seconds", "at")}
            item = str(number) if about["task"] else ""
            answers.add(**about, **times, line=line, item=item, answer=code)
            shares.append((work[row] / len(answered), parse_stamp(record.get("SubmitTime", ""))))
    notes = (f"{rejected:,} rejected assignments without an answer were left out",) if rejected else ()
    seconds, at = answer_times(answers.columns, shares, where)
    return answers.imported(
        where, seconds, at, details=details, reviews=reviews, notes=notes, annotator_column="WorkerId"
    )


def describe(record: dict[str, str], line: int, where: Path) -> tuple[dict[str, str], str]:
    """Return the task, or the pair, and the annotator of one assignment, and its review."""
    review = REVIEWS.get(record["AssignmentStatus"])
    if review is None:
        what = f"AssignmentStatus is {shorten(record['AssignmentStatus'])}"
        raise bad_line(where, line, what, f"it is one of {', '.join(REVIEWS)}")
    if len(record.get("RequesterFeedback", "")) > MAX_WORDS:
        raise bad_line(where, line, "RequesterFeedback is too long", f"give at most {MAX_WORDS:,} characters")
    names = ("task",) if record["Input.task"] else ("image", "caption")
    about = dict.fromkeys(("task", "image", "caption"), "")
    about |= {name: html.unescape(record.get(f"Input.{name}", "")) for name in names}
    kind = KIND.search(record.get("RequesterAnnotation", ""))
    return about | {"annotator": unguard(record["WorkerId"]), "kind": kind[1] if kind else PERSON}, review


def answer_times(
    columns: dict[str, list[Any]], shares: list[tuple[float, float]], where: Path
) -> tuple[np.ndarray, np.ndarray]:
    """Return how long each answer took and when it was given.

    Where the page measured nothing, each answer gets an equal share of the assignment's time.
    """
    seconds = as_seconds(TextColumn.of(columns["seconds"]), columns["line"], where)
    at = as_times(TextColumn.of(columns["at"]), columns["line"], where)
    share, stamp = np.array(shares, dtype=np.float64).reshape(-1, 2).T
    # A page that measures writes when, even where it cannot say how long.
    return np.where(np.isnan(seconds) & np.isnan(at), share, seconds), np.where(np.isnan(at), stamp, at)


def item_numbers(columns: Columns) -> list[int]:
    """Return the numbers of the pairs that a file has answers for."""
    matches = (re.match(r"Answer\.answer_([1-9]\d{0,3})(\.|$)", name) for name in columns)
    return sorted({int(match[1]) for match in matches if match})


def check_answer_columns(columns: Columns, form: Form, numbers: list[int], where: Path) -> None:
    """Raise on an answer column that the form does not have: its answers would be lost."""
    known = set()
    questions: list[Form | FollowUp] = [form, *form.follow_ups]
    for number in numbers:
        known |= {f"Answer.{name}" for name in answer_fields(form, number)}
        known |= {f"Answer.{name}" for question in questions for name, _ in box_fields(question, number)}
    for name in columns:
        if name.startswith("Answer.") and name not in known:
            what = f"there is an unknown column {shorten(name)}"
            raise bad_line(where, 1, what, f"the form {form.name!r} does not ask for it")


def choices(record: dict[str, str], question: Form | FollowUp, number: int, name: str) -> tuple[str, ...]:
    """Return what was chosen, from one cell or from a column per choice."""
    value = record.get(f"Answer.{field(name, number)}", "")
    if value:
        return tuple(value.split(JOIN))
    boxes = box_fields(question, number)
    return tuple(code for box, code in boxes if record.get(f"Answer.{box}", "").lower() in ("true", "on"))


def answer_of(record: dict[str, str], form: Form, number: int) -> str:
    """Return the answer for one pair; empty where there is none."""
    return JOIN.join(choices(record, form, number, "answer"))


def each_detail(record: dict[str, str], form: Form, number: int, row: int) -> Iterator[Detail]:
    """Yield the follow-ups of one pair."""
    for question in form.follow_ups:
        name = f"details_{question.code}"
        if question.kind == "text":
            text = unguard(record.get(f"Answer.{field(name, number)}", ""))
            if text:
                yield row, question.code, text
        elif chosen := choices(record, question, number, name):
            yield row, question.code, chosen


def parse_stamp(text: str) -> float:
    """Return a time as Amazon writes it in seconds since 1970; NaN for any other text.

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
    return {"AssignmentId", "WorkerId"} <= header_names(head)
