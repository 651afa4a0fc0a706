"""Meanings: what each caption states, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import numpy as np

from karat.validation import check_choice
from karat.world.vocabulary import ANY

ASPECTS = ("colour", "number", "size", "background", "position", "relation")
"""What a caption may state beyond which things there are."""


@dataclass(frozen=True, eq=False)
class Meanings:
    """What captions state; `karat.world.exact` says when that is true of a scene.

    A caption mentions one or two things, so the columns about things have shape [captions, 2]. −1 stands
    for what a caption does not mention.

    Parameters
    ----------
    background
        Per caption, an index into `vocabulary.BACKGROUNDS`.
    noun
        Per mention, an index into `kinds.NOUN_NAMES`: a kind or a category.
    colour, size, position
        Per mention, indices into the lists of `vocabulary`.
    number
        Per mention: ANY (0) for "a dog", PLURAL (9) for "dogs" and "some dogs", else the numeral.
    relation
        Per caption, an index into `vocabulary.RELATIONS`: how the first stands to the second.
    """

    background: np.ndarray
    noun: np.ndarray
    colour: np.ndarray
    size: np.ndarray
    position: np.ndarray
    number: np.ndarray
    relation: np.ndarray

    def __len__(self) -> int:
        return len(self.background)

    def __getitem__(self, rows: np.ndarray | slice) -> Meanings:
        return Meanings(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def put(self, rows: np.ndarray, other: Meanings) -> Meanings:
        """Return the meanings with some rows replaced."""
        columns = {}
        for field in fields(self):
            columns[field.name] = getattr(self, field.name).copy()
            columns[field.name][rows] = getattr(other, field.name)
        return Meanings(**columns)

    def mentions(self, aspect: str) -> np.ndarray:
        """Return whether each caption says anything about an aspect: "colour", "number" and so on.

        >>> one = describe_dogs()
        >>> one.mentions("colour").tolist(), one.without(["colour"]).mentions("colour").tolist()
        ([True], [False])
        """
        column = getattr(self, check_choice(aspect, ASPECTS, "aspect"))
        said = column > ANY if aspect == "number" else column >= 0
        return said.any(axis=1) if said.ndim == 2 else said

    def without(self, aspects: Iterable[str]) -> Meanings:
        """Return the meanings that are left when some aspects are overlooked; "two dogs" becomes "a dog"."""
        blank = {}
        for aspect in aspects:
            name = check_choice(aspect, ASPECTS, "aspect")
            blank[name] = np.full_like(getattr(self, name), ANY if name == "number" else -1)
        return replace(self, **blank)


def describe_dogs() -> Meanings:
    """Return the meaning of "two red dogs", for examples."""
    first = {"noun": 0, "colour": 2, "size": -1, "position": -1, "number": 2}
    pairs = {
        name: np.array([[code, ANY if name == "number" else -1]], np.int8) for name, code in first.items()
    }
    nothing = np.array([-1], np.int8)
    return Meanings(background=nothing, relation=nothing, **pairs)
