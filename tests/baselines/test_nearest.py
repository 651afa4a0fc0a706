"""Nearest neighbours, against literal versions."""

import numpy as np
import pytest

import karat
from karat.baselines import DirectedRun, NearestNeighbour
from karat.errors import InputError

from made import make_benchmark


def test_scores_are_those_of_the_nearest_pair(rng):
    images, captions = rng.random((5, 9)), rng.random((7, 9))
    tables = NearestNeighbour().scores(images, captions)
    for i in range(5):
        for s in range(7):
            assert tables["i2t"][i, s] == captions[s, images[i].argmax()]
            assert tables["t2i"][s, i] == images[i, captions[s].argmax()]


def test_several_neighbours_are_averaged(rng):
    images, captions = rng.random((5, 9)), rng.random((7, 9))
    tables = NearestNeighbour(3).scores(images, captions)
    for i in range(5):
        near = sorted(range(9), key=lambda t: -images[i, t])[:3]
        np.testing.assert_allclose(tables["i2t"][i], captions[:, near].mean(axis=1))
    everything = NearestNeighbour(99).scores(images, captions)["i2t"]
    np.testing.assert_allclose(everything, np.tile(captions.mean(axis=1), (5, 1)))


@pytest.mark.parametrize("neighbours", [1, 2])
def test_of_equally_near_pairs_the_earlier_counts(neighbours):
    images, captions = np.array([[0.5, 0.5, 0.5]]), np.array([[0.1, 0.2, 0.9]])
    score = NearestNeighbour(neighbours).scores(images, captions)["i2t"][0, 0]
    assert score == pytest.approx(captions[0, :neighbours].mean())


def test_a_run_answers_each_direction_by_its_own_table(rng):
    bench = make_benchmark(6, 2)
    train = np.arange(6)
    images = (train[:, None] == train) + 0.1 * rng.random((6, 6))
    captions = (bench.caption_image[:, None] == train) + 0.1 * rng.random((12, 6))
    run = NearestNeighbour().run(images, captions, name="nn")
    card = karat.evaluate(run, bench, ["R@1", "MedR"], truth="own")
    assert card.value("R@1", direction="t2i") == 1
    tables = NearestNeighbour().scores(images, captions)
    top = run.align(bench).top("i2t", 1)
    assert top.item.tolist() == tables["i2t"].argmax(axis=1).tolist()
    assert run.align(bench).top("t2i", 1).item.tolist() == tables["t2i"].argmax(axis=1).tolist()


def test_a_run_is_aligned_by_its_ids(rng):
    bench = make_benchmark(4, 1)
    first, second = rng.random((4, 4)), rng.random((4, 4))
    plain = DirectedRun(first, second).align(bench)
    order = [2, 0, 3, 1]
    ids = {"images": bench.images.values[order].tolist()}
    moved = DirectedRun(first[order], second[:, order], ids=ids).align(bench)
    assert moved.align(bench) is moved
    for direction in ("i2t", "t2i"):
        np.testing.assert_array_equal(moved.top(direction, 4).item, plain.top(direction, 4).item)


def test_mistakes_are_named():
    with pytest.raises(InputError, match="3 training pairs, captions with 4"):
        NearestNeighbour().scores(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(InputError, match="0 neighbours"):
        NearestNeighbour(0).scores(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(InputError, match="score every image with every caption"):
        DirectedRun(np.ones((2, 3)), np.ones((2, 3)))
