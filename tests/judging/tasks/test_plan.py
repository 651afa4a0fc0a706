"""What a plan asks for: how much gold is asked about too, and how many annotators it takes."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.forms import NOT_GOLD, TaskPlan, key_of, load_form
from karat.judging import make_pool, make_tasks
from karat.judging.pools import GoldChoice, Rates, overlap_notes
from karat.judging.tasks import annotators_needed, gold_overlap, plan_cost, task_needs

from made import make_benchmark, make_run


def test_gold_that_is_also_asked_about():
    bench = make_benchmark(40, 3)
    runs = [make_run(bench, 2.0, k, f"run {k}") for k in range(2)]
    plan = make_tasks(make_pool(runs, bench, top=2, gold=GoldChoice(depth=5)), load_form("pair"))
    pairs = list(zip(plan.image.tolist(), plan.caption.tolist()))
    gold = {pair for pair, right in zip(pairs, plan.gold.tolist()) if right != NOT_GOLD}
    asked = {pair for pair, right in zip(pairs, plan.gold.tolist()) if right == NOT_GOLD}
    assert gold_overlap(plan) == (len(gold), len(gold & asked))
    assert gold & asked
    assert list(plan.notes) == overlap_notes(*gold_overlap(plan))
    empty = TaskPlan(*(np.zeros(0, np.int64) for _ in range(6)), overlap=0)
    assert gold_overlap(empty) == (0, 0)
    assert overlap_notes(0, 0) == []


def fewest(links, wanted):
    """The smallest number of annotators, by trying all assignments of sets of annotators to tasks."""

    def possible(number, chosen):
        task = len(chosen)
        if task == len(wanted):
            return True
        barred = {who for other in range(task) if links[task, other] for who in chosen[other]}
        free = [who for who in range(number) if who not in barred]
        return any(possible(number, [*chosen, team]) for team in combinations(free, wanted[task]))

    return next(number for number in range(1, 20) if possible(number, []))


@st.composite
def shared(draw):
    """Up to five tasks, and the pairs in each."""
    tasks = draw(st.integers(1, 5))
    items = draw(st.lists(st.tuples(st.integers(0, tasks - 1), st.integers(0, 5)), max_size=9))
    # Every task has a pair of its own, too.
    items = sorted({*items, *((task, 100 + task) for task in range(tasks))})
    wanted = draw(st.lists(st.integers(1, 2), min_size=tasks, max_size=tasks))
    return *(np.array(column) for column in zip(*items)), np.array(wanted)


@given(shared())
@settings(max_examples=120, deadline=None)
def test_bounds_on_annotators_hold(case):
    task, pair, wanted = case
    pairs = [set(pair[task == number].tolist()) for number in range(len(wanted))]
    links = np.array([[bool(a & b) for b in pairs] for a in pairs])
    needed = annotators_needed(task, pair, wanted)
    assert needed.at_least <= fewest(links, wanted.tolist()) <= needed.enough
    # In whatever order they come, so many annotators never get stuck.
    rng = np.random.default_rng(len(task))
    done = [set() for _ in range(needed.enough)]
    for number in rng.permutation(np.repeat(np.arange(len(wanted)), wanted)).tolist():
        able = [
            who for who in rng.permutation(needed.enough).tolist()
            if not any(links[number, other] for other in done[who])
        ]  # fmt: skip
        assert able
        done[able[0]].add(number)
    # The coarser bounds hold, too.
    before, task_needs.MOST_LINKS = task_needs.MOST_LINKS, -1
    try:
        coarse = annotators_needed(task, pair, wanted)
    finally:
        task_needs.MOST_LINKS = before
    assert coarse.at_least <= needed.at_least
    assert coarse.enough >= needed.enough


def test_tasks_that_need_no_annotator_are_ignored():
    needed = annotators_needed(np.array([0, 1, 2]), np.array([5, 5, 5]), np.array([2, 0, 1]))
    assert (needed.at_least, needed.enough) == (3, 3)
    needed = annotators_needed(np.array([0, 1]), np.array([5, 5]), np.array([0, 0]))
    assert (needed.at_least, needed.enough) == (0, 0)


def test_a_ring_of_three_tasks_needs_three_teams():
    """Each two of them have a pair in common, though no pair is in all three."""
    task, pair = np.array([0, 0, 1, 1, 2, 2]), np.array([1, 3, 1, 2, 2, 3])
    needed = annotators_needed(task, pair, np.full(3, 2))
    assert (needed.at_least, needed.enough) == (6, 6)


def test_the_cost_of_a_plan_says_how_many_annotators():
    bench = make_benchmark(40, 3)
    form = load_form("pair")
    pool = make_pool(
        [make_run(bench, 2.0, 1, "run")], bench, top=2, judged=["original"], gold=GoldChoice(depth=5)
    )
    plan = make_tasks(pool, form, overlap=4)
    cost = plan_cost(plan, form, rates=Rates(per_hour=10.0))
    # No gold is asked about or used twice: the annotators of one task can do all.
    assert (cost.annotators, cost.annotators_enough) == (4, 4)
    assert (cost.pairs, cost.tasks, cost.gold) == (len(pool), plan.tasks, 2 * plan.tasks)
    assert (
        "At least 4 annotators are needed, since none gets a pair twice; 4 are enough in any order."
        in str(cost)
    )
    # The same tasks again share all their pairs with the first ones.
    again = plan_cost(plan, form, planned=plan, rates=Rates(per_hour=10.0))
    assert (again.annotators, again.annotators_enough) == (8, 8)
    assert len(np.unique(key_of(plan.image, plan.caption))) == len(plan)
