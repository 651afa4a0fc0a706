"""Simulated annotators answer the tasks of a known-truth world: for tests and demonstrations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import plural
from karat.errors import InputError
from karat.forms import AnswerTable, ChosenDetails, Form, TaskPlan, key_of, make_answers
from karat.world import Annotator, right_answers

if TYPE_CHECKING:
    from karat.forms import AnswerRows
    from karat.world import World

START = 1_700_000_000.0
"""When all annotators begin, in seconds since 1970: the same seed gives the same bytes."""
ALTERNATIVE = "alternative"
"""The code of a choice that excludes all others: nothing was misread (the form ``misread``)."""


@dataclass(frozen=True, eq=False)
class SimulatedAnswers:
    """The answers of simulated annotators, one row per answer, sorted by task, annotator and place.

    Parameters
    ----------
    task, image, caption, gold
        The item, as in the plan.
    annotator
        Who answered, as an index into `annotators`.
    rating, code
        The answer.
    seconds, at
        How long it took, and when it was given.
    details
        Choices of follow-up questions, by the question's code.
    annotators
        The names of all annotators, whether they answered or not.
    """

    task: np.ndarray
    image: np.ndarray
    caption: np.ndarray
    gold: np.ndarray
    annotator: np.ndarray
    rating: np.ndarray
    code: list[str] = field(repr=False)
    seconds: np.ndarray
    at: np.ndarray
    details: list[dict[str, Any]] = field(repr=False)
    annotators: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.task)

    def __repr__(self) -> str:
        annotators = plural(len(self.annotators), "annotator")
        return f"SimulatedAnswers({plural(len(self), 'answer')} of {annotators})"

    def rows(self) -> AnswerRows:
        """Return the answers as `project.answers.record` takes them."""
        from karat.forms import AnswerRows

        names = [self.annotators[number] for number in self.annotator.tolist()]
        return AnswerRows(
            self.task, self.image, self.caption, names, self.code, self.seconds, self.at, self.details
        )  # fmt: skip

    def table(self) -> AnswerTable:
        """Return the answers as a project would return them, without a project."""
        task_and_annotator = self.task.astype(np.int64) * len(self.annotators) + self.annotator
        _, assignment = np.unique(task_and_annotator, return_inverse=True)
        details = (
            (row, f"{question}.{choice}")
            for row, answers in enumerate(self.details)
            for question, choices in answers.items()
            for choice in choices
        )
        return make_answers(
            self.image,
            self.caption,
            self.annotator,
            self.rating,
            self.annotators,
            gold=self.gold,
            assignment=assignment,
            seconds=self.seconds,
            at=self.at,
            details=ChosenDetails.of(details),
        )


def simulate_answers(
    world: World, plan: TaskPlan, annotators: Sequence[Annotator], form: Form, seed: int = 0
) -> SimulatedAnswers:
    """Let simulated annotators answer every task, as many per task as the plan says.

    No annotator gets a task twice, nor a pair that they have seen in another task. The right answer follows
    from the share of the caption's statements that are true; `karat.world.annotators` says how annotators
    err. On any form, their "yes" is an answer of grade 1, "partially yes" one of a lower grade above 0,
    "mostly no" and "no" are the upper and the lower half of the answers of grade 0.

    Parameters
    ----------
    world
        The world of the plan's benchmark.
    plan
        What `make_tasks` returned.
    annotators
        Who answers; their names must differ.
    form
        What they are asked.
    seed
        The same seed gives the same answers.

    Examples
    --------
    >>> from karat.forms import load_form
    >>> from karat.judging import make_pool, make_tasks
    >>> from karat.world import average, lazy, make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> pool = make_pool(simulate_systems(world), world.benchmark(), top=2)
    >>> plan = make_tasks(pool, load_form("pair"))
    >>> annotators = [average(f"ann{k}") for k in range(8)] + [lazy("bob"), lazy("eve")]
    >>> answers = simulate_answers(world, plan, annotators, load_form("pair"))
    >>> answers, len(answers) == 3 * len(plan)
    (SimulatedAnswers(2,349 answers of 10 annotators), True)
    """
    names = tuple(annotator.name for annotator in annotators)
    if len(set(names)) < len(names):
        raise InputError("two annotators have the same name", fix="give them different names")
    rng = np.random.default_rng([seed, 6])
    item, who = assign(plan, len(names), rng)
    right = right_answers(world.pair_shares(plan.image, plan.caption))[item]
    edges = np.cumsum([annotator.confusion for annotator in annotators], axis=2)[:, :, :3]
    level = 1 + (rng.random(len(item))[:, None] >= edges[who, right - 1]).sum(axis=1)
    rating = on_scale(form, level, rng)
    # Annotators who err a lot do not look long.
    care = np.array([np.diag(annotator.confusion).mean() for annotator in annotators])
    seconds = form.seconds * (0.3 + 0.7 * care[who]) * rng.lognormal(-0.125, 0.5, len(item))
    codes = {float(answer.rating or 0.0): answer.code for answer in form.answers}
    code = [codes[value] for value in rating.tolist()]
    return SimulatedAnswers(
        plan.task[item],
        plan.image[item],
        plan.caption[item],
        plan.gold[item],
        who,
        rating,
        code,
        seconds.round(1),
        times(who, seconds),
        choose_details(form, code, rng),
        names,
    )


def assign(plan: TaskPlan, annotators: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the item and the annotator of every answer; no annotator has seen a pair of the task before."""
    keys = key_of(plan.image, plan.caption)
    edges = np.searchsorted(plan.task, np.arange(plan.tasks + 1))
    seen: list[set[int]] = [set() for _ in range(annotators)]
    items, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for task in range(plan.tasks):
        rows = np.arange(edges[task], edges[task + 1])
        pairs = keys[rows].tolist()
        able = [number for number in rng.permutation(annotators).tolist() if seen[number].isdisjoint(pairs)]
        if len(able) < plan.overlap:
            raise InputError(
                f"task {task} needs {plural(plan.overlap, 'annotator')}, but only {len(able)} have not yet "
                "seen its pairs",
                fix="add annotators, or pool more gold pairs: an annotator sees each only once",
            )
        for number in sorted(able[: plan.overlap]):
            seen[number].update(pairs)
            items.append(rows)
            numbers.append(np.full(len(rows), number))
    return np.concatenate(items), np.concatenate(numbers)


def on_scale(form: Form, level: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return ratings of the form for answers from 1, no, to 4, yes.

    >>> from karat.forms import load_form
    >>> on_scale(load_form("grid"), np.array([1, 2, 3, 4]), np.random.default_rng(0)).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    ratings, grades = form.ratings, form.grades(form.ratings)
    no, some, full = ratings[grades == 0], ratings[(grades > 0) & (grades < 1)], ratings[grades == 1]
    half = (len(no) + 1) // 2
    levels = {1: no[:half], 2: no[half:], 3: some, 4: full}
    # A level that the form does not have is answered like its neighbour on the same side.
    nearest = {1: 2, 2: 1, 3: 4, 4: 3}
    rating = np.zeros(len(level))
    for number, choices in levels.items():
        rows = np.flatnonzero(level == number)
        choices = choices if len(choices) else levels[nearest[number]]
        rating[rows] = choices[rng.integers(len(choices), size=len(rows))]
    return rating


def times(annotator: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Return when each answer was given if all annotators work without a break."""
    at = np.zeros(len(annotator))
    order = np.argsort(annotator, kind="stable")
    total = np.cumsum(seconds[order])
    first = np.searchsorted(annotator[order], annotator[order])
    at[order] = total - total[first] + seconds[order][first]
    return START + at.round(1)


def choose_details(form: Form, codes: Sequence[str], rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return, for each answer, one or two random choices of every follow-up question that is asked after it.

    Free text stays empty.

    Examples
    --------
    >>> from karat.forms import load_form
    >>> rng = np.random.default_rng(1)
    >>> choose_details(load_form("pair"), ["yes", "mostly_no"], rng)
    [{}, {'shortcomings': ['wrong_way'], 'errors': ['quantity', 'orientation']}]
    """
    grades = {answer.code: answer.grade or 0.0 for answer in form.answers}
    return [choices_after(form, code, grades[code], rng) for code in codes]


def choices_after(form: Form, code: str, grade: float, rng: np.random.Generator) -> dict[str, Any]:
    """Return the choices of follow-up questions after one answer."""
    taken: dict[str, list[str]] = {}
    for question in form.follow_ups:
        before, _, choice = question.after.partition(".")
        not_asked = (question.when and code not in question.when) or (
            question.after and choice not in taken.get(before, ())
        )
        if not_asked or question.kind == "text":
            continue
        codes = [choice.code for choice in question.choices]
        if ALTERNATIVE in codes and (grade == 1 or len(codes) == 1):
            taken[question.code] = [ALTERNATIVE]
            continue
        possible = [choice for choice in codes if choice != ALTERNATIVE]
        number = 1 if question.kind == "one" else min(len(possible), int(rng.integers(1, 3)))
        taken[question.code] = [possible[k] for k in sorted(rng.choice(len(possible), number, replace=False))]
    return dict(taken)
