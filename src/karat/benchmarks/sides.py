"""The two sides of a benchmark, each of a kind; directions, which are named by kinds; and groups of items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

import numpy as np

from karat._util import word_for
from karat.errors import InputError, unknown_name

Direction = str
"""Which side asks, and which is ranked: "i2t" ranks captions for images, "it2i" images for composed
queries."""


@dataclass(frozen=True)
class Side:
    """One of the two collections of a benchmark: its kind, and the words for what is in it.

    Parameters
    ----------
    kind
        "image", "text", "video", "audio", "page", "composed", or "query" and "document" of any kind; "" of
        what is no side.
    one, many
        What people call one of it, and several.

    Examples
    --------
    >>> tags = Side("text", "tag", "tags")
    >>> tags.counted(1), tags.counted(5000)
    ('1 tag', '5,000 tags')
    """

    kind: str
    one: str
    many: str

    def counted(self, number: int) -> str:
        """Return a number of it, in words."""
        return f"{number:,} {word_for(number, self.one, self.many)}"


KINDS = {
    "q": Side("query", "query", "queries"),
    "it": Side("composed", "query", "queries"),
    "i": Side("image", "image", "images"),
    "v": Side("video", "video", "videos"),
    "a": Side("audio", "clip", "clips"),
    "p": Side("page", "page", "pages"),
    "d": Side("document", "document", "documents"),
    "t": Side("text", "caption", "captions"),
}
"""What a side may be, by its letters in a direction.

A pair lists its sides in this order: it is (image, caption), (query, document), (video, caption), whichever
of the two asks.
"""
IMAGE_TEXT = (KINDS["i"], KINDS["t"])
DIRECTIONS: tuple[Direction, Direction] = ("i2t", "t2i")
"""Those of images and captions."""
LETTERS = {f"{asks}2{ranked}": (asks, ranked) for asks in KINDS for ranked in KINDS}
"""By the name of each direction, the letters of the side that asks and of the one that is ranked."""
T = TypeVar("T")


def letters_of(direction: Direction) -> tuple[str, str]:
    """Return the letters of the side that asks and of the one that is ranked; raise for another name.

    >>> letters_of("it2i")
    ('it', 'i')
    """
    if direction not in LETTERS:
        form = ", ".join(f"{letters} ({side.kind})" for letters, side in KINDS.items())
        fix = f"choose i2t, t2i, or write two of {form} with a 2 between them"
        raise InputError(f"unknown direction {direction!r}", fix=fix)
    return LETTERS[direction]


def is_direction(name: object) -> bool:
    """Return whether something is the name of a direction, unlike "mean" or "both".

    >>> is_direction("t2v"), is_direction("mean")
    (True, False)
    """
    return name in LETTERS


@cache
def asks_first(direction: Direction) -> bool:
    """Return whether the first side of the pairs asks, as images do in i2t.

    >>> [name for name in ("i2t", "t2i", "q2d", "it2i", "t2v", "i2i") if asks_first(name)]
    ['i2t', 'q2d', 'it2i', 'i2i']
    """
    asks, ranked = map(list(KINDS).index, letters_of(direction))
    return asks <= ranked


def same_side(direction: Direction) -> bool:
    """Return whether a collection is searched with its own items, so that each leaves itself out.

    >>> same_side("i2i"), same_side("it2i")
    (True, False)
    """
    asks, ranked = letters_of(direction)
    return asks == ranked


def in_order(direction: Direction, first: T, second: T) -> tuple[T, T]:
    """Return what belongs to the sides of the pairs as (query, item); or turn (query, item) back.

    >>> in_order("i2t", "image", "caption"), in_order("t2i", "image", "caption")
    (('image', 'caption'), ('caption', 'image'))
    """
    return (first, second) if asks_first(direction) else (second, first)


def pair_of(direction: Direction, query: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of queries and items, whichever of the two asked: of one collection the smaller first.

    >>> [side.tolist() for side in pair_of("i2i", np.array([3, 5]), np.array([5, 4]))]
    [[3, 4], [5, 5]]
    """
    if same_side(direction):
        return np.minimum(query, item), np.maximum(query, item)
    return in_order(direction, query, item)


def turned(direction: Direction) -> Direction:
    """Return the direction in which the other side asks.

    >>> turned("i2t"), turned("q2d"), turned("t2t")
    ('t2i', 'd2q', 't2t')
    """
    return "2".join(letters_of(direction)[::-1])


def query_side(direction: Direction) -> Side:
    """Return the side that asks, with the usual words; `Benchmark.query_side` has its own.

    >>> query_side("i2t").many, item_side("i2t").many
    ('images', 'captions')
    """
    return KINDS[letters_of(direction)[0]]


def item_side(direction: Direction) -> Side:
    """Return the side that is ranked, with the usual words."""
    return KINDS[letters_of(direction)[1]]


def sides_of(direction: Direction) -> tuple[Side, Side]:
    """Return the sides of the pairs, in their order, with the usual words.

    >>> [side.kind for side in sides_of("t2v")]
    ['video', 'text']
    """
    return in_order(direction, query_side(direction), item_side(direction))


def directions_of(sides: tuple[Side, Side]) -> tuple[Direction, ...]:
    """Return the directions between two sides: the one in which the first asks, then the other.

    >>> directions_of(IMAGE_TEXT), directions_of((KINDS["i"], KINDS["i"]))
    (('i2t', 't2i'), ('i2i',))
    """
    letters = {side.kind: name for name, side in KINDS.items()}
    name = f"{letters[sides[0].kind]}2{letters[sides[1].kind]}"
    return (name,) if same_side(name) else (name, turned(name))


def direction_in(directions: tuple[Direction, ...], name: str) -> Direction:
    """Return the direction that is meant by a name; raise where it is none of a benchmark's.

    i2t and t2i mean the first and the second of any other benchmark too: in older files every benchmark had
    these two.

    >>> direction_in(("q2d", "d2q"), "i2t"), direction_in(("i2t", "t2i"), "t2i")
    ('q2d', 't2i')
    """
    name = str(name).lower()
    if name in directions:
        return name
    if name in DIRECTIONS[: len(directions)]:
        return directions[DIRECTIONS.index(name)]
    raise unknown_name("direction", name, directions)


def direction_title(direction: Direction, arrow: str = "→") -> str:
    """Return a direction in words; "mean" and "both" are themselves.

    >>> [direction_title(name) for name in ("i2t", "q2d", "it2i", "mean")]
    ['image→text', 'query→document', 'image+text→image', 'mean']
    """
    if not is_direction(direction):
        return direction
    kinds = [KINDS[letters].kind.replace("composed", "image+text") for letters in letters_of(direction)]
    return arrow.join(kinds)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which items belong together, so that intervals resample them together: an image with its captions.

    Parameters
    ----------
    unit, whole
        What people call a group, and several with all that is in them: "images with their captions".
    names
        The name of each group.
    of
        For each side, the number of the group of every item of its gallery (−1: unknown), or None where each
        is by itself.

    Examples
    --------
    >>> whole, names = "images with their captions", np.array(["dog", "bus"])
    >>> groups = Grouping(KINDS["i"], whole, names, (None, np.array([0, 0, -1])))
    >>> groups.find(1, np.array([1, 2])).tolist()
    [0, -3]
    """

    unit: Side
    whole: str
    names: np.ndarray
    of: tuple[np.ndarray | None, np.ndarray | None]

    def find(self, side: int, items: np.ndarray) -> np.ndarray:
        """Return the group of each item of a side; a negative number of its own where it is unknown."""
        numbers = self.of[side]
        group = np.full(len(items), -1) if numbers is None else numbers[items]
        return np.where(group < 0, -1 - items, group)

    def within(self, side: int) -> Grouping:
        """Return the groups of one side, which is searched with its own items."""
        return replace(self, of=(self.of[side], self.of[side]))
