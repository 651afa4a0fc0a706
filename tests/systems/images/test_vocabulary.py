"""k-means words and the nearest of them."""

import numpy as np
import pytest

from karat.systems.images.vocabulary import draw, fit_words, nearest_words


def test_words_find_groups(rng):
    middles = rng.normal(0, 10, (20, 5))
    sample = np.repeat(middles, 60, axis=0) + rng.normal(0, 0.01, (1200, 5))
    centres = fit_words(sample, 20, seed=0)
    assert centres.shape == (20, 5)
    spread = np.linalg.norm(sample - centres[nearest_words(sample, centres)], axis=1)
    assert np.median(spread) < 0.1


def test_the_seed_decides_everything(rng):
    sample = rng.normal(size=(3000, 8))
    assert np.array_equal(fit_words(sample, 30, seed=4), fit_words(sample, 30, seed=4))
    assert not np.array_equal(fit_words(sample, 30, seed=4), fit_words(sample, 30, seed=5))


@pytest.mark.parametrize("repeats", [1, 500])
def test_few_different_points_are_the_words(repeats: int):
    sample = np.tile(np.array([[3.0, 1], [1, 2], [2, 2]]), (repeats, 1))
    assert fit_words(sample, 3, seed=0).tolist() == [[1, 2], [2, 2], [3, 1]]
    assert len(fit_words(sample, 10, seed=0)) == 3


def test_nearest_equals_brute_force(rng):
    points, centres = rng.normal(size=(200, 6)), rng.normal(size=(17, 6))
    wanted = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest_words(points, centres), wanted)


def test_samples_take_different_pictures_and_points():
    sample = draw(50, 20, 64, 30, seed=1)
    assert len({picture for picture, _ in sample}) == 20
    assert all(len(set(places.tolist())) == 30 for _, places in sample)
    assert len(draw(5, 20, 64, 100, seed=1)) == 5
    assert sorted(draw(5, 20, 64, 100, seed=1)[0][1].tolist()) == list(range(64))
