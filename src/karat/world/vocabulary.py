"""The words of the world: kinds and categories of things, colours, sizes, places, relations, backgrounds.

Wherever something has several wordings, all of them mean exactly the same.

A category is given only where people and WordNet 3.0 agree on it for *every* kind: a caption "a vehicle" must
be right or wrong of any picture without doubt. That is why there is no bus or train (WordNet files them
under public transport, not under vehicle) and no category of containers (to WordNet every wheeled vehicle is
one), and why a ball has no category (people call it a toy, WordNet does not). No other sense of a word may
mislead either: "instrument" is not a word for a musical one, since a clock is an instrument too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LARGE = 48
"""The longest side of a large thing's box in pixels; a small thing's box is half as wide and high."""


@dataclass(frozen=True)
class Noun:
    """A word with its plural.

    >>> Noun("butterfly", "butterflies")
    Noun(one='butterfly', many='butterflies')
    """

    one: str
    many: str


@dataclass(frozen=True)
class Category:
    """A hypernym that captions may use instead of a kind.

    Parameters
    ----------
    name, synset
        Its name, and its sense in WordNet 3.0.
    nouns
        The words for it, all lemmas of the synset; the first is the most common.
    """

    name: str
    synset: str
    nouns: tuple[Noun, ...]


@dataclass(frozen=True)
class Kind:
    """A kind of thing.

    Parameters
    ----------
    name, synset, nouns
        As for a category.
    category
        The name of its category, or None.
    box
        Width and height of a large one in pixels.
    weight
        How often it is seen, relative to the others.
    """

    name: str
    synset: str
    nouns: tuple[Noun, ...]
    category: str | None
    box: tuple[int, int]
    weight: int


def nouns(words: str) -> tuple[Noun, ...]:
    """Return words given as "car cars, automobile automobiles"; several words of one noun join by "_".

    >>> nouns("fish fish, piece_of_cake pieces_of_cake")
    (Noun(one='fish', many='fish'), Noun(one='piece of cake', many='pieces of cake'))
    """
    pairs = (pair.split() for pair in words.split(","))
    return tuple(Noun(one.replace("_", " "), many.replace("_", " ")) for one, many in pairs)


def kind(words: str, sense: int, category: str | None, box: tuple[int, int], weight: int) -> Kind:
    """Return a kind whose synset is named after its first word."""
    wordings = nouns(words)
    name = wordings[0].one
    return Kind(name, f"{name}.n.{sense:02d}", wordings, category, box, weight)


CATEGORIES = (
    Category("animal", "animal.n.01", nouns("animal animals, creature creatures")),
    Category("vehicle", "vehicle.n.01", nouns("vehicle vehicles")),
    Category("plant", "plant.n.02", nouns("plant plants")),
    Category("fruit", "fruit.n.01", nouns("fruit fruits")),
    Category("piece of furniture", "furniture.n.01", nouns("piece_of_furniture pieces_of_furniture")),
    Category(
        "musical instrument", "musical_instrument.n.01", nouns("musical_instrument musical_instruments")
    ),
    Category("article of clothing", "clothing.n.01", nouns("article_of_clothing articles_of_clothing")),
    Category("building", "building.n.01", nouns("building buildings")),
)

KINDS = (
    kind("dog dogs", 1, "animal", (48, 38), 6),
    kind("cat cats", 1, "animal", (40, 48), 6),
    kind("horse horses", 1, "animal", (48, 44), 3),
    kind("bird birds", 1, "animal", (48, 34), 4),
    kind("fish fish", 1, "animal", (48, 30), 2),
    kind("elephant elephants", 1, "animal", (48, 40), 2),
    kind("rabbit rabbits", 1, "animal", (34, 48), 2),
    kind("turtle turtles", 2, "animal", (48, 28), 1),
    kind("butterfly butterflies", 1, "animal", (48, 40), 2),
    kind("car cars, automobile automobiles", 1, "vehicle", (48, 24), 6),
    kind("truck trucks", 1, "vehicle", (48, 30), 3),
    kind("bicycle bicycles, bike bikes", 1, "vehicle", (48, 32), 3),
    kind("boat boats", 1, "vehicle", (46, 48), 3),
    kind("airplane airplanes, plane planes, aeroplane aeroplanes", 1, "vehicle", (48, 36), 2),
    kind("helicopter helicopters, chopper choppers", 1, "vehicle", (48, 32), 1),
    kind("tree trees", 1, "plant", (40, 48), 4),
    kind("flower flowers", 1, "plant", (34, 48), 3),
    kind("cactus cactuses", 1, "plant", (34, 48), 1),
    kind("apple apples", 1, "fruit", (42, 48), 2),
    kind("banana bananas", 2, "fruit", (48, 34), 2),
    kind("pear pears", 1, "fruit", (34, 48), 1),
    kind("chair chairs", 1, "piece of furniture", (30, 48), 3),
    kind("table tables", 2, "piece of furniture", (48, 32), 2),
    kind("guitar guitars", 1, "musical instrument", (44, 44), 2),
    kind("drum drums", 1, "musical instrument", (44, 46), 1),
    kind("hat hats", 1, "article of clothing", (48, 28), 2),
    kind("shirt shirts", 1, "article of clothing", (48, 42), 1),
    kind("house houses", 1, "building", (48, 44), 3),
    kind("ball balls", 1, None, (44, 44), 3),
    kind("umbrella umbrellas", 1, None, (48, 48), 2),
    kind("book books", 2, None, (38, 48), 2),
    kind("clock clocks", 1, None, (44, 44), 2),
    kind("cup cups", 1, None, (46, 36), 2),
)

KIND_NAMES = tuple(kind.name for kind in KINDS)
CATEGORY_NAMES = tuple(category.name for category in CATEGORIES)
NOUN_NAMES = KIND_NAMES + CATEGORY_NAMES
"""What a caption can speak of: a number below len(KINDS) is a kind, the others are categories."""

CATEGORY_OF = np.array([CATEGORY_NAMES.index(k.category) if k.category else -1 for k in KINDS], np.int8)
"""The category of each kind, −1 for none."""

BOXES = np.array([k.box for k in KINDS])
"""Width and height of each kind when large, in pixels."""


def nouns_of(number: int) -> tuple[Noun, ...]:
    """Return the words for a kind or, from len(KINDS), a category."""
    return KINDS[number].nouns if number < len(KINDS) else CATEGORIES[number - len(KINDS)].nouns


SAME_PLURAL = np.array(
    [any(noun.one == noun.many for noun in nouns_of(number)) for number in range(len(NOUN_NAMES))]
)
"""Whether the plural of a kind or category looks like its singular: "fish" and "some fish" may be one."""

COLOURS = (
    "black", "white", "red", "green", "yellow", "blue", "brown", "orange", "pink", "purple", "grey",
)  # fmt: skip
"""The eleven basic colours (Berlin and Kay 1969)."""

COLOUR_WORDS = tuple((name,) if name != "grey" else ("grey", "gray") for name in COLOURS)

SIZES = ("small", "large")
SIZE_WORDS = (("small", "little"), ("large", "big"))

POSITIONS = ("left", "right", "top", "bottom")
POSITION_WORDS = (
    ("on the left", "on the left side", "on the left side of the picture"),
    ("on the right", "on the right side", "on the right side of the picture"),
    ("at the top", "at the top of the picture"),
    ("at the bottom", "at the bottom of the picture"),
)

RELATIONS = ("left of", "right of", "above", "below", "next to")
RELATION_WORDS = (
    ("to the left of", "left of"),
    ("to the right of", "right of"),
    ("above", "higher up than"),
    ("below", "lower down than"),
    ("next to", "beside"),
)

NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")

ANY, PLURAL = 0, 9
"""How many a caption mentions: at least one, or at least two; any other number means exactly that many."""


@dataclass(frozen=True)
class Background:
    """Where a scene takes place.

    Parameters
    ----------
    name
        The name in attributes and slices.
    phrases
        Wordings that fit after "a dog" and before "there is a dog".
    """

    name: str
    phrases: tuple[str, ...]


BACKGROUNDS = (
    Background("beach", ("on the beach", "on a beach", "at the beach")),
    Background("street", ("on the street", "on a street", "in the street")),
    Background("field", ("in a field", "in a green field", "in a meadow")),
    Background("night", ("at night", "under a night sky", "under the stars")),
    Background("snow", ("in the snow", "on the snow", "in a snowy place")),
    Background("desert", ("in the desert", "in a desert")),
    Background("room", ("in a room", "indoors", "inside a room")),
    Background("mountains", ("in the mountains", "in front of mountains", "in front of some mountains")),
)
BACKGROUND_NAMES = tuple(background.name for background in BACKGROUNDS)
