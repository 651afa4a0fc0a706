"""Contractions: *that is* becomes *that's*, and *isn't* becomes *is not*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.lexicon import word_set
from karat.perturbations.perturbation import Perturbation, register_perturbation
from karat.perturbations.wording import Option, Wording

BEFORE_IS = word_set("that there who he she it what")
NEGATED = word_set("is are was were does do did has have had could would should")


@register_perturbation
class Contraction(Perturbation):
    """Contracts *is* and *not* with the word before, or writes contractions out. A control."""

    name = "contraction"
    source = "Ribeiro et al. 2020"
    keeps_meaning = True

    def needs(self) -> frozenset[str]:
        """Return the words that are contracted."""
        return frozenset({"is", "not", "n't", "'s"})

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the places that can be contracted or written out."""
        words, pos = caption.tagged.words, caption.tagged.pos
        for at in range(1, len(caption)):
            before, word = words[at - 1], words[at]
            ends = at + 1 == len(caption)
            if word == "is" and before in BEFORE_IS and pos[at] == "AUX" and not ends:
                # *a clock in it is surrounded*: there, *it* belongs to what is before.
                bound = caption.tagged.pos_at(at - 2) == "ADP" and before == "it"
                if (
                    caption.word(at + 1) not in ("not", "n't")
                    and pos[at - 1] in ("PRON", "ADV")
                    and not bound
                ):
                    yield [caption.substitute(at - 1, at, f"{before}'s")]
            elif word == "not" and before in NEGATED and pos[at - 1] == "AUX":
                yield [caption.substitute(at - 1, at, f"{before}n't")]
            elif word == "n't" and before in NEGATED:
                yield [caption.substitute(at - 1, at, f"{before} not")]
            elif word == "'s" and before in BEFORE_IS - {"it"} and pos[at] == "AUX" and not ends:
                if caption.word(at + 1) in ("been", "got", "had"):
                    continue
                # *it's ears* is a common mistake for *its*, so *it's* stays.
                yield [caption.substitute(at - 1, at, f"{before} is")]
