"""Antonyms of adjectives: direct ones of WordNet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.captions.graphs import DEGREES, lemmas
from karat.lexicon import adjective_antonyms
from karat.perturbations.perturbation import Perturbation, register_perturbation, shuffled
from karat.perturbations.wording import Option, Wording, is_person


@register_perturbation
class AntonymAdjective(Perturbation):
    """Replaces an adjective by a direct antonym of WordNet: *an old man* becomes *a young man*.

    Left out are antonyms of senses that pictures do not show, such as *ripe* for *green*; see
    `karat.lexicon.adjective_antonyms`.
    """

    name = "antonym-adjective"
    aliases = ("antonym",)
    source = "Lymperaiou et al. 2022, section 5.1"

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the places of adjectives that have antonyms."""
        known = lemmas()
        for at, word in enumerate(caption.tagged.words):
            noun = caption.describes(at)
            if noun is None or is_kind(caption, at, noun) or caption.names_one_thing(at - 1):
                continue
            degrees = caption.children(at, "advmod", "obl:npmod")
            if any(caption.word(each) not in DEGREES - {"about"} for each in degrees):
                # *brightly colored*: what says how would have to change, too.
                continue
            if word in ("few", "many") and caption.word(at - 1) in ("a", "the", "so", "as", "too", "very"):
                continue
            living = known.is_living(caption.word(noun))
            antonyms = adjective_antonyms(word, living, caption.is_predicate(at))
            fit = [other for other in antonyms if other not in caption.tagged.words]
            yield [caption.substitute(at, at, other) for other in shuffled(fit, rng)]


def is_kind(caption: Wording, at: int, noun: int) -> bool:
    """Whether adjective and noun name a kind of thing: *hot dog*; *old man*, in WordNet too, does not."""
    return caption.names_one_thing(at) and not is_person(caption.word(noun))
