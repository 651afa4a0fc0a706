"""Turn answers as a file gives them into rows for the store, or say which line is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.errors import InputError
from karat.judging.checking import PERSON
from karat.judging.exchange.given import ImportedAnswers, shorten
from karat.judging.exchange.pairs import find_pairs
from karat.judging.exchange.task_names import TaskNames
from karat.judging.exchange.texts import Texts
from karat.judging.store import WORKER_KINDS, check_name
from karat.judging.store import check_details as check_stored

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark
    from karat.judging.forms import Form
    from karat.judging.store import AnswerRows
    from karat.judging.tasks import TaskPlan


def check_answers(given: ImportedAnswers, benchmark: Benchmark, form: Form, plan: TaskPlan) -> AnswerRows:
    """Return rows for `project.answers.record`; raise with the line of the first answer that does not fit.

    Parameters
    ----------
    given
        What a file says.
    benchmark, form, plan
        Of the project: its ids, its answers and follow-up questions, its tasks.
    """
    from karat.judging.store import AnswerRows

    tasks, image, caption = find_pairs(given, benchmark, TaskNames(plan))
    codes = [one.code for one in form.answers]
    fix = f"the answers of the form {form.name!r} are {', '.join(codes)}"
    check_column(given, given.answer, "answer", codes.__contains__, fix)
    kinds = given.kind.turned(lambda kind: kind or PERSON)
    check_column(given, kinds, "kind", WORKER_KINDS.__contains__, f"choose {', '.join(WORKER_KINDS)}")
    check_workers(given, kinds)
    check_once(given, tasks, image, caption)
    return AnswerRows(
        tasks,
        image,
        caption,
        list(given.worker),
        list(given.answer),
        given.seconds,
        np.where(np.isnan(given.at), time.time(), given.at),
        check_details(given, form),
        list(kinds),
    )


def check_column(
    given: ImportedAnswers, column: Texts, name: str, fits: Callable[[str], bool], fix: str
) -> None:
    """Raise on the first text that does not fit."""
    row = column.first(lambda text: not fits(text))
    if row is not None:
        raise given.error(row, f"{name} is {shorten(column[row])}", fix)


def check_workers(given: ImportedAnswers, kinds: Texts) -> None:
    """Raise on names that cannot be stored, and on somebody who is two kinds of worker."""

    def fits(name: str) -> bool:
        try:
            return bool(check_name(name, "worker"))
        except InputError:
            return False

    check_column(given, given.worker, "worker", fits, "give a short name of printable characters")
    kind = kinds.map(WORKER_KINDS.index)
    first = np.full(len(given.worker.values), -1)
    first[given.worker.code[::-1]] = kind[::-1]
    wrong = np.flatnonzero(first[given.worker.code] != kind)
    if len(wrong):
        row = int(wrong[0])
        before = WORKER_KINDS[first[given.worker.code[row]]]
        what = f"{shorten(given.worker[row])} is a {kinds[row]} here and a {before} further up"
        raise given.error(row, what, "give each worker one kind")


def check_once(given: ImportedAnswers, tasks: np.ndarray, image: np.ndarray, caption: np.ndarray) -> None:
    """Raise when somebody answers a pair of a task twice."""
    columns = np.stack([given.worker.code, tasks, image, caption])
    order = np.lexsort(columns)
    ordered = columns[:, order]
    # The sort is stable: of two equal answers the later line follows the earlier.
    again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).all(axis=0))
    if len(again):
        first = again[np.argmin(order[again + 1])]
        row, before = int(order[first + 1]), int(order[first])
        what = f"{shorten(given.worker[row])} answers this pair again after line {given.line[before]}"
        raise given.error(row, what, "keep one of the two")


def check_details(given: ImportedAnswers, form: Form) -> list[dict[str, Any] | None] | None:
    """Return the follow-ups of each answer; raise on those that do not fit the form."""
    if not given.details:
        return None
    details: list[dict[str, Any] | None] = [None] * len(given)
    for row, question, value in given.details:
        here = details[row]
        if here is None:
            here = details[row] = {}
        elif question in here:
            raise given.error(row, f"the follow-up {shorten(question)} stands twice", "keep one of them")
        here[question] = value
    # Most answers have the same few follow-ups as others.
    seen: dict[Any, InputError | None] = {}
    for row, (answer, found) in enumerate(zip(given.answer, details)):
        if found is None:
            continue
        key = (answer, *found.items())
        if key not in seen:
            seen[key] = problem_of(form, answer, found)
        problem = seen[key]
        if problem is not None:
            raise given.error(row, problem.what, problem.fix or "check the form")
    return details


def problem_of(form: Form, answer: str, details: dict[str, Any]) -> InputError | None:
    """Return what is wrong with the follow-ups of an answer, None when nothing is."""
    try:
        check_stored(form, answer, details)
    except InputError as error:
        return error
    return None
