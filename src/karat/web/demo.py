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

IMAGES, CAPTIONS, DONE = 60, 2, 0.4
"""The size of the world, and the share of its tasks that simulated annotators have finished."""


def make_demo(folder: Path, form: str = "pair", seed: int = 1) -> Path:
    """Write the world, its runs (runs/*.npy) and a project into a folder, and return the project's file.

    Parameters
    ----------
    folder
        An empty folder.
    form
        The name of a form.
    seed
        The same seed gives the same project, except for its times.
    """
    chosen = load_form(form)
    world = make_world(images=IMAGES, captions=CAPTIONS, seed=seed)
    save_world(world, folder / "world")
    systems = simulate_systems(world, seed=seed)
    for system in systems:
        save = partial(np.save, arr=system.scores)
        write_file(folder / "runs" / f"{system.name}.npy", save, durable=False, parents=True)
    pool = make_pool(systems, world.benchmark(), top=2, form=chosen, seed=seed)
    plan = make_tasks(pool, chosen, seed=seed)
    place = folder / "demo.db"
    source = str(folder / "world")
    with create_project(place, world.benchmark(), chosen, source=source, name="a world to try") as project:
        project.pools.add(pool)
        project.pools.add_tasks(plan)
        annotators = [
            careful("Ada"),
            average("Ben"),
            average("Cleo"),
            average("Dan"),
            careful("Eve"),
            lazy("Finn"),
        ]
        project.answers.record(
            answers_to_first_tasks(simulate_answers(world, plan, annotators, chosen, seed=seed).rows())
        )
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
