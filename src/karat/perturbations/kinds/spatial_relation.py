"""Relations in space: left and right, above and below, in front and behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.perturbations.perturbation import Perturbation, register_perturbation
from karat.perturbations.wording import Option, Wording, is_object

SIDES = {
    "left": "right",
    "right": "left",
    "top": "bottom",
    "bottom": "top",
    "upper": "lower",
    "lower": "upper",
}
PLACES = {
    "above": "below",
    "below": "above",
    "over": "under",
    "under": "over",
    "beneath": "above",
    "underneath": "above",
    "behind": "in front of",
    "in front of": "behind",
    "on top of": "underneath",
    "inside": "outside",
    "outside": "inside",
    "atop": "beneath",
}
"""Relations and their opposites."""
STARTS = frozenset(name.split()[-2] if " " in name else name for name in (*SIDES, *PLACES))


@register_perturbation
class SpatialRelation(Perturbation):
    """Turns a relation in space around: *left* becomes *right*, *above* becomes *below*."""

    name = "spatial-relation"
    aliases = ("relation",)
    source = "Kamath et al. 2023"

    def needs(self) -> frozenset[str]:
        """Return the words of relations."""
        return STARTS

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the places of relations, each with its opposite."""
        for at, word in enumerate(caption.tagged.words):
            if word in SIDES and is_side(caption, at):
                yield [caption.substitute(at, at, SIDES[word])]
            for length in (1, 3):
                phrase = " ".join(caption.tagged.words[at : at + length])
                if phrase in PLACES and at + length < len(caption) and is_place(caption, at, at + length - 1):
                    yield [caption.substitute(at, at + length - 1, PLACES[phrase])]


def is_side(caption: Wording, at: int) -> bool:
    """Whether *left*, *top* … name a side: a noun after an article, or an adjective."""
    if caption.describes(at) is not None:
        return not caption.names_one_thing(at) and is_object(caption.word(caption.tagged.heads[at]))
    before, following = caption.word(at - 1), caption.word(at + 1)
    if before not in ("the", "far", "its", "his", "her", "their") or caption.tagged.pos[at] != "NOUN":
        return False
    if caption.word(at) in ("upper", "lower"):
        return False
    # *on top of* is a relation of its own.
    return following in ("", "of", "side", "corner", ".", ",", "and", "is", "in", "with", "has")


def is_place(caption: Wording, first: int, last: int) -> bool:
    """Whether a phrase is a preposition before a thing."""
    tagged = caption.tagged
    if any(tagged.pos[k] not in ("ADP", "ADV", "NOUN", "ADJ", "SCONJ") for k in range(first, last + 1)):
        return False
    if tagged.pos[last] != "ADP" or caption.word(last + 1) in ("", "of", "and", "or", "to", ",", "on"):
        return False
    if first == last and tagged.labels[first] != "case":
        return False
    if tagged.labels[last] != "case" and tagged.labels[first] not in ("case", "fixed", "obl", "nmod"):
        return False
    if first == last:
        # The phrase's noun, which has to be a thing: *under construction*, *over time*.
        return tagged.is_noun(tagged.heads[first]) and is_object(caption.word(tagged.heads[first]))
    return True
