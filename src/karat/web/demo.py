"""The demonstration: a small world with images, models, tasks and the first answers."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import numpy as np

from karat._util import write_file
from karat.forms import AnswerRows, load_form
from karat.judging import make_pool, make_tasks, simulate_answers
from karat.store import create_project
from karat.world import average, careful, lazy, make_world, save_world, simulate_systems

IMAGES, CAPTIONS, DONE, SEED = 60, 2, 0.4, 1
"""The size of the world, the share of its tasks that simulated annotators have finished, and the seed."""


def make_demo(folder: Path) -> Path:
    """Write world, runs (runs/*.npy) and project into an empty folder; return the project's file."""
    form = load_form("pair")
    world = make_world(images=IMAGES, captions=CAPTIONS, seed=SEED)
    save_world(world, folder / "world")
    systems = simulate_systems(world, seed=SEED)
    for system in systems:
        save = partial(np.save, arr=system.scores)
        write_file(folder / "runs" / f"{system.name}.npy", save, durable=False, parents=True)
    pool = make_pool(systems, world.benchmark(), top=2, form=form, seed=SEED)
    plan = make_tasks(pool, form, seed=SEED)
    place = folder / "demo.db"
    source = str(folder / "world")
    with create_project(place, world.benchmark(), form, source=source, name="a world to try") as project:
        project.pools.add(pool)
        project.pools.add_tasks(plan)
        others = [average(name) for name in ("Ben", "Cleo", "Dan")]
        annotators = [careful("Ada"), *others, careful("Eve"), lazy("Finn")]
        answers = simulate_answers(world, plan, annotators, form, seed=SEED)
        project.answers.record(answers_to_first_tasks(answers.rows()))
    return place


def answers_to_first_tasks(rows: AnswerRows) -> AnswerRows:
    """Return the answers to the first tasks; the other tasks are left to the user of the demonstration."""
    task = np.asarray(rows.task)
    keep = np.flatnonzero(task < DONE * (task.max() + 1))
    kept = keep.tolist()
    at = np.asarray(rows.at, float)[keep]
    assert rows.seconds is not None
    assert rows.at is not None
    assert rows.details is not None
    return AnswerRows(
        task[keep],
        np.asarray(rows.image)[keep],
        np.asarray(rows.caption)[keep],
        [rows.annotator[row] for row in kept],
        [rows.code[row] for row in kept],
        np.asarray(rows.seconds)[keep],
        # The last answer was given just now.
        at + time.time() - at.max(),
        [rows.details[row] for row in kept],
    )
