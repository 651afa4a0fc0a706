"""Choosing what captions state: part of what there is to see, always true of their own scene."""

from __future__ import annotations

import numpy as np

from karat.world.draws import Draws
from karat.world.exact import Ask
from karat.world.kinds import CATEGORY_OF, KINDS, SAME_PLURAL
from karat.world.meanings import Meanings
from karat.world.scenes import Scenes
from karat.world.view import View, places
from karat.world.vocabulary import ANY, PLURAL, RELATIONS

# How often, in percent, a caption mentions a thing: enough to be worth asking, little enough to be true of
# many other pictures.
SECOND, CATEGORY, COLOUR, SIZE, POSITION, RELATION, BACKGROUND = 70, 16, 36, 16, 14, 50, 30
NUMERAL, SEVERAL, SINGLE = 50, 22, 8


def describe(scenes: Scenes, seen: View, image: np.ndarray, draws: Draws) -> Meanings:
    """Return a meaning for each of `image` that is true of it.

    The two things of a caption never overlap ("a dog and an animal" would leave open whether the dog is the
    animal): they have other nouns, or the same noun and other colours, which are then both said.
    """
    n = len(image)
    objects = scenes.ptr[image][:, None] + two_columns(draws.integers, n, np.diff(scenes.ptr)[image])
    kind, colour, size = (c[objects] for c in (scenes.kind, scenes.colour, scenes.size))
    category = CATEGORY_OF[kind]
    vague = two_columns(draws.chances, n, CATEGORY) & (category >= 0)
    overlap = (category[:, 0] == category[:, 1]) & vague.any(axis=1)
    vague &= ~overlap[:, None]
    same = kind[:, 0] == kind[:, 1]
    contrast = same & (colour[:, 0] != colour[:, 1])
    two = draws.chances(n, SECOND) & (~same | contrast)
    related = two & draws.chances(n, RELATION)
    colour_said = two_columns(draws.chances, n, COLOUR) | (contrast & two)[:, None]
    size_said = two_columns(draws.chances, n, SIZE)
    position = a_place(scenes, objects, two_columns(draws.integers, n, 2))
    position_said = two_columns(draws.chances, n, POSITION) & ~related[:, None] & (position >= 0)
    # "a dog and a cat on the left" would leave open whether the dog is there too.
    position_said[:, 1] &= position_said[:, 0]
    mentioned = np.stack([np.ones(n, bool), two], axis=1)

    def said(code: np.ndarray, where: np.ndarray | bool = True) -> np.ndarray:
        return np.where(mentioned & where, code, -1).astype(np.int8)

    meanings = Meanings(
        background=np.where(draws.chances(n, BACKGROUND), scenes.background[image], -1).astype(np.int8),
        noun=said(np.where(vague, len(KINDS) + category, kind)),
        colour=said(colour, colour_said),
        size=said(size, size_said),
        position=said(position, position_said),
        number=np.zeros((n, 2), np.int8),
        relation=np.full(n, -1, np.int8),
    )
    ask = Ask(seen, meanings, image)
    matching = [np.bitwise_and.reduce(ask.parts(mention)) for mention in (0, 1)]
    for mention in (0, 1):
        found = np.bitwise_count(matching[mention]).astype(np.int64)
        number = a_number(draws, found, related, SAME_PLURAL[meanings.noun[:, mention]])
        meanings.number[:, mention] = np.where(mentioned[:, mention], number, ANY)
    rows = np.flatnonzero(related)
    meanings.relation[rows] = a_relation(
        Ask(seen, meanings[rows], image[rows]), matching[0][rows], matching[1][rows], draws
    )
    return meanings


def two_columns(draw: object, n: int, argument: int | np.ndarray) -> np.ndarray:
    """Draw for both mentions of n captions."""
    per_row = np.repeat(argument, 2) if isinstance(argument, np.ndarray) else argument
    return draw(2 * n, per_row).reshape(n, 2)  # type: ignore[operator]


def a_place(scenes: Scenes, objects: np.ndarray, upright_first: np.ndarray) -> np.ndarray:
    """Return a place of each object: sideways or upright, whichever it has; −1 in the middle."""
    sideways, upright = (place[objects] for place in places(scenes))
    first, second = (
        np.where(upright_first, upright, sideways),
        np.where(upright_first, sideways, upright),
    )
    return np.where(first >= 0, first, second)


def a_number(draws: Draws, found: np.ndarray, related: np.ndarray, same_plural: np.ndarray) -> np.ndarray:
    """Return how captions speak of so many objects.

    With a relation only "a" or a numeral is plain; so it is with nouns like "fish", since "some fish" may be
    one.
    """
    luck = draws.integers(len(found), 100)
    plural = np.where((luck < NUMERAL + SEVERAL) & ~related & ~same_plural, PLURAL, ANY)
    several = np.where(luck < NUMERAL, found, plural)
    return np.where(found == 1, np.where((luck < SINGLE) & ~related, 1, ANY), several)


def a_relation(ask: Ask, first: np.ndarray, second: np.ndarray, draws: Draws) -> np.ndarray:
    """Return a relation that holds, −1 where none does."""
    n = len(first)
    luck = draws.raw(n * len(RELATIONS)).reshape(n, len(RELATIONS)) >> np.uint64(1)
    for relation in range(len(RELATIONS)):
        ask.meanings.relation[:] = relation
        luck[:, relation] += np.uint64(1)
        luck[~ask.related(first, second), relation] = 0
    best = np.argmax(luck, axis=1)
    return np.where(luck[np.arange(n), best] > 0, best, -1)
