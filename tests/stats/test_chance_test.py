"""The test against chance, against all outcomes written out and against scipy."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from karat.stats import above_chance


def test_independent_examples_are_tested_exactly():
    rng = np.random.default_rng(0)
    values, chance = (rng.random(40) < 0.4).astype(float), np.full(40, 0.25)
    expected = stats.binomtest(int(values.sum()), 40, 0.25, alternative="greater").pvalue
    assert above_chance(values, chance, np.arange(40)) == pytest.approx(expected)


def test_examples_with_different_chances():
    chance = np.array([0.5, 0.5, 0.2, 0.25, 0.2])
    values = np.array([1.0, 1, 0, 1, 0])
    outcomes = np.array(list(product((0, 1), repeat=5)))
    probability = np.prod(np.where(outcomes == 1, chance, 1 - chance), axis=1)
    expected = probability[outcomes.sum(axis=1) >= 3].sum()
    assert above_chance(values, chance, np.arange(5)) == pytest.approx(expected)


def test_shared_images_make_it_less_sure():
    values = np.repeat([1.0, 1, 1, 1, 1, 1, 0, 0], 10)
    chance, cluster = np.full(80, 0.5), np.repeat(np.arange(8), 10)
    alone = above_chance(values, chance, np.arange(80))
    together = above_chance(values, chance, cluster)
    assert alone < 1e-5 < 0.05 < together
    sums = np.repeat([5.0, -5.0], [6, 2])
    assert together == pytest.approx(stats.ttest_1samp(sums, 0, alternative="greater").pvalue)


def test_clusters_without_spread():
    cluster = np.repeat(np.arange(5), 2)
    assert above_chance(np.ones(10), np.full(10, 0.5), cluster) == 0.5**5
    assert above_chance(np.full(10, 0.5), np.full(10, 0.5), cluster) == 1
    assert above_chance(np.zeros(10), np.full(10, 0.5), cluster) == 1


def test_weights():
    values, chance = np.array([1.0, 0, 1, 1]), np.full(4, 0.5)
    weight = np.array([1.0, 2, 3, 4])
    expected = stats.ttest_1samp((values - 0.5) * weight, 0, alternative="greater").pvalue
    assert above_chance(values, chance, np.arange(4), weight) == pytest.approx(expected)
