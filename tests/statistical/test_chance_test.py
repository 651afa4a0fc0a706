"""The test against chance rejects no more often than it says, with examples that share images."""

import numpy as np
import pytest

from karat.stats import above_chance


@pytest.mark.parametrize(
    ("clusters", "chance", "alike"), [(10, 0.5, 0.7), (40, 0.25, 0.7), (100, 1 / 6, 0.5)]
)
def test_noise_is_rarely_above_chance(clusters, chance, alike):
    rng = np.random.default_rng(0)
    draws, examples = 1000, 4
    cluster = np.repeat(np.arange(clusters), examples)
    rejected = 0
    for _ in range(draws):
        # Some examples of an image share its luck.
        luck = rng.random(clusters) < chance
        own = rng.random((clusters, examples)) < chance
        values = np.where(rng.random((clusters, examples)) < alike, luck[:, None], own).astype(float)
        rejected += above_chance(values.ravel(), np.full(values.size, chance), cluster) <= 0.05
    assert rejected / draws < 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)
