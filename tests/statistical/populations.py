"""A large population of queries of which everything is known, and samples from it.

The gallery is fixed and the queries are drawn from the population, with replacement, so the population's own
score is the true one: what an interval has to hold and a test has to find equal.
"""

from dataclasses import replace
from functools import cache

import numpy as np

import karat
from karat.scores import Column, Scorecard
from karat.world import World, make_world, simulate

IMAGES, CAPTIONS = 3000, 5
KEEN = {"strength": 5.0, "instance": 1.0}
"""A system that often finds the very image: R@1, RP and mAP@R far from 0 and 1."""
DULL = {"strength": 3.0}
"""One whose median rank is in the hundreds: whole-numbered ranks are then fine enough for 95%."""
TRUTH = {"RP": "complete", "mAP@R": "complete", "R@1": "original", "MedR": "original"}


@cache
def world() -> World:
    return make_world(IMAGES, CAPTIONS, seed=11)


@cache
def scorecard(strength: float, instance: float = 0.0, seed: int = 0) -> Scorecard:
    """Score one system on everything; it sees some pictures badly, so their captions fail together."""
    name = f"strength {strength}, instance {instance}, seed {seed}"
    run = simulate(world(), strength, instance=instance, uneven=0.9, seed=seed, name=name)
    cards = [
        karat.evaluate(run, benchmark(), [m for m, t in TRUTH.items() if t == truth], truth=truth)
        for truth in ("complete", "original")
    ]
    return replace(cards[0], columns=[column for card in cards for column in card])


def population_column(measure: str, direction: str, seed: int = 0, **system: float) -> Column:
    """Return one column of the population; of a system that suits the measure unless one is given."""
    chosen = system or (DULL if measure == "MedR" else KEEN)
    return scorecard(seed=seed, **chosen).column(measure, truth=TRUTH[measure], direction=direction)


@cache
def benchmark() -> karat.Benchmark:
    return world().benchmark()


def draw_images(number: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, IMAGES, number)


def sample(column: Column, images: np.ndarray, clustered: bool = True) -> Column:
    """Return a column with the queries of the drawn images alone; an image drawn twice is two clusters."""
    if column.parts:
        parts = tuple(sample(part, images, clustered) for part in column.parts)
        return replace(column, parts=parts)
    order = np.argsort(column.cluster, kind="stable")
    first = np.searchsorted(column.cluster[order], images, side="left")
    last = np.searchsorted(column.cluster[order], images, side="right")
    rows = np.concatenate([order[a:b] for a, b in zip(first, last)])
    cluster = np.repeat(np.arange(len(images)), last - first)
    if not clustered:
        cluster = np.arange(len(rows))
    return replace(column, values=column.values[rows], query=rows, fold=column.fold[rows], cluster=cluster)


def shuffle(columns: list[Column], rng: np.random.Generator) -> list[Column]:
    """Deal the values of equal systems anew, image by image: then nothing but chance tells them apart."""
    cluster = columns[0].cluster
    deal = rng.permuted(np.tile(np.arange(len(columns)), (cluster.max() + 1, 1)), axis=1)[cluster]
    values = np.stack([column.values for column in columns], axis=1)
    dealt = np.take_along_axis(values, deal, axis=1)
    return [replace(column, values=dealt[:, k]) for k, column in enumerate(columns)]
