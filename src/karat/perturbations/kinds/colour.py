"""Colours: another colour, far enough away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import ClassVar, Self

import numpy as np

from karat._util import Param, not_negative, one_of
from karat.lexicon import COLOURS, SHADES, colour_distance, word_set
from karat.perturbations.perturbation import Perturbation, register_perturbation, shuffled
from karat.perturbations.wording import Option, Wording

PICTURES = word_set("photo photos photograph photographs picture pictures image images")
"""What is black and white as a whole: a kind of picture, not the colours of a thing."""


@register_perturbation
class Colour(Perturbation):
    """Replaces a colour by another that differs clearly: *a red bus* becomes *a blue bus*.

    Colours are the 148 of CSS. A colour word counts where it is an adjective that describes a noun, and not
    where it is a noun (*an orange*) or part of the name of a thing (*black bear*, *white wine*).
    """

    name = "colour"
    aliases = ("color",)
    source = "Lymperaiou et al. 2022, section 5.1"
    params: ClassVar = (
        Param(
            "from",
            one_of("all", "in"),
            "new colours: all of CSS, or in: those of the captions",
            "all",
            bare=True,
        ),
        Param("distance", not_negative, "least distance of the two colours in RGB, each from 0 to 1", 0.5),
    )
    distance: float
    names: tuple[str, ...] = tuple(COLOURS)

    def fit(self, captions: Sequence[Wording]) -> Self:
        """Return the perturbation with the colours that these captions name."""
        fitted = copy(self)
        if getattr(self, "from") == "in":
            seen = {name for caption in captions for _, _, name in colours_of(caption)}
            fitted.names = tuple(name for name in COLOURS if name in seen)
        return fitted

    def needs(self) -> frozenset[str]:
        """Return the colours of one word."""
        return frozenset(COLOURS)

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the places of colours, each with other colours that no word of the caption names."""
        for first, last, colour in colours_of(caption):
            far = [
                name
                for name in self.names
                if colour_distance(name, colour) >= self.distance
                and not set(name.split()) & set(caption.tagged.words)
            ]
            yield [caption.substitute(first, last, name) for name in shuffled(far, rng)]


def colours_of(caption: Wording) -> Iterator[tuple[int, int, str]]:
    """Yield where colours describe something: the first word, the last, and the colour's name."""
    for last, word in enumerate(caption.tagged.words):
        *shades, colour = word.split("-")
        if colour not in COLOURS or not SHADES.issuperset(shades):
            continue
        noun = caption.describes(last)
        if noun is None or caption.names_one_thing(last):
            continue
        monochrome = {"black", "white"} <= set(caption.tagged.words) and caption.word(noun) in PICTURES
        if monochrome:
            continue
        first = last
        while (
            first and caption.word(first - 1) in SHADES and caption.tagged.pos[first - 1] in ("ADJ", "NOUN")
        ):
            first -= 1
        if caption.word(last + 1) in COLOURS:
            # *light blue green*: the last word says which.
            continue
        yield first, last, colour
