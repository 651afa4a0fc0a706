"""The fast truth is the documented truth; texts say what meanings say."""

import re

import numpy as np
import pytest

from karat.validation import KaratError
from karat.world import make_world
from karat.world import relevance as fast
from karat.world.kinds import KIND_NAMES, KINDS, NOUN_NAMES
from karat.world.meanings import ASPECTS
from karat.world.scenes import draw_scenes
from karat.world.vocabulary import ANY, RELATIONS

from .parser import parse
from .plainly import plain_meanings, plain_scenes
from .slow_truth import is_true, statements

SEEDS = [(seed, 4 + seed % 29, 1 + seed % 5) for seed in range(100)]


def test_exact_relevance_is_a_slow_logical_check_on_every_pair_of_100_worlds():
    pairs = 0
    for seed, images, captions in SEEDS:
        world = make_world(images, captions, seed)
        truth, share = world.relevance(), world.shares()
        scenes, meanings = plain_scenes(world.scenes), plain_meanings(world.meanings)
        for i, scene in enumerate(scenes):
            for c, meaning in enumerate(meanings):
                held = statements(scene, meaning)
                assert truth[i, c] == is_true(scene, meaning) == all(held), (seed, i, c, world.texts[c])
                assert share[i, c] == np.float32(sum(held)) / np.float32(len(held)), (seed, world.texts[c])
                pairs += 1
    assert pairs > 100_000


def test_random_meanings_agree_too():
    """Meanings that no caption would have: overlapping things, numerals of groups in relations."""
    rng = np.random.default_rng(3)
    true = {"some": 0, "first": 0, "second": 0, "both": 0}
    for seed in range(20):
        world = make_world(30, 3, seed)
        said = world.meanings.put(np.arange(0), world.meanings[:0])
        n = len(said)
        said.noun[:] = rng.choice([*range(len(NOUN_NAMES)), *[len(KINDS), len(KINDS) + 1] * 60], (n, 2))
        said.colour[rng.random((n, 2)) < 0.9] = -1
        said.size[rng.random((n, 2)) < 0.7] = -1
        said.position[rng.random((n, 2)) < 0.7] = -1
        said.relation[:] = rng.integers(-1, len(RELATIONS), n)
        said.number[:] = rng.choice([ANY, 1, 2, 2, 2, 3], (n, 2))
        truth, share = fast.relevance(world.scenes, said), fast.shares(world.scenes, said)
        for i, scene in enumerate(plain_scenes(world.scenes)):
            for c, meaning in enumerate(plain_meanings(said)):
                held = statements(scene, meaning)
                assert truth[i, c] == is_true(scene, meaning) == all(held)
                assert share[i, c] == np.float32(sum(held)) / np.float32(len(held))
                if truth[i, c] and meaning["relation"] is not None:
                    first, second = (m["number"] in (2, 3) for m in meaning["mentions"])
                    true[("some", "second", "first", "both")[2 * first + second]] += 1
    assert min(true.values()) >= 1, true


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


def test_blocks_and_pairs_agree(monkeypatch):
    world = make_world(40, 3, seed=8)
    whole, share = world.relevance(), world.shares()
    monkeypatch.setattr(fast, "BLOCK", 70)
    np.testing.assert_array_equal(world.relevance(), whole)
    image, caption = np.divmod(np.arange(40 * 120), 120)
    np.testing.assert_array_equal(world.pair_relevance(image, caption), whole.ravel())
    np.testing.assert_array_equal(world.pair_shares(image, caption), share.ravel())
    found = np.zeros_like(whole)
    found[fast.positives(world.scenes, world.meanings)] = True
    np.testing.assert_array_equal(found, whole)
    np.testing.assert_array_equal(world.positives[0], whole.sum(axis=1))
    np.testing.assert_array_equal(world.positives[1], whole.sum(axis=0))
    np.testing.assert_array_equal(share == 1, whole)
    assert len(world.pair_relevance(image[:0], caption[:0])) == 0


@pytest.mark.parametrize("question", ["pair_relevance", "pair_shares"])
def test_wrong_pairs_are_a_sentence(question):
    world = make_world(3, 2, seed=1)
    ask = getattr(world, question)
    assert ask([], []).shape == (0,)
    assert ask([0, 2], range(2)).shape == (2,)
    for image, caption, message in (
        ([0, 1], [0], "2 images and 1 caption are no pairs; give one caption for each image"),
        ([0], [0, 1], "1 image and 2 captions are no pairs"),
        ([0, -1], [0, 0], "there is no image -1; they are numbered 0 to 2"),
        ([3], [0], "there is no image 3;"),
        ([0], [6], "there is no caption 6; they are numbered 0 to 5"),
        ([0.0], [0], "the image numbers have shape (1,) and type float64; give a list of whole numbers"),
        ([True], [0], "type bool"),
        (0, 0, "shape ()"),
        ([[0]], [[0]], "shape (1, 1)"),
    ):
        with pytest.raises(KaratError, match=re.escape(message)):
            ask(image, caption)


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


def test_nothing_is_borderline():
    """Every line that decides something runs through a gap in which no centre lies."""
    scenes = draw_scenes(4000, seed=2)
    for centre in (scenes.x.astype(int), scenes.y.astype(int)):
        assert min(abs(centre - 56).min(), abs(centre - 112).min()) >= 24
        apart = np.abs(centre[:, None] - centre[None, :8000:97])
        assert not ((apart > 8) & (apart < 48)).any()
        assert not ((apart > 64) & (apart < 104)).any()


def test_objects_are_inside_and_apart():
    scenes = draw_scenes(2000, seed=3)
    box = scenes.box
    assert box.min() >= 0
    assert (box[:, :2] + box[:, 2:]).max() <= 168
    assert np.diff(scenes.ptr).min() >= 1
    assert np.diff(scenes.ptr).max() <= 8
    for begin, end in zip(scenes.ptr, scenes.ptr[1:]):
        some = box[begin:end]
        for k, (x, y, w, h) in enumerate(some):
            for u, v, a, b in some[:k]:
                assert x >= u + a or u >= x + w or y >= v + b or v >= y + h
    kinds = [set(scenes.kind[b:e]) for b, e in zip(scenes.ptr, scenes.ptr[1:])]
    assert {len(k) for k in kinds} == {1, 2, 3}
    assert set(scenes.kind) == set(range(len(KINDS)))


def test_overlooking_an_aspect_only_makes_more_true():
    world = make_world(100, 3, seed=4)
    full = world.relevance()
    for aspect in ASPECTS:
        blind = world.meanings.without([aspect])
        assert not blind.mentions(aspect).any()
        seen = fast.relevance(world.scenes, blind)
        same = ~world.meanings.mentions(aspect)
        np.testing.assert_array_equal(seen[:, same], full[:, same])
        if aspect in ("background", "relation", "number"):
            assert (seen >= full).all()
    assert world.meanings.without(["number"]).number.max() == ANY
    with pytest.raises(ValueError, match="choose one of colour"):
        world.meanings.without(["smell"])
