"""Do intervals hold on the whole way: pairs drawn into a project, tasks, answers, an estimate?

People never err here, so that what is left is how pairs were drawn and which answers are there.
"""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from estimation.projects import answer, make_place, new_project, true_scores
from karat.estimation import estimate_project, next_pairs
from karat.judging import make_pool, make_tasks
from karat.world import Annotator

from .drawn_labels import report, with_difference

TIMES = 500
NAMES = ("seer", "learner", "difference")
FLAWLESS = [Annotator(f"eve {k}", np.eye(4)) for k in range(8)]


def three_batches(project, world, runs, seed):
    """Draw and answer three times a hundred pairs."""
    asked = 0
    for _ in range(3):
        next_pairs(project, runs, "P@10", budget=100, direction="t2i", seed=seed)
        asked = answer(project, world, asked, people=FLAWLESS, seed=seed)


def half_answered(project, world, runs, seed):
    """Draw two batches, of which half is answered, where half of the tasks of an earlier pool were."""
    bench = project.benchmark()
    pool = make_pool(runs, bench, top=2, direction=["t2i"], form=project.form, seed=seed)
    project.pools.set(pool)
    project.pools.add_tasks(make_tasks(pool, project.form, overlap=1, benchmark=bench, seed=seed))
    asked = answer(project, world, part=0.5, people=FLAWLESS, seed=seed)
    for _ in range(2):
        next_pairs(project, runs, "P@10", budget=200, direction="t2i", seed=seed, overlap=1)
        asked = answer(project, world, asked, part=0.5, people=FLAWLESS, seed=seed)


def repeated(folder, work, times, **options):
    """Return how often intervals hold, and how wide they are; each time in a new world."""
    rows = []
    for seed in range(times):
        place = folder / str(seed)
        world, runs = make_place(place, seed=seed, runs=2)
        with new_project(place) as project:
            work(project, world, runs, seed)
            found = estimate_project(project, runs, seed=seed, **options)
        shutil.rmtree(place)
        true = with_difference(true_scores(world, runs, "P@10", "t2i"))
        numbers = [[one.value, one.low, one.high] for one in (*found.scores, *found.differences)]
        rows.append(np.c_[numbers, true])
    value, low, high, true = np.moveaxis(np.array(rows), -1, 0)
    one = SimpleNamespace(
        held=((low <= true + 1e-12) & (true - 1e-12 <= high)).mean(axis=0),
        width=(high - low).mean(axis=0),
        bias=(value - true).mean(axis=0),
        labels=found.answered,
    )
    return {("P@10", "test_set"): one}


@pytest.mark.statistical
def test_intervals_hold_through_the_store(tmp_path):
    report("three batches of 100", repeated(tmp_path, three_batches, TIMES), runs=NAMES)


@pytest.mark.statistical
def test_intervals_of_half_answered_batches_hold_through_the_store(tmp_path):
    made = repeated(tmp_path, half_answered, TIMES, certain=True)
    report("two batches of 200, half answered, after half of a pool", made, runs=NAMES)
