"""Captions: what they state about their scene, and how they say it in English.

`describe` chooses part of what there is to see, always true of the caption's own scene; `write_captions` is a
small grammar with synonyms, varied word order and agreement.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from karat.world.draws import Draws
from karat.world.meanings import Meanings
from karat.world.relevance import CaptionCheck, SceneBits, places
from karat.world.scenes import Scenes
from karat.world.vocabulary import (
    ANY,
    BACKGROUNDS,
    CATEGORY_OF,
    COLOUR_WORDS,
    KINDS,
    NOUN_NAMES,
    NUMBER_WORDS,
    PLURAL,
    POSITION_WORDS,
    RELATION_WORDS,
    RELATIONS,
    SAME_PLURAL,
    SIZE_WORDS,
    nouns_of,
)

# How often, in percent, a caption mentions a thing: enough to be worth asking, little enough to be true of
# many other pictures.
SECOND, CATEGORY, COLOUR, SIZE, POSITION, RELATION, BACKGROUND = 70, 16, 36, 16, 14, 50, 30
NUMERAL, SEVERAL, SINGLE = 50, 22, 8


def describe(scenes: Scenes, bits: SceneBits, image: np.ndarray, draws: Draws) -> Meanings:
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
    check = CaptionCheck(bits, meanings, image)
    matching = [np.bitwise_and.reduce(check.parts(mention)) for mention in (0, 1)]
    for mention in (0, 1):
        count = np.bitwise_count(matching[mention]).astype(np.int64)
        number = a_number(draws, count, related, SAME_PLURAL[meanings.noun[:, mention]])
        meanings.number[:, mention] = np.where(mentioned[:, mention], number, ANY)
    rows = np.flatnonzero(related)
    meanings.relation[rows] = a_relation(
        CaptionCheck(bits, meanings[rows], image[rows]), matching[0][rows], matching[1][rows], draws
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


def a_number(draws: Draws, count: np.ndarray, related: np.ndarray, same_plural: np.ndarray) -> np.ndarray:
    """Return how captions express a number of objects.

    With a relation only "a" or a numeral is plain; so it is with nouns like "fish", since "some fish" may be
    one.
    """
    luck = draws.integers(len(count), 100)
    plural = np.where((luck < NUMERAL + SEVERAL) & ~related & ~same_plural, PLURAL, ANY)
    several = np.where(luck < NUMERAL, count, plural)
    return np.where(count == 1, np.where((luck < SINGLE) & ~related, 1, ANY), several)


def a_relation(check: CaptionCheck, first: np.ndarray, second: np.ndarray, draws: Draws) -> np.ndarray:
    """Return a relation that holds, −1 where none does."""
    n = len(first)
    luck = draws.raw(n * len(RELATIONS)).reshape(n, len(RELATIONS)) >> np.uint64(1)
    for relation in range(len(RELATIONS)):
        check.meanings.relation[:] = relation
        luck[:, relation] += np.uint64(1)
        luck[~check.related(first, second), relation] = 0
    best = np.argmax(luck, axis=1)
    return np.where(luck[np.arange(n), best] > 0, best, -1)


NOUNS = [nouns_of(number) for number in range(len(NOUN_NAMES))]
Option = TypeVar("Option")
LUCK = 14
"""How many choices a caption may take."""


class CaptionChoices:
    """The random choices of one caption, one after the other."""

    def __init__(self, luck: list[int]) -> None:
        self._luck = iter(luck)

    def of(self, options: tuple[Option, ...]) -> Option:
        """Return one of the options; the first is as likely as all others together."""
        luck = next(self._luck)
        if luck & 1 or len(options) == 1:
            return options[0]
        return options[1 + (luck >> 1) % (len(options) - 1)]

    def number(self, below: int) -> int:
        """Return a number below `below`."""
        return next(self._luck) % below


def write_captions(meanings: Meanings, draws: Draws) -> list[str]:
    """Return a sentence for each meaning.

    Examples
    --------
    >>> from karat.world.meanings import describe_dogs
    >>> write_captions(describe_dogs(), Draws(5))
    ['Two red dogs.']
    """
    luck = draws.integers(LUCK * len(meanings), 2**16).reshape(-1, LUCK).tolist()
    columns = (
        meanings.noun, meanings.colour, meanings.size, meanings.position, meanings.number,
        meanings.background, meanings.relation,
    )  # fmt: skip
    rows = zip(*(column.tolist() for column in columns), luck)
    return [sentence(*row) for row in rows]


def sentence(
    noun: list[int],
    colour: list[int],
    size: list[int],
    position: list[int],
    number: list[int],
    background: int,
    relation: int,
    luck: list[int],
) -> str:
    """Return one caption."""
    choices = CaptionChoices(luck)
    mentions = range(2 if noun[1] >= 0 else 1)
    things = [thing(noun[m], colour[m], size[m], number[m], m == 0, choices) for m in mentions]
    many = [number[m] not in (ANY, 1) for m in mentions]
    where = "" if background < 0 else choices.of(BACKGROUNDS[background].phrases)
    if relation >= 0:
        text = with_relation(things, many[0], choices.of(RELATION_WORDS[relation]), where, choices)
    else:
        placed = any(position[m] >= 0 for m in mentions)
        for m in mentions:
            if position[m] >= 0:
                things[m] += f" {choices.of(POSITION_WORDS[position[m]])}"
        text = without_relation(things, many, placed, where, choices)
    return f"{text[0].upper()}{text[1:]}."


def thing(noun: int, colour: int, size: int, number: int, first: bool, choices: CaptionChoices) -> str:
    """Return a thing with its number, size and colour: "two large red dogs".

    Behind another thing the plural is never bare: of "red cars and boats" the boats might be red too.
    """
    words = [] if size < 0 else [choices.of(SIZE_WORDS[size])]
    if colour >= 0:
        words.append(choices.of(COLOUR_WORDS[colour]))
    chosen = choices.of(NOUNS[noun])
    words.append(chosen.one if number in (ANY, 1) else chosen.many)
    text = " ".join(words)
    if number == ANY:
        return f"an {text}" if text[0] in "aeiou" else f"a {text}"
    if number == PLURAL:
        return text if first and choices.number(2) else f"some {text}"
    if number == 1:
        return f"a single {text}" if choices.number(2) else f"exactly one {text}"
    return f"{NUMBER_WORDS[number]} {text}"


def with_relation(things: list[str], many: bool, relation: str, where: str, choices: CaptionChoices) -> str:
    """Return "a dog next to a cat" with its background, in one of several orders."""
    first, second = things
    verb = "are" if many else "is"
    after = f" {where}" if where else ""
    order = choices.number(6 if where else 4)
    if order == 0:
        return f"there {verb} {first} {relation} {second}{after}"
    if order == 1:
        return f"{first} {verb} {relation} {second}{after}"
    if order < 4:
        return f"{first} {relation} {second}{after}"
    if order == 4:
        return f"{where} there {verb} {first} {relation} {second}"
    return f"{where}, {first} {verb} {relation} {second}"


def without_relation(
    things: list[str], many: list[bool], placed: bool, where: str, choices: CaptionChoices
) -> str:
    """Return one thing or two with places and background, in one of several orders."""
    subject = " and ".join(things)
    there = "are" if many[0] else "is"
    verb = "are" if many[0] or len(many) > 1 else "is"
    if where and (placed or choices.number(3) == 0):
        # A place and a background behind each other ("on the left on the beach") would read badly.
        return f"{where} there {there} {subject}" if choices.number(2) else f"{where}, {subject}"
    order = choices.number(6)
    after = f" {where}" if where else ""
    if order == 0:
        return f"there {there} {subject}{after}"
    if order == 1:
        return f"a picture of {subject}{after}"
    if order == 2 and not placed:
        return f"{subject} can be seen{after}"
    if order == 3 and (where or (placed and len(things) == 1)):
        return f"{subject} {verb}{after}" if where else be_placed(subject, verb)
    return f"{subject if placed else choices.of((' and ', ' along with ')).join(things)}{after}"


def be_placed(subject: str, verb: str) -> str:
    """Return "a dog is on the left" from "a dog on the left"."""
    for preposition in (" on the ", " at the "):
        if preposition in subject:
            return subject.replace(preposition, f" {verb}{preposition}", 1)
    raise AssertionError(subject)


def repeated(image: np.ndarray, texts: list[str]) -> np.ndarray:
    """Return the rows whose text occurred before for the same image."""
    seen: set[tuple[int, str]] = set()
    again = []
    for row, key in enumerate(zip(image.tolist(), texts)):
        if key in seen:
            again.append(row)
        seen.add(key)
    return np.array(again, np.int64)
