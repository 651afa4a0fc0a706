"""A small project in memory: a world, a pool, and people who mostly answer right."""

from dataclasses import replace
from pathlib import Path

import numpy as np

import karat
from karat.forms import load_form, make_answers
from karat.forms.answer_table import MACHINE, PERSON
from karat.judging import Evidence, make_pool, make_tasks, simulate_answers
from karat.store import create_project
from karat.world import careful, make_world, simulate_systems

WORLD = make_world(images=40, captions=2, seed=3)
RUNS = simulate_systems(WORLD)[:3]
# Invalid items that a model ranks first most often, so that leaving them out shows.
CAPTION, IMAGE = (int(np.bincount(RUNS[0].scores.argmax(axis=side)).argmax()) for side in (1, 0))


def small_evidence(
    people: int = 6, right: float = 0.9, seed: int = 0, machines: int = 0, **changes
) -> Evidence:
    """Three answers for each pooled pair."""
    bench = WORLD.benchmark()
    pool = make_pool(RUNS, bench, top=3)
    rng = np.random.default_rng(seed)
    image, caption = np.repeat(pool.image, 3), np.repeat(pool.caption, 3)
    # Of six people three answer each pair, never one of them twice.
    annotator = np.tile(np.arange(3), len(pool)) + 3 * np.repeat(rng.integers(0, people // 3, len(pool)), 3)
    good = np.where(WORLD.pair_relevance(image, caption) > 0, 4, 1)
    rating = np.where(rng.random(len(image)) < right, good, rng.integers(1, 5, len(image)))
    names = tuple(f"person {k}" for k in range(people - machines)) + tuple(
        f"vlm-{k}" for k in range(machines)
    )
    kinds = (PERSON,) * (people - machines) + (MACHINE,) * machines
    said = make_answers(image, caption, annotator, rating, names, kinds=kinds, assignment=annotator)
    return replace(Evidence(bench, load_form("pair"), pool, said, project="small"), **changes)


def small_project(folder: Path) -> Path:
    """Write a project with careful people's answers, one rejected assignment and one invalid caption."""
    world = make_world(images=30, captions=2, seed=5)
    world.save(folder / "world", pictures=False)
    bench = karat.load_benchmark(folder / "world")
    form = load_form("pair")
    pool = make_pool(simulate_systems(world)[:3], bench, top=2)
    with create_project(folder / "p.db", bench, form, source=str(folder / "world"), name="try") as project:
        project.pools.set(pool)
        project.pools.add_tasks(make_tasks(pool, form, overlap=2))
        people = [careful(f"Ann Lee {k}") for k in range(8)]
        project.answers.record(simulate_answers(world, project.pools.plan(), people, form, seed=1).rows())
        project.reviews.add([int(project.queue.assignments().assignment[0])], "reject", "me", "random")
        project.reviews.mark_invalid("caption", 4, "no image", "me")
    return folder / "p.db"


def bytes_of(folder: Path) -> dict[str, bytes]:
    """The contents of a folder's files."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}
