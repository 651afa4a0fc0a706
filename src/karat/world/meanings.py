"""Meanings: what each caption states, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import numpy as np

from karat._util import check_choice
from karat.world.vocabulary import (
    ANY,
    BACKGROUND_NAMES,
    COLOURS,
    NOUN_NAMES,
    NUMBER_WORDS,
    POSITIONS,
    RELATIONS,
    SIZES,
)

ASPECTS = ("colour", "number", "size", "background", "position", "relation")
"""What a caption may state beyond which things there are."""


@dataclass(frozen=True, eq=False)
class Meanings:
    """What captions state; `karat.world.relevance` says when that is true of a scene.

    A caption mentions one or two things, so the columns about things have shape [captions, 2]. −1 stands
    for what a caption does not mention.

    Parameters
    ----------
    background
        Per caption, an index into `vocabulary.BACKGROUNDS`.
    noun
        Per mention, an index into `vocabulary.NOUN_NAMES`: a kind or a category.
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

    def put(self, rows: np.ndarray, fresh: Meanings) -> Meanings:
        """Return the meanings with some rows replaced."""
        columns = {}
        for field in fields(self):
            columns[field.name] = getattr(self, field.name).copy()
            columns[field.name][rows] = getattr(fresh, field.name)
        return Meanings(**columns)

    def mentions(self, aspect: str) -> np.ndarray:
        """Return whether each caption says anything about an aspect: "colour", "number" and so on.

        >>> dogs = describe_dogs()
        >>> dogs.mentions("colour").tolist(), dogs.without(["colour"]).mentions("colour").tolist()
        ([True], [False])
        """
        column = getattr(self, check_choice(aspect, ASPECTS, "aspect"))
        said = column > ANY if aspect == "number" else column >= 0
        return said.any(axis=1) if said.ndim == 2 else said

    def states(
        self,
        noun: str | None = None,
        colour: str | None = None,
        size: str | None = None,
        number: str | None = None,
    ) -> np.ndarray:
        """Return whether each caption mentions a thing of which all of these are said, in its own words.

        Parameters
        ----------
        noun, colour, size
            Of `vocabulary.NOUN_NAMES`, `COLOURS` and `SIZES`; None for any.
        number
            Of `vocabulary.NUMBER_WORDS`; None for any.

        Examples
        --------
        >>> dogs = describe_dogs()
        >>> dogs.states(noun="dog", colour="red").tolist(), dogs.states(noun="cat").tolist()
        ([True], [False])
        """
        said: np.ndarray = self.noun >= 0
        for word, column, names in (
            (noun, self.noun, NOUN_NAMES),
            (colour, self.colour, COLOURS),
            (size, self.size, SIZES),
            (number, self.number, NUMBER_WORDS),
        ):
            if word is not None:
                said = said & (column == names.index(check_choice(word, names, "word")))
        return np.asarray(said.any(axis=1))

    def without(self, aspects: Iterable[str]) -> Meanings:
        """Return the meanings that are left when some aspects are overlooked; "two dogs" becomes "a dog"."""
        blank = {}
        for aspect in aspects:
            name = check_choice(aspect, ASPECTS, "aspect")
            blank[name] = np.full_like(getattr(self, name), ANY if name == "number" else -1)
        return replace(self, **blank)

    def in_words(self) -> dict[str, list[str | None]]:
        """Return what captions state as columns of words, None for what is not mentioned.

        >>> dogs = describe_dogs().in_words()
        >>> dogs["first_number"], dogs["first_colour"], dogs["first_noun"], dogs["second_noun"]
        (['two'], ['red'], ['dog'], [None])
        """

        def words(codes: np.ndarray, names: tuple[str, ...]) -> list[str | None]:
            return [names[code] if code >= 0 else None for code in codes.tolist()]

        amounts = ("a", *NUMBER_WORDS[1:], "at least two")
        columns: dict[str, list[str | None]] = {"background": words(self.background, BACKGROUND_NAMES)}
        for mention, which in enumerate(("first", "second")):
            there = self.noun[:, mention] >= 0
            number = np.where(there, self.number[:, mention], -1)
            columns[f"{which}_number"] = words(number, amounts)
            columns[f"{which}_size"] = words(self.size[:, mention], SIZES)
            columns[f"{which}_colour"] = words(self.colour[:, mention], COLOURS)
            columns[f"{which}_noun"] = words(self.noun[:, mention], NOUN_NAMES)
            columns[f"{which}_position"] = words(self.position[:, mention], POSITIONS)
        columns["relation"] = words(self.relation, RELATIONS)
        return columns


def describe_dogs() -> Meanings:
    """Return the meaning of "two red dogs", for examples."""
    first = {"noun": 0, "colour": 2, "size": -1, "position": -1, "number": 2}
    pairs = {
        name: np.array([[code, ANY if name == "number" else -1]], np.int8) for name, code in first.items()
    }
    nothing = np.array([-1], np.int8)
    return Meanings(background=nothing, relation=nothing, **pairs)
