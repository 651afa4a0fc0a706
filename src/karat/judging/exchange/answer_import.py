"""The import of answers from a file: every answer is checked, and all of them are stored or none."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import TEXT_FORMATS, Result, plural
from karat.benchmarks import pair_of
from karat.errors import InputError
from karat.forms import ANNOTATOR_KINDS, PERSON, check_name
from karat.judging.exchange.file_answers import ImportedAnswers, TextColumn, shorten
from karat.judging.exchange.files import read_text_bytes
from karat.judging.exchange.formats import FORMATS, guess_format
from karat.judging.exchange.tasks import TaskNames

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark, Ids
    from karat.forms import AnswerRows, Form, TaskPlan

ROW = re.compile(r"row (\d+):? ?(.*)", re.DOTALL)
ABSENT = -1


@dataclass(frozen=True)
class Imported(Result):
    """What was imported.

    Parameters
    ----------
    answers, annotators
        How many answers were imported, of how many annotators.
    format
        The format of the file.
    reviews
        How many assignments were approved or rejected, as the file says.
    notes
        What was left out.
    """

    answers: int
    annotators: int
    format: str
    reviews: int = 0
    notes: tuple[str, ...] = ()
    formats = TEXT_FORMATS

    def records(self) -> list[dict[str, Any]]:
        """Return one record: how many of each."""
        return [{name: value for name, value in asdict(self).items() if name != "notes"}]

    def parts(self) -> list[str]:
        """Return how many of each."""
        annotators = plural(self.annotators, "annotator")
        lines = [f"{plural(self.answers, 'answer')} of {annotators} imported ({self.format})."]
        if self.reviews:
            lines.append(f"{plural(self.reviews, 'assignment')} approved or rejected, as the file says.")
        return ["\n".join(lines)]


def import_answers(project: Any, path: str | Path, format: str | None = None) -> Imported:
    """Import the answers of a file into a project, all of them or none.

    Parameters
    ----------
    project
        From `open_project`.
    path
        A text file in UTF-8, plain or the only file in a gzip or zip archive.
    format
        One of `FORMATS`; by default detected from the start of the file.

    Returns
    -------
    Imported
        How many answers were imported. For a file with any error an `InputError` names the line, and the
        project is unchanged.
    """
    path = Path(path)
    with no_collecting():
        answers, name = read_answers(project, path, format)
        rows = check_answers(answers, project.benchmark(), project.form, project.pools.plan())
    if not len(rows):
        raise InputError("contains no answers", where=path, fix="check that it is the right file")
    try:
        number = project.answers.record(rows)
    except InputError as error:
        raise with_line(error, answers) from None
    reviews = record_reviews(project, answers, name)
    return Imported(number, len(answers.annotator.values), name, reviews, answers.notes)


@contextmanager
def no_collecting() -> Iterator[None]:
    """Pause Python's search for reference cycles: for millions of objects it takes as long as making them."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def read_answers(project: Any, path: Path, format: str | None) -> tuple[ImportedAnswers, str]:
    """Return the answers of a file before they are checked, and the name of its format."""
    data = read_text_bytes(path)
    if not data.strip():
        raise InputError("is empty", where=path, fix="check that it is the right file")
    chosen = guess_format(data, path) if format is None else FORMATS[format]
    return chosen.read(data, project.form, path), chosen.name


def with_line(error: InputError, answers: ImportedAnswers) -> InputError:
    """Return an error of the store that names the line of the file instead of the row."""
    match = ROW.match(error.what)
    if match is None or int(match[1]) >= len(answers):
        return InputError(error.what, where=answers.where, fix=error.fix)
    return answers.error(int(match[1]), match[2], error.fix or "check the line")


def record_reviews(project: Any, answers: ImportedAnswers, by: str) -> int:
    """Store which assignments were approved or rejected elsewhere; return how many."""
    if not answers.reviews:
        return 0
    task_names = TaskNames(project.pools.plan())
    reviews = {
        (task_names.find(task), annotator): review for (task, annotator), review in answers.reviews.items()
    }
    annotators, _ = project.annotators.read()
    table = project.queue.assignments()
    reviewed: dict[tuple[str, str], list[int]] = {}
    columns = (table.assignment.tolist(), table.task.tolist(), table.annotator.tolist())
    for assignment, task, annotator in zip(*columns):
        review = reviews.get((task, annotators[annotator])) if annotator >= 0 else None
        if review is not None:
            reviewed.setdefault(review, []).append(assignment)
    for (outcome, reason), assignments in reviewed.items():
        project.reviews.add(assignments, outcome, by, reason)
    return sum(map(len, reviewed.values()))


def check_answers(answers: ImportedAnswers, benchmark: Benchmark, form: Form, plan: TaskPlan) -> AnswerRows:
    """Return rows for `project.answers.record`; raise with the line of the first answer that does not fit.

    Parameters
    ----------
    answers
        What a file says.
    benchmark, form, plan
        Of the project: its ids, its answers and follow-up questions, its tasks.
    """
    from karat.forms import AnswerRows

    tasks, image, caption = find_pairs(answers, benchmark, TaskNames(plan))
    codes = [choice.code for choice in form.answers]
    fix = f"the answers of the form {form.name!r} are {', '.join(codes)}"
    check_column(answers, answers.answer, "answer", codes.__contains__, fix)
    kinds = answers.kind.texts(lambda kind: kind or PERSON)
    check_column(answers, kinds, "kind", ANNOTATOR_KINDS.__contains__, f"choose {', '.join(ANNOTATOR_KINDS)}")
    check_annotators(answers, kinds)
    check_duplicates(answers, tasks, image, caption)
    return AnswerRows(
        tasks,
        image,
        caption,
        list(answers.annotator),
        list(answers.answer),
        answers.seconds,
        np.where(np.isnan(answers.at), time.time(), answers.at),
        details_of(answers),
        list(kinds),
    )


def check_column(
    answers: ImportedAnswers, column: TextColumn, name: str, fits: Callable[[str], bool], fix: str
) -> None:
    """Raise on the first text that does not fit."""
    row = column.first(lambda text: not fits(text))
    if row is not None:
        raise answers.error(row, f"{name} is {shorten(column[row])}", fix)


def check_annotators(answers: ImportedAnswers, kinds: TextColumn) -> None:
    """Raise on names that cannot be stored, and on an annotator of two kinds."""

    def fits(name: str) -> bool:
        try:
            return bool(check_name(name, "annotator"))
        except InputError:
            return False

    annotator = answers.annotator
    fix = "give a short name of printable characters"
    check_column(answers, annotator, answers.annotator_column, fits, fix)
    kind = kinds.numbers(ANNOTATOR_KINDS.index)
    first = np.full(len(annotator.values), -1)
    first[annotator.code[::-1]] = kind[::-1]
    wrong = np.flatnonzero(first[annotator.code] != kind)
    if len(wrong):
        row = int(wrong[0])
        before = ANNOTATOR_KINDS[first[annotator.code[row]]]
        what = f"{shorten(annotator[row])} is a {kinds[row]} here and a {before} in an earlier line"
        raise answers.error(row, what, "give each annotator one kind")


def check_duplicates(
    answers: ImportedAnswers, tasks: np.ndarray, image: np.ndarray, caption: np.ndarray
) -> None:
    """Raise when an annotator answers a pair of a task twice."""
    columns = np.stack([answers.annotator.code, tasks, image, caption])
    order = np.lexsort(columns)
    ordered = columns[:, order]
    # The sort is stable: of two equal answers the later line follows the earlier.
    repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).all(axis=0))
    if len(repeated):
        first = repeated[np.argmin(order[repeated + 1])]
        row, before = int(order[first + 1]), int(order[first])
        what = f"{shorten(answers.annotator[row])} answers this pair again after line {answers.line[before]}"
        raise answers.error(row, what, "keep one of the two")


def details_of(answers: ImportedAnswers) -> list[dict[str, Any] | None] | None:
    """Return the follow-ups of each answer, a question once; the store checks that they fit the form."""
    if not answers.details:
        return None
    details: list[dict[str, Any] | None] = [None] * len(answers)
    for row, question, value in answers.details:
        follow_ups = details[row]
        if follow_ups is None:
            follow_ups = details[row] = {}
        elif question in follow_ups:
            what = f"there is a duplicate follow-up {shorten(question)}"
            raise answers.error(row, what, "keep one of them")
        follow_ups[question] = value
    return details


def find_pairs(
    answers: ImportedAnswers, benchmark: Benchmark, names: TaskNames
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the task (−1: none), the image and the caption of each answer, as indices.

    An answer names its pair by the item of a task, or by the two ids, or by both, which must agree. If it
    names a task, the pair must be in it.
    """
    tasks = look_up(answers, answers.task, "task", names.find, "the project has no such task")
    image, caption = (
        look_up_ids(answers, column, name, side.one, ids)
        for column, name, side, ids in zip(
            (answers.image, answers.caption), ("image", "caption"), benchmark.sides, benchmark.ids
        )
    )
    if benchmark.one_collection:
        own = (image == caption) & (image != ABSENT)
        reject(answers, own, "pairs an item with itself", "remove the line")
        image, caption = pair_of(benchmark.directions[0], image, caption)
    item = look_up(answers, answers.item, "item", parse_item, "items are numbered from 1")
    plan = names.plan
    by_item = item != ABSENT
    by_ids = (image != ABSENT) | (caption != ABSENT)
    reject(answers, by_item & (tasks == ABSENT), "has an item without a task", "name the task")
    incomplete = ~by_item & ((image == ABSENT) | (caption == ABSENT))
    fix = "give task and item, or image and caption"
    reject(answers, incomplete, "does not name the pair", fix)
    half = by_ids & ((image == ABSENT) | (caption == ABSENT))
    reject(answers, half, "names half a pair", "give both image and caption, or neither")
    at = find_rows([plan.task, plan.position], [tasks, item - 1])
    reject(answers, by_item & (at < 0), "names an item that the task does not have", "check the item")
    at = np.maximum(at, 0)
    if len(plan):
        different = (plan.image[at] != image) | (plan.caption[at] != caption)
        what = "has ids of another pair than the item's"
        reject(answers, by_item & by_ids & different, what, "remove the item or the ids")
        image = np.where(by_item, plan.image[at], image)
        caption = np.where(by_item, plan.caption[at], caption)
    inside = find_rows([plan.task, plan.image, plan.caption], [tasks, image, caption])
    reject(answers, (tasks != ABSENT) & (inside < 0), "has a pair that is not in its task", "check the ids")
    return tasks, image, caption


def look_up(
    answers: ImportedAnswers, column: TextColumn, name: str, find: Callable[[str], int], fix: str
) -> np.ndarray:
    """Return a number for each text, −1 where it is empty; raise where there is none for it."""
    numbers = column.numbers(lambda text: find(text) if text else ABSENT)
    row = column.first(lambda text: bool(text) and find(text) < 0) if (numbers < 0).any() else None
    if row is not None:
        raise answers.error(row, f"{name} is {shorten(column[row])}", fix)
    return numbers


def look_up_ids(answers: ImportedAnswers, column: TextColumn, name: str, kind: str, ids: Ids) -> np.ndarray:
    """Return the index of each id; −1 where it is empty."""
    distinct = [text for text in column.values if text]
    indices = ids.find(distinct).tolist() if distinct else []
    # Ids outside the gallery are only known from judgments: no annotator has seen them.
    index_of = {text: index if index < ids.size else ABSENT for text, index in zip(distinct, indices)}
    return look_up(answers, column, name, index_of.__getitem__, f"the benchmark has no {kind} with this id")


def parse_item(text: str) -> int:
    """Return the number of an item; −1 for a text that is not one."""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) else ABSENT


def reject(answers: ImportedAnswers, wrong: np.ndarray, what: str, fix: str) -> None:
    """Raise on the first answer that is wrong."""
    if wrong.any():
        raise answers.error(int(np.argmax(wrong)), what, fix)


def find_rows(table: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> np.ndarray:
    """Return the row of a table, given by columns of whole numbers, that equals each wanted row; −1: none.

    Examples
    --------
    >>> columns = [np.array([0, 0, 1]), np.array([5, 7, 5])]
    >>> find_rows(columns, [np.array([1, 0, 0]), np.array([5, 5, 6])]).tolist()
    [2, 0, -1]
    """
    size, number = len(table[0]), len(wanted[0])
    if not size or not number:
        return np.full(number, -1)
    keys, wanted_keys = np.zeros(size, np.int64), np.zeros(number, np.int64)
    known = np.ones(number, bool)
    for column, values in zip(table, wanted):
        # Dense codes keep the combined key below the square of the table's length.
        distinct, code = np.unique(column, return_inverse=True)
        place = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
        known &= distinct[place] == values
        combined, wanted_keys = keys * len(distinct) + code, wanted_keys * len(distinct) + place
        # The keys become dense again, since three columns could exceed 64 bits.
        packed, keys = np.unique(combined, return_inverse=True)
        place = np.minimum(np.searchsorted(packed, wanted_keys), len(packed) - 1)
        known &= packed[place] == wanted_keys
        wanted_keys = place
    first = np.zeros(int(keys.max()) + 1, np.int64)
    first[keys[::-1]] = np.arange(size)[::-1]
    return np.where(known, first[wanted_keys], -1)
