"""From meanings to English: a small grammar with synonyms, varied word order and agreement."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from karat.world.draws import Draws
from karat.world.kinds import NOUN_NAMES, nouns_of
from karat.world.meanings import Meanings
from karat.world.vocabulary import (
    ANY,
    BACKGROUNDS,
    COLOUR_WORDS,
    NUMBER_WORDS,
    PLURAL,
    POSITION_WORDS,
    RELATION_WORDS,
    SIZE_WORDS,
)

NOUNS = [nouns_of(number) for number in range(len(NOUN_NAMES))]
Option = TypeVar("Option")
LUCK = 14
"""How many choices a caption may take."""


class Choices:
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
    choices = Choices(luck)
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


def thing(noun: int, colour: int, size: int, number: int, first: bool, choices: Choices) -> str:
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


def with_relation(things: list[str], many: bool, relation: str, where: str, choices: Choices) -> str:
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


def without_relation(things: list[str], many: list[bool], placed: bool, where: str, choices: Choices) -> str:
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
    """Return the rows whose text stands before for the same image."""
    seen: set[tuple[int, str]] = set()
    again = []
    for row, key in enumerate(zip(image.tolist(), texts)):
        if key in seen:
            again.append(row)
        seen.add(key)
    return np.array(again, np.int64)
