"""Simulated people do the tasks of a known-truth world: for tests and demonstrations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.errors import InputError
from karat.judging.forms import Form
from karat.judging.pools import key_of
from karat.judging.tasks.plan import TaskPlan
from karat.judging.tasks.simulated_answers import SimulatedAnswers
from karat.judging.tasks.simulated_details import choose_details
from karat.world import Annotator, right_answers

if TYPE_CHECKING:
    from karat.world import World

START = 1_700_000_000.0
"""When everybody begins, in seconds since 1970: the same seed gives the same bytes."""


def simulate_answers(
    world: World, plan: TaskPlan, annotators: Sequence[Annotator], form: Form, seed: int = 0
) -> SimulatedAnswers:
    """Let people answer every task, each task as many as the plan says.

    Nobody gets a task twice, nor a pair that they have seen in another task. What is right follows from the
    share of the caption's statements that hold; `karat.world.annotators` says how people err. On any form,
    their "yes" is an answer of grade 1, "partially yes" one of a lower grade above 0, "mostly no" and "no"
    are the upper and the lower half of the answers of grade 0.

    Parameters
    ----------
    world
        The plan's benchmark is its.
    plan
        What `make_tasks` returned.
    annotators
        Who is there; their names must differ.
    form
        What is asked.
    seed
        The same seed gives the same answers.

    Examples
    --------
    >>> from karat.judging import load_form, make_pool, make_tasks
    >>> from karat.world import average, lazy, make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> pool = make_pool(simulate_systems(world), world.benchmark(), top=2)
    >>> plan = make_tasks(pool, load_form("pair"))
    >>> people = [average(f"ann{k}") for k in range(8)] + [lazy("bob"), lazy("eve")]
    >>> found = simulate_answers(world, plan, people, load_form("pair"))
    >>> found, len(found) == 3 * len(plan)
    (SimulatedAnswers(2,349 answers of 10 people), True)
    """
    names = tuple(one.name for one in annotators)
    if len(set(names)) < len(names):
        raise InputError("two annotators have the same name", fix="name them apart")
    rng = np.random.default_rng([seed, 6])
    item, worker = hand_out(plan, len(names), rng)
    right = right_answers(world.pair_shares(plan.image, plan.caption))[item]
    edges = np.cumsum([one.confusion for one in annotators], axis=2)[:, :, :3]
    said = 1 + (rng.random(len(item))[:, None] >= edges[worker, right - 1]).sum(axis=1)
    rating = on_scale(form, said, rng)
    # Who errs a lot does not look long.
    care = np.array([np.diag(one.confusion).mean() for one in annotators])
    seconds = form.seconds * (0.3 + 0.7 * care[worker]) * rng.lognormal(-0.125, 0.5, len(item))
    codes = {float(one.rating or 0.0): one.code for one in form.answers}
    code = [codes[one] for one in rating.tolist()]
    return SimulatedAnswers(
        plan.task[item],
        plan.image[item],
        plan.caption[item],
        plan.gold[item],
        worker,
        rating,
        code,
        seconds.round(1),
        clock(worker, seconds),
        choose_details(form, code, rng),
        names,
    )


def hand_out(plan: TaskPlan, people: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the item and the person of every answer: for each task, people who know none of its pairs."""
    keys = key_of(plan.image, plan.caption)
    edges = np.searchsorted(plan.task, np.arange(plan.tasks + 1))
    seen: list[set[int]] = [set() for _ in range(people)]
    items, workers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for task in range(plan.tasks):
        rows = np.arange(edges[task], edges[task + 1])
        pairs = keys[rows].tolist()
        able = [one for one in rng.permutation(people).tolist() if seen[one].isdisjoint(pairs)]
        if len(able) < plan.overlap:
            raise InputError(
                f"task {task} needs {plan.overlap} people, and {len(able)} have not seen its pairs yet",
                fix="let more people answer, or pool more known pairs: each comes to a person only once",
            )
        for one in sorted(able[: plan.overlap]):
            seen[one].update(pairs)
            items.append(rows)
            workers.append(np.full(len(rows), one))
    return np.concatenate(items), np.concatenate(workers)


def on_scale(form: Form, said: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return ratings of the form for answers from 1, no, to 4, yes.

    >>> from karat.judging import load_form
    >>> on_scale(load_form("grid"), np.array([1, 2, 3, 4]), np.random.default_rng(0)).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    ratings, grades = form.ratings, form.grades(form.ratings)
    no, some, full = ratings[grades == 0], ratings[(grades > 0) & (grades < 1)], ratings[grades == 1]
    half = (len(no) + 1) // 2
    levels = {1: no[:half], 2: no[half:], 3: some, 4: full}
    # A level that the form does not have is answered as its neighbour on the same side.
    nearest = {1: 2, 2: 1, 3: 4, 4: 3}
    out = np.zeros(len(said))
    for level, choices in levels.items():
        rows = np.flatnonzero(said == level)
        choices = choices if len(choices) else levels[nearest[level]]
        out[rows] = choices[rng.integers(len(choices), size=len(rows))]
    return out


def clock(worker: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Return when each answer was given, everybody working without a break."""
    at = np.zeros(len(worker))
    order = np.argsort(worker, kind="stable")
    total = np.cumsum(seconds[order])
    first = np.searchsorted(worker[order], worker[order])
    at[order] = total - total[first] + seconds[order][first]
    return START + at.round(1)
