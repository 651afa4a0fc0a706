"""The fast truth is the documented truth, and single captions get the answers that people would give."""

import re

import numpy as np
import pytest

from karat.errors import KaratError
from karat.world import make_world
from karat.world import relevance as fast
from karat.world.meanings import ASPECTS, Meanings
from karat.world.scenes import Scenes
from karat.world.vocabulary import (
    ANY,
    BACKGROUND_NAMES,
    COLOURS,
    KIND_NAMES,
    KINDS,
    NOUN_NAMES,
    POSITIONS,
    RELATIONS,
)

from .parser import parse
from .slow_truth import is_true, plain_meanings, plain_scenes, statements

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
        ([0, 1], [0], "2 images and 1 caption are not pairs; give one caption for each image"),
        ([0], [0, 1], "1 image and 2 captions are not pairs"),
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


def one_scene(*objects: tuple[str, str, int, int], background: str = "beach") -> Scenes:
    """Build a scene from kind, colour, column and row; all objects are large."""
    kind, colour, column, row = zip(*objects)
    return Scenes(
        background=np.array([BACKGROUND_NAMES.index(background)]),
        ptr=np.array([0, len(objects)]),
        kind=np.array([KIND_NAMES.index(one) for one in kind]),
        colour=np.array([COLOURS.index(one) for one in colour]),
        size=np.ones(len(objects), int),
        x=28 + 56 * np.array(column),
        y=28 + 56 * np.array(row),
    )


def meaning_of(text: str) -> Meanings:
    """Read a caption by the tests' own parser."""
    said = parse(text)
    names = {"colour": COLOURS, "size": ("small", "large"), "position": POSITIONS}
    pairs = {"noun": [-1, -1], "number": [0, 0]} | {aspect: [-1, -1] for aspect in names}
    for m, mention in enumerate(said["mentions"]):
        pairs["noun"][m] = NOUN_NAMES.index(mention["noun"])
        pairs["number"][m] = {"a": 0, "at least two": 9}.get(mention["number"], mention["number"])
        for aspect, known in names.items():
            pairs[aspect][m] = -1 if mention[aspect] is None else known.index(mention[aspect])
    relation = -1 if said["relation"] is None else RELATIONS.index(said["relation"])
    background = -1 if said["background"] is None else BACKGROUND_NAMES.index(said["background"])
    return Meanings(
        background=np.array([background]),
        relation=np.array([relation]),
        **{name: np.array([codes]) for name, codes in pairs.items()},
    )


DOGS_AND_CATS = one_scene(
    ("dog", "red", 0, 0),
    ("dog", "blue", 1, 2),
    ("cat", "red", 2, 0),
    ("cat", "red", 2, 2),
    ("cup", "white", 1, 1),
)


@pytest.mark.parametrize(
    ("caption", "answer"),
    [
        ("A dog.", True),
        ("A red dog.", True),
        ("A green dog.", False),
        ("Two dogs.", True),
        ("Two red dogs.", False),
        ("A single red dog.", True),
        ("Exactly one dog.", False),
        ("Dogs.", True),
        ("Some cups.", False),
        ("Four animals.", True),
        ("Three animals.", False),
        ("A vehicle.", False),
        ("A big dog.", True),
        ("A little dog.", False),
        ("A dog on the left.", True),
        ("A blue dog on the left.", False),
        ("Two cats on the right side.", True),
        ("A single cat at the top.", True),
        ("A cup at the bottom.", False),
        ("A dog left of a cat.", True),
        ("A cat left of a dog.", False),
        ("Two dogs to the left of a cat.", True),
        ("A dog left of two cats.", True),
        ("Two dogs left of two cats.", True),
        ("Two cats are right of two dogs.", True),
        ("Two dogs above a cat.", False),  # only the red one
        ("A dog above two cats.", False),  # above one of them
        ("A dog above a cat.", True),
        ("A dog above a cup.", True),
        ("Two dogs left of a cup.", False),  # the blue one stands below it
        ("A blue dog next to a cat.", True),
        ("A red dog next to a cat.", False),  # the same row, but a column between them
        ("A cup next to a cat.", False),  # neighbouring columns, other rows
        ("A blue dog below a cup.", True),
        ("A red dog and a cup on the beach.", True),
        ("A red dog and a cup in the snow.", False),
        ("In a meadow there are two dogs.", False),
    ],
)
def test_examples_that_people_would_agree_with(caption, answer):
    assert fast.relevance(DOGS_AND_CATS, meaning_of(caption)).tolist() == [[answer]]
    assert (fast.shares(DOGS_AND_CATS, meaning_of(caption)) == 1).tolist() == [[answer]]


@pytest.mark.parametrize(
    ("caption", "share"),
    [
        ("A red cup.", 1 / 2),  # there is a cup, which is not red
        ("A little red cup on the left.", 1 / 4),
        ("A big white cup at the top.", 3 / 4),
        ("Three red cats.", 2 / 3),
        ("A car on the street.", 0),
        ("A car left of a cat on the beach.", 2 / 4),
    ],
)
def test_near_misses_hold_in_part(caption, share):
    assert fast.shares(DOGS_AND_CATS, meaning_of(caption))[0, 0] == np.float32(share)
