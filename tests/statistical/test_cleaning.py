"""Planted wrong captions: the cleaning list beside LEMoN's scores, in one run. ``-s`` prints both."""

import os
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.captions import STOP_WORDS, stem, tokenise
from karat.explanations import make_cleaning_list
from karat.stats import auroc
from karat.world import make_world, plant_wrong_captions
from statistical.lemon import neighbour_scores

DIMENSIONS = 64


def word_vectors(texts, seed: int = 0) -> np.ndarray:
    """Sums of a random vector per content word, rare words more: a text encoder that knows words alone."""
    words = [{stem(word) for word in tokenise(text) if word not in STOP_WORDS} for text in texts]
    known = sorted(set().union(*words))
    place = {word: k for k, word in enumerate(known)}
    times = np.bincount([place[word] for own in words for word in own], minlength=len(known))
    vectors = np.random.default_rng(seed).normal(size=(len(known), 4 * DIMENSIONS))
    vectors *= np.log(len(texts) / times)[:, None]
    return np.array([sum((vectors[place[word]] for word in own), np.zeros(4 * DIMENSIONS)) for own in words])


def world_vectors(world, origin, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Simulated embeddings of images and captions in one space: what they show and say, and noise."""
    things = world.benchmark().objects
    shown = [[] for _ in range(len(world.scenes))]
    for k, image in enumerate(things.image.tolist()):
        shown[image] += [things.categories[things.category[k]], things.attributes["colour"][k]]
    both = word_vectors([*(" ".join(words) for words in shown), *world.texts])[:, :DIMENSIONS]
    rng = np.random.default_rng(seed)
    both /= np.maximum(np.linalg.norm(both, axis=1, keepdims=True), 1e-9)
    both += noise * rng.normal(size=both.shape) / np.sqrt(DIMENSIONS)
    images, captions = np.split(both, [len(world.scenes)])
    return images, captions[origin]


def report(what: str, wrong, **scores) -> dict[str, float]:
    found = {name: auroc(values, wrong) for name, values in scores.items()}
    print(f"\n{what}: {int(wrong.sum())} wrong captions of {len(wrong)}")
    for name, area in found.items():
        print(f"  {name:14} {area.value:.3f} ({area.low:.3f} to {area.high:.3f})")
    return {name: area.value for name, area in found.items()}


SETTINGS = [
    {"beta": beta, "gamma": gamma, "tau_same": same, "tau_pair": pair}
    for beta, gamma in ((5, 5), (20, 20), (0, 20), (20, 0))
    for same, pair in ((0.1, 5), (1, 1))
]


def best_lemon(wrong, *embeddings) -> np.ndarray:
    """The best of several settings, chosen by the answers themselves: more than a user could have."""
    tried = [neighbour_scores(*embeddings, **setting) for setting in SETTINGS]
    return max(tried, key=lambda scores: auroc(scores, wrong).value)


@pytest.mark.parametrize("noise", [0.5, 1.5])
def test_world(noise):
    world = make_world(400, captions=5, seed=11)
    planted = plant_wrong_captions(world.benchmark(), 0.1, seed=4, avoid="complete")
    images, captions = world_vectors(world, planted.origin, noise, seed=5)
    owner = world.caption_image
    run = images @ captions.T
    found = report(
        f"world, noise {noise:g}", planted.wrong,
        cleaning=make_cleaning_list(run, planted.benchmark).score,
        lemon=neighbour_scores(images, captions, owner),
        best_lemon=best_lemon(planted.wrong, images, captions, owner),
        pair_distance=-run[owner, np.arange(len(owner))],
    )  # fmt: skip
    assert found["cleaning"] > 0.8


def test_flickr8k():
    """Images are the mean word vectors of their other captions, since no image encoder is at hand."""
    data = os.environ.get("KARAT_DATA")
    if not data or not (Path(data) / "flickr8k").is_dir():
        pytest.skip("needs KARAT_DATA with flickr8k")
    bench = karat.load_benchmark(str(Path(data) / "flickr8k"))
    planted = plant_wrong_captions(bench, 0.1, seed=4)
    owner = np.asarray(bench.caption_image)
    captions = word_vectors(planted.benchmark.needed_texts)
    captions /= np.maximum(np.linalg.norm(captions, axis=1, keepdims=True), 1e-9)
    # A caption is never compared with an image that was made of it: leave one out.
    total = np.zeros((bench.images.size, captions.shape[1]))
    np.add.at(total, owner, captions)
    own = total[owner] - captions
    scores = total @ captions.T
    scores[owner, np.arange(len(owner))] = (own * captions).sum(axis=1)
    found = report(
        "flickr8k", planted.wrong,
        cleaning=make_cleaning_list(scores, planted.benchmark).score,
        lemon=neighbour_scores(own, captions, np.arange(len(owner))),
        best_lemon=best_lemon(planted.wrong, own, captions, np.arange(len(owner))),
    )  # fmt: skip
    assert found["cleaning"] > 0.85
