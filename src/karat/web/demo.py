"""A small world to try everything in: pictures, systems, tasks, and some people who have begun."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from karat.judging import create_project, load_form, make_pool, make_tasks, simulate_answers
from karat.judging.store import AnswerRows
from karat.world import average, careful, lazy, make_world, save_world, simulate_systems

IMAGES, CAPTIONS, DONE = 60, 2, 0.4
"""How large it is, and the share of the tasks that simulated people have done."""


def make_demo(folder: Path, form: str = "pair", seed: int = 1) -> Path:
    """Write the world and a project into a folder and return the project's file.

    Parameters
    ----------
    folder
        An empty one.
    form
        What is asked: the name of a form.
    seed
        The same seed gives the same project, up to its times.
    """
    asked = load_form(form)
    world = make_world(images=IMAGES, captions=CAPTIONS, seed=seed)
    save_world(world, folder / "world")
    pool = make_pool(simulate_systems(world, seed=seed), world.benchmark(), top=2, form=asked, seed=seed)
    plan = make_tasks(pool, asked, seed=seed)
    place = folder / "demo.db"
    source = str(folder / "world")
    with create_project(place, world.benchmark(), asked, source=source, name="a world to try") as project:
        project.pools.add(pool)
        project.pools.add_tasks(plan)
        people = [
            careful("Ada"),
            average("Ben"),
            average("Cleo"),
            average("Dan"),
            careful("Eve"),
            lazy("Finn"),
        ]
        project.answers.record(some(simulate_answers(world, plan, people, asked, seed=seed).rows()))
    return place


def some(rows: AnswerRows) -> AnswerRows:
    """Return the answers to the first tasks: the others are for whoever tries the demonstration."""
    task = np.asarray(rows.task)
    keep = np.flatnonzero(task < DONE * (task.max() + 1))
    chosen = keep.tolist()
    at = np.asarray(rows.at, float)[keep]
    assert rows.seconds is not None
    assert rows.at is not None
    assert rows.details is not None
    return AnswerRows(
        task[keep],
        np.asarray(rows.image)[keep],
        np.asarray(rows.caption)[keep],
        [rows.worker[one] for one in chosen],
        [rows.code[one] for one in chosen],
        np.asarray(rows.seconds)[keep],
        # The last of them has just answered.
        at + time.time() - at.max(),
        [rows.details[one] for one in chosen],
    )
