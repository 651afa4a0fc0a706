"""Texts say what meanings say, and meanings are true of their own image."""

import numpy as np
import pytest

from karat.world import make_world
from karat.world.meanings import ASPECTS
from karat.world.vocabulary import KIND_NAMES

from .parser import parse
from .slow_truth import plain_meanings

SEEDS = [(seed, 4 + seed % 29, 1 + seed % 5) for seed in range(100)]


def test_texts_say_what_their_meanings_say():
    for seed, images, captions in SEEDS:
        world = make_world(images, captions, 1000 + seed)
        for text, meaning in zip(world.texts, plain_meanings(world.meanings)):
            assert parse(text) == meaning, text


def test_captions_are_true_of_their_own_image_and_differ():
    for seed, images, captions in [*SEEDS, (1, 30, 20)]:
        world = make_world(images, captions, seed)
        rows = np.arange(len(world.texts))
        assert world.pair_relevance(world.caption_image, rows).all()
        own = list(zip(world.caption_image.tolist(), world.texts))
        assert len(set(own)) == len(own)


def test_all_words_of_the_language_are_used():
    world = make_world(3000, 2, seed=5)
    said = world.meanings
    assert set(said.noun.ravel()) == set(range(-1, 41))
    assert set(said.relation) == set(range(-1, 5))
    assert set(said.position.ravel()) == set(range(-1, 4))
    assert set(said.number.ravel()) >= {0, 1, 2, 3, 4, 9}
    for aspect in ASPECTS:
        assert 0.05 < said.mentions(aspect).mean() < 0.7, aspect


def test_a_plural_that_looks_like_the_singular_is_never_bare():
    """People call "Pink fish." true of one fish; the parser refuses such a caption."""
    world = make_world(4000, 3, seed=1)
    said = world.meanings
    assert set(said.number[said.noun == KIND_NAMES.index("fish")]) == {0, 1, 2, 3, 4}
    texts = [text for text in world.texts if "fish" in text.lower()]
    assert len(texts) > 300
    for text in texts:
        parse(text)
    for text in ("Fish.", "Some pink fish on the beach.", "A dog and some fish."):
        with pytest.raises(AssertionError, match="one fish, or several"):
            parse(text)
