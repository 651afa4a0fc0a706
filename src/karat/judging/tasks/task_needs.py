"""What a plan of tasks takes: gold that is also asked about, annotators, hours and money."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from karat.forms import NOT_GOLD, Form, TaskPlan, key_of
from karat.judging.pools import Cost, Rates, cost_of_tasks

MOST_LINKS = 4_000_000
"""The largest number of links between tasks that are listed; above it, a coarser bound is computed."""
MOST_LINKED = 32
"""Around tasks with more links, no group of linked tasks is searched for."""


def gold_overlap(*plans: TaskPlan) -> tuple[int, int]:
    """Return how many gold pairs all plans have together, and how many of them are also pairs to judge.

    Examples
    --------
    >>> columns = ([0, 0, 1], [0, 1, 0], [0, 1, 0], [3, 5, 5], [2, 2, 2], [-1, 1, -1])
    >>> gold_overlap(TaskPlan(*(np.array(column) for column in columns), overlap=3))
    (1, 1)
    """
    keys = np.concatenate([np.zeros(0, np.int64), *(key_of(plan.image, plan.caption) for plan in plans)])
    is_gold = np.concatenate([np.zeros(0, bool), *(plan.gold != NOT_GOLD for plan in plans)])
    gold = np.unique(keys[is_gold])
    return len(gold), int(np.isin(gold, keys[~is_gold]).sum())


@dataclass(frozen=True)
class AnnotatorsNeeded:
    """How many annotators it takes to finish some tasks: at least so many, and so many in any case.

    Parameters
    ----------
    at_least
        With fewer, the tasks cannot be finished, however they are assigned.
    enough
        With so many, they can be finished in whatever order the annotators take them.
    """

    at_least: int
    enough: int


def annotators_needed(task: np.ndarray, pair: np.ndarray, wanted: np.ndarray) -> AnnotatorsNeeded:
    """Return bounds on the number of annotators, if none does a task twice or sees a pair twice.

    Two tasks are linked if they have a pair in common: no annotator may do both. So all tasks of a group that
    are linked with each other need different annotators, which gives the lower bound (the heaviest group
    that is found; finding the heaviest of all is hard). An open assignment of a task is closed only to those
    who have done this task or one that is linked with it: one more than they can be is always enough.

    Parameters
    ----------
    task, pair
        For each item, the number of its task from 0 and a number of its pair.
    wanted
        For each task, how many annotators it needs; tasks that need none are ignored.

    Examples
    --------
    Tasks 0 and 1 have the pair 7 in common.

    >>> annotators_needed(np.array([0, 0, 1, 2]), np.array([6, 7, 7, 8]), np.array([3, 3, 3]))
    AnnotatorsNeeded(at_least=6, enough=6)
    """
    wanted = np.asarray(wanted, np.int64)
    rows = np.unique(np.stack([pair, task], axis=1)[wanted[task] > 0], axis=0)
    if not len(rows):
        return AnnotatorsNeeded(0, 0)
    _, which, size = np.unique(rows[:, 0], return_inverse=True, return_counts=True)
    shared = size[which] > 1
    member = rows[shared, 1]
    _, group = np.unique(which[shared], return_inverse=True)
    weight = np.bincount(group, wanted[member]).astype(np.int64)
    at_least = int(max(wanted.max(), weight.max(initial=0)))
    if (np.bincount(group) ** 2).sum() > MOST_LINKS:
        # Tasks with several pairs in common are counted several times: still enough, but more than necessary.
        others = np.bincount(member, weight[group] - wanted[member], len(wanted)).astype(np.int64)
        return AnnotatorsNeeded(at_least, int((wanted + others).max()))
    links = linked_tasks(member, group)
    enough = int((wanted + np.bincount(links[:, 0], wanted[links[:, 1]], len(wanted))).max())
    return AnnotatorsNeeded(max(at_least, heaviest_group(links, wanted)), enough)


def linked_tasks(member: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return the distinct links between tasks, each in both directions, sorted.

    >>> linked_tasks(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])).tolist()
    [[0, 1], [1, 0]]
    """
    order = np.argsort(group, kind="stable")
    size = np.bincount(group)
    size_here = size[group[order]]
    start = np.repeat(np.cumsum(size) - size, size)
    first = np.repeat(member[order], size_here)
    within = np.arange(len(first)) - np.repeat(np.cumsum(size_here) - size_here, size_here)
    both = np.stack([first, member[order][np.repeat(start, size_here) + within]], axis=1)
    return np.unique(both[both[:, 0] != both[:, 1]], axis=0)


def heaviest_group(links: np.ndarray, wanted: np.ndarray) -> int:
    """Return how many annotators a group of tasks needs that are all linked with each other.

    From each task on, linked tasks are added one by one, the most demanding first.
    """
    linked: dict[int, set[int]] = {}
    for first, second in links.tolist():
        linked.setdefault(first, set()).add(second)
    heaviest = 0
    for first, others in linked.items():
        if len(others) > MOST_LINKED:
            continue
        chosen = [first]
        for other in sorted(others, key=lambda task: (-wanted[task], task)):
            if all(other in linked[task] for task in chosen):
                chosen.append(other)
        heaviest = max(heaviest, int(wanted[chosen].sum()))
    return heaviest


def plan_cost(
    plan: TaskPlan,
    form: Form,
    *,
    planned: TaskPlan | None = None,
    wanted: np.ndarray | None = None,
    rates: Rates | None = None,
) -> Cost:
    """Return what the tasks of a plan cost and how many annotators they need.

    Parameters
    ----------
    plan, form
        The tasks, and what annotators are asked.
    planned, wanted
        Tasks that exist, which may share pairs with the new ones, and how many annotators each of them needs;
        their overlap by default.
    rates
        How long an answer takes, and what annotators are paid.

    Examples
    --------
    >>> from karat.forms import load_form
    >>> from karat.judging import make_pool, make_tasks
    >>> from karat.world import make_world, simulate_systems
    >>> world = make_world(images=60, captions=2, seed=1)
    >>> pool = make_pool(simulate_systems(world), world.benchmark(), top=2)
    >>> print(plan_cost(make_tasks(pool, load_form("pair")), load_form("pair")))
    695 pairs to judge in 44 tasks of up to 16, with 88 gold pairs hidden among them.
    3 annotators per task: 2,349 answers, about 11.7 hours at 18 seconds per answer.
    At least 6 annotators are needed, since none gets a pair twice; 6 are enough in any order.
    Pay: 176.17, or 211.41 with a fee of 20%.
    note: 44 of 88 gold pairs are also pairs to judge; their own answers decide
    """
    to_judge = plan.gold == NOT_GOLD
    plans = [plan] if planned is None else [planned, plan]
    before = np.zeros(0, np.int64) if planned is None else np.full(planned.tasks, planned.overlap)
    needed = annotators_needed(
        np.concatenate([plans[0].task, *(plan.task + plans[0].tasks for plan in plans[1:])]),
        np.concatenate([key_of(each.image, each.caption) for each in plans]),
        np.concatenate([before if wanted is None else wanted, np.full(plan.tasks, plan.overlap)]),
    )
    sizes = int(to_judge.sum()), int((~to_judge).sum()), plan.tasks, plan.overlap
    cost = cost_of_tasks(*sizes, form, rates)
    return replace(cost, annotators=needed.at_least, annotators_enough=needed.enough, notes=plan.notes)
