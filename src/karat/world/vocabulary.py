"""The other words of the world: colours, sizes, places, relations and backgrounds.

Wherever a list has several wordings, all of them mean exactly the same.
"""

from __future__ import annotations

from dataclasses import dataclass

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
"""How many a caption speaks of: at least one, or at least two; any other number means exactly so many."""


@dataclass(frozen=True)
class Background:
    """Where a scene takes place.

    Parameters
    ----------
    name
        As attributes and slices call it.
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
BACKGROUND_NAMES = tuple(one.name for one in BACKGROUNDS)
