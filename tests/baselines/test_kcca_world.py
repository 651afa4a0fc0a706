"""From pixels and captions of the known-truth world alone, KCCA finds what guessing does not.

What is claimed: R@10 of at least ten times chance, in both directions, by the original labels (one picture
for a caption, three captions for a picture). By the complete truth a caption has many right pictures, and
guessing is right too often for ten times to be possible; there KCCA must halve the failures.
"""

from math import comb

import numpy as np
import pytest

import karat
from karat.baselines import KCCA, ImageTextModel
from karat.baselines.images import ImageFeatures, histogram_kernel
from karat.models.cosine import unit
from karat.runs import MatrixRun
from karat.world import make_world

SIZE, TRAINED, CAPTIONS = 500, 400, 3
DIRECTIONS = ("i2t", "t2i")
# Chosen on other worlds: things stand anywhere in a picture, so no pyramid.
FEATURES = {
    "side": 112, "points": 24, "colour_words": 128, "texture_words": 64, "sift_words": 128,
    "sample_images": 60, "sample_points": 250, "cache": False,
}  # fmt: skip


def pictures_of(world):
    return [world.picture(number) for number in range(len(world.scenes))]


@pytest.fixture(scope="module")
def training():
    world = make_world(TRAINED, CAPTIONS, seed=21)
    return pictures_of(world), np.reshape(world.texts, (TRAINED, CAPTIONS)).tolist()


@pytest.fixture(scope="module")
def unseen_world():
    world = make_world(SIZE, CAPTIONS, seed=22)
    return world, world.benchmark(), pictures_of(world)


@pytest.fixture(scope="module")
def model(training):
    features = ImageFeatures(**FEATURES)
    return ImageTextModel(image="histogram", image_power=1, features=features).fit(*training)


@pytest.fixture(scope="module")
def image_rows(model, unseen_world):
    """What `encode_images` computes first, once for both tests."""
    return histogram_kernel(model.features_.transform(unseen_world[2]), model.counts_)


@pytest.fixture(scope="module")
def scores(model, unseen_world, image_rows):
    texts = unseen_world[0].texts
    return unit(model.kcca_.transform(images=image_rows)) @ unit(model.encode_captions(texts)).T


def recall(scores, bench, **options):
    """R@10 by truth and direction."""
    card = karat.evaluate(MatrixRun(scores, "run"), bench, ["R@10"], **options)
    return {
        (truth, way): card.value("R@10", truth=truth, direction=way)
        for truth in ("original", "complete")
        for way in DIRECTIONS
    }


def guessing(bench):
    """The exact expectation of R@10 when every order is equally likely, by counting the draws that miss."""
    found = {}
    for truth in ("original", "complete"):
        judged = bench.truth(truth).judgments
        for way, query, queries, items in (
            ("i2t", judged.image, len(bench.images), len(bench.captions)),
            ("t2i", judged.caption, len(bench.captions), len(bench.images)),
        ):
            right = np.bincount(query, minlength=queries).tolist()
            found[truth, way] = 1 - np.mean([comb(items - r, 10) / comb(items, 10) for r in right])
    return found


def test_no_test_picture_is_among_the_training_pictures(training, unseen_world):
    seen = {picture.tobytes() for picture in training[0]}
    assert len(seen) == TRAINED
    assert seen.isdisjoint(picture.tobytes() for picture in unseen_world[2])


def test_chance_is_the_expectation_over_ties(unseen_world):
    _, bench, _ = unseen_world
    equal = np.zeros((SIZE, SIZE * CAPTIONS), np.float32)
    assert recall(equal, bench, ties="expected") == pytest.approx(guessing(bench), rel=1e-9)
    assert guessing(bench)["original", "t2i"] == pytest.approx(10 / SIZE)


def test_ten_times_better_than_chance(scores, unseen_world):
    _, bench, _ = unseen_world
    found, chance = recall(scores, bench), guessing(bench)
    for way in DIRECTIONS:
        assert found["original", way] >= 10 * chance["original", way]
        assert 1 - found["complete", way] <= (1 - chance["complete", way]) / 2


def test_what_is_scored_is_what_the_model_returns(model, unseen_world, image_rows):
    new = model.encode_images(unseen_world[2][:5])
    np.testing.assert_allclose(new, model.kcca_.transform(images=image_rows[:5]), atol=1e-9)


def test_captions_of_other_pictures_teach_nothing(model, unseen_world, image_rows):
    """The control: the same pictures and captions, paired at random, find no more than guessing does."""
    world, bench, _ = unseen_world
    order = np.random.default_rng(5).permutation(TRAINED)
    captions = [model.captions_[k] for k in order]
    lost = KCCA(model.kappa, model.n, power=model.weight).fit(
        histogram_kernel(model.counts_), model.kernel_.kernel(captions)
    )
    words = [[own] for own in model.words_.transform(list(world.texts))]
    first = lost.transform(images=image_rows)
    second = lost.transform(captions=model.kernel_.kernel(words, captions))
    found, chance = recall(unit(first) @ unit(second).T, bench), guessing(bench)
    for way in DIRECTIONS:
        assert found["original", way] < 2 * chance["original", way]
