"""Simulated readers: systems that score any text, so that they react to rewritten captions.

`simulate` knows what each caption of a world means; a reader has only its words. It finds numbers, sizes,
colours, things, places, relations and backgrounds in the text, and passes over words that it does not know.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from karat._util import check_choice
from karat.errors import InputError
from karat.lexicon import COLOUR_WORDS as COMMON_SHADES
from karat.lexicon import COLOURS as CSS_COLOURS
from karat.lexicon import NUMBER_WORDS, SIZE_WORDS, colour_distance, plural_of, wordnet
from karat.runs import MatrixRun
from karat.world.draws import Draws
from karat.world.meanings import ASPECTS, Meanings
from karat.world.relevance import shares, statements
from karat.world.vocabulary import (
    ANY,
    BACKGROUNDS,
    CATEGORIES,
    COLOUR_WORDS,
    COLOURS,
    KINDS,
    NOUN_NAMES,
    PLURAL,
    POSITION_WORDS,
    RELATION_WORDS,
    SIZES,
    nouns_of,
)
from karat.world.vocabulary import NUMBER_WORDS as NUMERALS
from karat.world.world import World

WORD = re.compile(r"[a-z]+")
ARTICLES = ("a", "an", "the")
MANY = ("some", "several", "many")
Phrase = tuple[str, ...]
Sign = tuple[str, int]
"""What a phrase states: an aspect, "noun" or "article", and its code in `Meanings`."""
Wording = tuple[str, str, int]
"""A phrase, and what it states."""


def read_meanings(texts: Sequence[str]) -> Meanings:
    """Return what texts state, as far as their words tell; captions of a world give its own meanings.

    Sizes, colours and numbers belong to the next thing, places to the one before. Shades are read as
    one of the eleven basic colours, those that only CSS names as the nearest one, and things also by their
    synonyms in WordNet. Of more than two things, the first two count.

    Examples
    --------
    >>> said = read_meanings(["Two red dogs.", "two crimson domestic dogs"]).in_words()
    >>> said["first_number"], said["first_colour"], said["first_noun"]
    (['two', 'two'], ['red', 'red'], ['dog', 'dog'])
    """
    said = Meanings(
        background=np.full(len(texts), -1, np.int8),
        relation=np.full(len(texts), -1, np.int8),
        number=np.full((len(texts), 2), ANY, np.int8),
        **{name: np.full((len(texts), 2), -1, np.int8) for name in ("noun", "colour", "size", "position")},
    )
    for row, text in enumerate(texts):
        things = 0
        waiting: dict[str, int] = {}
        for aspect, code in signs_in(text):
            if aspect == "article":
                waiting = {}
            elif aspect in ("colour", "size", "number"):
                waiting[aspect] = code
            elif aspect == "background":
                # "a yellow field": the colour is not that of a thing.
                said.background[row], waiting = code, {}
            elif aspect == "relation":
                said.relation[row] = code
            elif aspect == "position" and 0 < things <= 2:
                said.position[row, things - 1] = code
            elif aspect in ("noun", "nouns"):
                things += 1
                if aspect == "nouns":
                    waiting.setdefault("number", PLURAL)
                for name, value in {"noun": code, **waiting}.items() if things <= 2 else ():
                    getattr(said, name)[row, things - 1] = value
                waiting = {}
        if things < 2:
            said.relation[row] = -1
    return said


def signs_in(text: str) -> Iterator[Sign]:
    """Yield what the phrases of a text state, in order; of several that fit, the longest.

    >>> list(signs_in("A red dog."))
    [('article', 0), ('colour', 2), ('noun', 0)]
    """
    table, longest = phrases()
    words = WORD.findall(text.lower())
    at = 0
    while at < len(words):
        for length in range(min(longest, len(words) - at), 0, -1):
            sign = table.get(tuple(words[at : at + length]))
            if sign is not None:
                yield sign
                break
        at += length


@lru_cache(maxsize=1)
def phrases() -> tuple[dict[Phrase, Sign], int]:
    """Return what every known phrase states, and how many words the longest has; the first meaning counts."""
    table: dict[Phrase, Sign] = {}
    for wordings in (wordings_of_aspects, wordings_of_quantities, wordings_of_things, wordings_of_lexicons):
        for wording, aspect, code in wordings():
            table.setdefault(tuple(WORD.findall(wording.lower())), (aspect, code))
    return table, max(map(len, table))


def wordings_of_aspects() -> Iterator[Wording]:
    """Yield how the world's captions say places, relations, backgrounds and colours."""
    for aspect, lists in (("position", POSITION_WORDS), ("relation", RELATION_WORDS)):
        for code, wordings in enumerate(lists):
            yield from ((wording, aspect, code) for wording in wordings)
    for code, background in enumerate(BACKGROUNDS):
        for wording in background.phrases:
            yield wording, "background", code
            yield wording.split()[-1], "background", code
    for code, wordings in enumerate(COLOUR_WORDS):
        yield from ((wording, "colour", code) for wording in wordings)


def wordings_of_quantities() -> Iterator[Wording]:
    """Yield sizes, numbers and articles."""
    for word, size in SIZE_WORDS.items():
        if size in SIZES:
            yield word, "size", SIZES.index(size)
    yield "minor", "size", SIZES.index("small")
    for word, numeral in NUMBER_WORDS.items():
        if numeral in NUMERALS:
            yield word, "number", NUMERALS.index(numeral)
    yield from ((word, "number", PLURAL) for word in MANY)
    yield from ((word, "article", 0) for word in ARTICLES)


def wordings_of_things() -> Iterator[Wording]:
    """Yield the nouns of the world's captions."""
    for code in range(len(NOUN_NAMES)):
        for noun in nouns_of(code):
            yield noun.one, "noun", code
            yield noun.many, "nouns", code


def wordings_of_lexicons() -> Iterator[Wording]:
    """Yield further shades, the nearest of CSS's, and what WordNet calls the things."""
    for shade, colour in COMMON_SHADES.items():
        yield shade, "colour", COLOURS.index(colour)
    for shade in CSS_COLOURS:
        nearest = min(COLOURS, key=lambda name: colour_distance(name, shade))
        yield shade, "colour", COLOURS.index(nearest)
    lexicon = wordnet()
    synsets = [kind.synset for kind in KINDS] + [category.synset for category in CATEGORIES]
    for code, synset in enumerate(synsets):
        for lemma in lexicon.lemmas(lexicon.synset(synset)):
            wording = lemma.replace("_", " ")
            yield wording, "noun", code
            yield plural_of(wording), "nouns", code


def simulate_reader(
    world: World,
    texts: Sequence[str] | None = None,
    strength: float = 5.0,
    *,
    blind: Iterable[str] | str = (),
    wording: float = 0.25,
    seed: int = 0,
    name: str = "reader",
) -> MatrixRun:
    """Return the scores that a simulated system gives every image of a world and every text.

    score = strength · (share of the statements that it reads and sees which hold) + noise of variance 1 that
    depends on what it reads + wording · noise of variance 1 that depends on the text.

    So another text that it reads as the same differs by the last part alone, as a model's score moves a
    little with every word.

    Parameters
    ----------
    world
        What `make_world` returned.
    texts
        Any sentences; the world's captions by default.
    strength, blind, name
        See `System`.
    wording
        How much the mere wording moves a score; with 0, what is read as the same scores the same.
    seed
        Of the noise: the same for the texts before and after a change.

    Examples
    --------
    >>> from karat.world import make_world
    >>> world = make_world(images=20, captions=1, seed=1)
    >>> texts = ["A red dog.", "A blue dog."]
    >>> for blind in ((), "colour"):
    ...     scores = simulate_reader(world, texts, blind=blind, wording=0).scores
    ...     print(bool((scores[:, 0] == scores[:, 1]).all()))
    False
    True
    """
    aspects = [
        check_choice(aspect, ASPECTS, "blind") for aspect in ([blind] if isinstance(blind, str) else blind)
    ]
    for value, what in ((strength, "strength"), (wording, "wording")):
        if not np.isfinite(value) or value < 0:
            raise InputError(f"{what} is {value}", fix="give a number of 0 or more")
    listed = list(world.texts if texts is None else texts)
    seen = read_meanings(listed).without(aspects)
    scores = np.zeros((len(world.scenes), len(listed)), np.float32)
    rows = np.flatnonzero(statements(seen) > 0)
    scores[:, rows] = np.float32(strength) * shares(world.scenes, seen[rows])
    columns = [column.reshape(len(listed), -1) for column in vars(seen).values()]
    codes = np.concatenate(columns, axis=1)
    for row, text in enumerate(listed):
        scores[:, row] += Draws(seed, 5, zlib.crc32(codes[row].tobytes())).noise(len(scores))
        if wording:
            noise = Draws(seed, 6, zlib.crc32(text.encode())).noise(len(scores))
            scores[:, row] += np.float32(wording) * noise
    return MatrixRun(scores, name)
