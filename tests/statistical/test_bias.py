"""Do the intervals of B_Θ contain the bias of the population of images from which queries were drawn?"""

from types import SimpleNamespace

import numpy as np
import pytest

from karat.benchmarks import Pairs
from karat.forms import listed_pairs
from karat.judging import make_pool
from karat.judging.bias.bias import over_models
from karat.judging.bias.resampled_bias import ResampledBias
from karat.judging.bias.subsets import (
    SubsetScorer,
    bias_measures,
    choose_subsets,
    mean_values,
    suggested_labels,
)
from karat.stats import Intervals
from karat.world import make_world, simulate_systems

SAMPLES = 1000


@pytest.fixture(scope="module")
def population():
    """Four models on 400 images: values per caption under every subset, by measure, and the image of each."""
    world = make_world(images=400, captions=2, seed=22)
    bench, runs = world.benchmark(), simulate_systems(world)[:4]
    pool = make_pool(runs, bench, top=5)
    judged = Pairs(pool.image, pool.caption, 1.0 * world.pair_relevance(pool.image, pool.caption))
    labels = suggested_labels(pool, judged, listed_pairs(bench, "original"))
    scorer = SubsetScorer(labels, runs, bench, {"t2i": pool.queries["t2i"]})
    inside = choose_subsets(4, empty=True).inside
    blocks = {}
    for (_, measure), _, values in scorer.value_blocks(inside, bias_measures(["R@1", "RP"])):
        blocks.setdefault(measure, []).append(values)
    image = bench.clusters("t2i", scorer.queries("t2i"))
    return {measure: np.concatenate(some) for measure, some in blocks.items()}, image, inside


@pytest.mark.statistical
@pytest.mark.parametrize("measure", ["R@1", "RP"])
@pytest.mark.parametrize("images", [50, 200])
def test_intervals_of_the_bias_hold(population, measure, images):
    values, image, inside = population[0][measure], *population[1:]
    size = inside.sum(axis=1)
    scores = mean_values(values)
    kinds = over_models(np.abs(scores - scores[-1]), inside)
    true = np.stack([kinds[:, size == number].mean(axis=1) for number in range(5)], axis=1)
    queries_of = [np.flatnonzero(image == number) for number in np.unique(image)]
    rng = np.random.default_rng(0)
    held = np.zeros((3, 5))
    for seed in range(SAMPLES):
        drawn = [queries_of[number] for number in rng.integers(0, len(queries_of), images)]
        sample, cluster = np.concatenate(drawn), np.repeat(np.arange(images), [len(some) for some in drawn])
        asked = np.arange(len(sample))
        stand_in = SimpleNamespace(
            benchmark=SimpleNamespace(clusters=lambda _, queries, cluster=cluster: cluster[queries]),
            queries=lambda _, asked=asked: asked,
        )
        reference = [(asked, row) for row in values[-1][:, sample]]
        resampled = ResampledBias(stand_in, "t2i", inside, reference, Intervals(resamples=400, seed=seed))
        resampled.add(slice(0, len(inside)), values[..., sample])
        made = resampled.intervals()
        held += (made.size_low <= true + 1e-9) & (true <= made.size_high + 1e-9)
    held /= SAMPLES
    print(f"\n{measure}, {images} images", held.round(3).tolist())
    assert (held[~np.isnan(true)] > 0.9).all()
