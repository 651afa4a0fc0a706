"""A project in a known-truth world, whose tasks simulated people answer."""

from dataclasses import replace

import numpy as np

import karat
from judging.pipeline import strict_form
from karat.forms import load_form
from karat.judging import simulate_answers
from karat.store import create_project
from karat.world import careful, make_world, simulate_systems

PEOPLE = [careful(f"ann {k}") for k in range(12)]


def make_place(folder, images=60, captions=2, seed=1, runs=3):
    """A world's benchmark and runs in a folder; the world, and its runs."""
    world = make_world(images=images, captions=captions, seed=seed)
    world.save(folder / "world", pictures=False)
    systems = simulate_systems(world)[:runs]
    for run in systems:
        np.save(folder / f"{run.name}.npy", run.scores)
    return world, systems


def new_project(folder, name="p.db"):
    """A project without a pool."""
    bench = karat.load_benchmark(folder / "world")
    return create_project(folder / name, bench, strict_form(), source=str(folder / "world"))


def answer(project, world, after=0, part=1.0, people=PEOPLE, seed=0):
    """Let people answer the tasks from number `after` on, or a first part of them; return how many exist."""
    plan = project.pools.plan()
    last = after + int(np.ceil(part * (plan.tasks - after)))
    keep = (plan.task >= after) & (plan.task < last)
    columns = {
        name: getattr(plan, name)[keep] for name in ("task", "position", "group", "image", "caption", "gold")
    }
    columns["task"] = columns["task"] - after
    given = simulate_answers(world, replace(plan, **columns), people, load_form("pair"), seed=seed)
    project.answers.record(replace(given, task=given.task + after).rows())
    return plan.tasks


def true_scores(world, runs, measure, direction):
    """Scores under the complete truth."""
    card = karat.evaluate(runs, world.benchmark(), [measure], truth="complete", ties="stable")
    return [next(c.value for c in card if c.run == run.name and c.direction == direction) for run in runs]
