"""Single captions of one scene, with the answers that people would give."""

import numpy as np
import pytest

from karat.world import relevance as fast
from karat.world.kinds import KIND_NAMES, NOUN_NAMES
from karat.world.meanings import Meanings
from karat.world.scenes import Scenes
from karat.world.vocabulary import BACKGROUND_NAMES, COLOURS, POSITIONS, RELATIONS

from .parser import parse


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
