"""A small world whose labels are known in full, with runs of every kind."""

import numpy as np
import pytest

from karat.runs import RankingsRun
from karat.world import make_world, simulate_systems


@pytest.fixture(scope="session")
def world():
    return make_world(images=30, captions=2, seed=1)


@pytest.fixture(scope="session")
def bench(world):
    return world.benchmark()


@pytest.fixture(scope="session")
def runs(world):
    """Two tables of scores."""
    return simulate_systems(world)[:2]


@pytest.fixture(scope="session")
def rounded(world):
    """A table in which most scores are tied."""
    run = simulate_systems(world)[2]
    run.scores = np.round(run.scores / 2)
    return run


@pytest.fixture(scope="session")
def ranked(bench, runs):
    """The first run as ranked lists of 12 items, without scores."""
    scores, images, captions = runs[0].scores, bench.images.values, bench.captions.values
    lists = {
        "i2t": {images[i]: captions[np.argsort(-row, kind="stable")[:12]] for i, row in enumerate(scores)},
        "t2i": {captions[c]: images[np.argsort(-row, kind="stable")[:12]] for c, row in enumerate(scores.T)},
    }
    return RankingsRun(lists, "lists")
