"""Draws and goals: stored together with their tasks or not at all, and read back as they were."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from karat.errors import InputError
from karat.forms import DRAWN, Pool, key_of, pool_sentences
from karat.store import Goal, back_up, bulk, open_project, restore

from .drawer import SIZE, pairs_of
from .postgres import new_database
from .small import batch_of, plan_of

TESTS = Path(__file__).parents[1]
DRAWER = [sys.executable, "-m", "store.drawer"]
KILLS = 20 if os.environ.get("KARAT_DURABILITY") == "full" else 2
PAIRS = [(7, 1), (0, 5), (3, 3)]


def columns(batch) -> dict:
    values = {field.name: getattr(batch, field.name) for field in fields(batch)}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()
    }


def state(project) -> tuple:
    """Everything that a batch may change."""
    pool = key_of(*((p := project.pools.read()).image, p.caption)).tolist() if project.pools.exists() else []
    plan = project.pools.plan()
    return (
        pool,
        plan.image.tolist(),
        len(project.queue.assignments()),
        [columns(b) for b in project.draws.read()],
    )


def test_batches_come_back_the_same_in_their_order(project, where):
    assert project.draws.read() == []
    first = batch_of(PAIRS, stratum=[2, -1, 0], query=[1, 5, -1], settings={"floor": 0.1}, at=12.5)
    second = batch_of([(1, 1), (0, 0)], runs=("c",), seed=-1, frame=2)
    numbers = [project.draws.add(batch) for batch in (first, second)]
    assert numbers[0] < numbers[1]
    with open_project(where) as again:
        stored = again.draws.read()
        assert again.draws.keys().tolist() == sorted([*first.keys, *second.keys])
    assert columns(stored[0]) == columns(replace(first, number=numbers[0]))
    assert stored[1].at > 1e9
    assert columns(stored[1]) == columns(replace(second, number=numbers[1], at=stored[1].at))


def test_drawn_pairs_are_in_the_pool_and_tasks_are_numbered_on(project):
    plan = plan_of(PAIRS[:2], PAIRS[2:], overlap=3)
    project.draws.add(batch_of(PAIRS), plan)
    pool = project.pools.read()
    assert sorted(PAIRS) == list(zip(pool.image.tolist(), pool.caption.tolist(), strict=True))
    assert (pool.why == DRAWN).all()
    assert pool_sentences(pool) == ["Drawn for estimates: 3 further pairs."]
    more = Pool(
        *(np.array(column) for column in ([1, 3], [1, 3], [0, 0])), ("run",),
        *(np.array(column) for column in ([0, 1], [0, 0], [0, 1], [1, 2], [0.5, 0.25])), {}, 10,
    )  # fmt: skip
    project.draws.add(batch_of([(1, 1), (2, 2)]), plan_of([(2, 2)]), pool=more)
    pool = project.pools.read()
    assert pool.image.tolist() == [0, 1, 2, 3, 7]
    # What a run suggests is pooled for that reason.
    assert pool.why.tolist() == [DRAWN, 0, DRAWN, 0, DRAWN]
    assert pool.systems == ("run",)
    assert project.pools.plan().task.tolist() == [0, 0, 1, 2]
    assert np.bincount(project.queue.assignments().task).tolist() == [3, 3, 1]
    lease = project.queue.lease("ann")
    assert [(item.image, item.caption) for item in lease.items] == PAIRS[:2]


def test_gold_is_marked_when_it_is_drawn(project):
    stock = {"gold_image": np.array([7, 9]), "gold_caption": np.array([1, 9]), "gold_right": np.array([1, 0])}
    project.pools.set(replace(batch_of([(1, 1)]).pool(), **stock))
    # Some gold is drawn only when tasks are made: then it is in the tasks alone.
    project.pools.add_tasks(plan_of([(2, 2), (0, 5)], gold={(0, 5): 0}))
    project.draws.add(batch_of(PAIRS))
    assert project.draws.read()[0].gold.tolist() == [1, 0, -1]


def test_what_cannot_be_drawn():
    for options, words in (
        ({"probability": [0.5, 0.0, 1.0]}, "pair 1 of the batch has probability 0"),
        ({"probability": [0.5, 0.5, 1.5]}, "pair 2 of the batch has probability 1.5"),
        ({"probability": [np.nan, 0.5, 1.0]}, "pair 0 of the batch has probability nan"),
        ({"probability": [0.5]}, "3 pairs, but 1 values of probability"),
        ({"stratum": [1, 2]}, "3 pairs, but 2 values of stratum"),
        ({"frame": 2}, "the frame has 2 pairs, but 3 were drawn"),
    ):
        with pytest.raises(InputError, match=words):
            batch_of(PAIRS, **options)
    with pytest.raises(InputError, match="pair 2 of the batch was drawn before"):
        batch_of([(1, 2), (2, 1), (1, 2)])
    with pytest.raises(InputError, match="the batch has no pairs"):
        replace(batch_of(PAIRS[:1]), image=[], caption=[], probability=[], stratum=[], query=[], gold=[])
    with pytest.raises(InputError, match="unknown direction"):
        replace(batch_of(PAIRS), direction="both")


def test_a_batch_that_is_refused_or_fails_changes_nothing(project, monkeypatch):
    project.draws.add(batch_of(PAIRS), plan_of(PAIRS))
    before = state(project)
    for batch, plan, words in (
        (batch_of([(1, 1), PAIRS[0]]), plan_of([(1, 1)]), "1 of 2 pairs were drawn by an earlier batch"),
        (batch_of([(1, 1), (40, 0)]), plan_of([(1, 1)]), "has image 40"),
        (batch_of([(1, 1)]), plan_of([(1, 120)]), "has caption 120"),
        (batch_of([(1, 1)], runs=("",)), plan_of([(1, 1)]), "a run is ''"),
        (batch_of([(1, 1)], settings={"x": np.zeros(1)}), None, "the settings cannot be written"),
    ):
        with pytest.raises(InputError, match=words):
            project.draws.add(batch, plan)
        assert state(project) == before
    insert = bulk.insert

    def fail(connection, table, **values):
        insert(connection, table, **values)
        if table.name == "draw":
            raise OSError("the power went off")

    monkeypatch.setattr(bulk, "insert", fail)
    with pytest.raises(OSError, match="power"):
        project.draws.add(batch_of([(1, 1)]), plan_of([(1, 1)]))
    assert state(project) == before
    monkeypatch.undo()
    project.draws.add(batch_of([(1, 1)]), plan_of([(1, 1)]))


def test_draws_and_their_tasks_survive_kill_9_together(project, where):
    chance, acknowledged = random.Random(7), []
    for _ in range(KILLS):
        process = subprocess.Popen(
            [*DRAWER, where], cwd=TESTS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        acknowledged.append(int(process.stdout.readline()))
        time.sleep(chance.uniform(0.0, 0.15))
        process.send_signal(signal.SIGKILL)
        rest, wrong = process.communicate(timeout=60)
        assert wrong == ""
        # A line that was cut off acknowledges nothing.
        acknowledged += [int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    stored = project.draws.read()
    # Numbers in the settings: those of PostgreSQL have gaps after a kill.
    numbers = [batch.settings["number"] for batch in stored]
    assert numbers == list(range(len(stored)))
    assert set(acknowledged) <= set(numbers)
    plan, pool = project.pools.plan(), project.pools.read()
    for number, batch in enumerate(stored):
        assert batch.keys.tolist() == batch_of(pairs_of(number)).keys.tolist()
        assert batch.probability.tolist() == (1 / (2 + np.arange(SIZE))).tolist()
    drawn = np.concatenate([batch.keys for batch in stored])
    assert key_of(plan.image, plan.caption).tolist() == drawn.tolist()
    assert np.bincount(project.queue.assignments().task).tolist() == [2] * (len(drawn) // 5)
    assert sorted(drawn.tolist()) == key_of(pool.image, pool.caption).tolist()


def test_copies_have_the_draws_and_goals(project, where, tmp_path, request):
    goal = Goal(("a.npy", "b.npy"), "P@10", "t2i", "winner")
    project.draws.add(batch_of(PAIRS), plan_of(PAIRS))
    project.goals.set(goal)
    before = state(project)
    back_up(where, tmp_path / "copy")
    other = str(tmp_path / "other.db")
    if not where.endswith(".db"):
        other = new_database(request.getfixturevalue("postgres"), "draws_restored")
    restore(tmp_path / "copy", other)
    with open_project(other) as copy:
        assert state(copy) == before
        assert copy.goals.read() == goal
        copy.draws.add(batch_of([(1, 1)]))


def test_the_last_goal_counts_and_earlier_ones_are_kept(project, where):
    assert project.goals.read() is None
    goals = [
        Goal(("a.npy",), "P@10", "t2i", "width", 0.02),
        Goal(["a.npy", "b.npy"], "p@5", "i2t", "winner", level=0.9, estimator="difference", noisy=False),
        Goal(("a.npy",), "R@1", "t2i", "budget", 500),
        None,
    ]
    for goal in goals:
        project.goals.set(goal)
        with open_project(where) as again:
            assert again.goals.read() == goal
            if goal is not None:
                assert again.goals.read().to_json() == goal.to_json()
    assert [goal for goal, _ in project.goals.history()] == goals
    assert goals[1].runs == ("a.npy", "b.npy")
    assert goals[1].measure == "P@5"


def test_what_is_not_a_goal():
    for arguments, words in (
        (((), "P@10", "t2i", "width", 0.1), "has the runs"),
        ((("a", "a"), "P@10", "t2i", "width", 0.1), "each run once"),
        ((("a",), "P@10", "t2i", "winner"), "two or more different runs"),
        ((("a",), "P@ten", "t2i", "width", 0.1), "P@ten"),
        ((("a",), "P@10", "t3i", "width", 0.1), "unknown direction"),
        ((("a",), "P@10", "t2i", "luck", 0.1), "choose one of width, winner, budget"),
        ((("a",), "P@10", "t2i", "width"), "the half-width is None"),
        ((("a",), "P@10", "t2i", "budget", 2.5), "the budget is 2.5"),
        ((("a", "b"), "P@10", "t2i", "winner", 5), "takes no number"),
        ((("a",), "P@10", "t2i", "budget", 5, 95), "the level is 95"),
    ):
        with pytest.raises(InputError, match=words):
            Goal(*arguments)
