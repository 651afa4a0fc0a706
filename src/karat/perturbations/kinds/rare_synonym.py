"""Rare synonyms: another word for the same meaning that is used less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from karat.lexicon import wordnet
from karat.perturbations.kinds.hypernym import UNFIT, plain_nouns, substitute_noun
from karat.perturbations.perturbation import Perturbation, register_perturbation, shuffled
from karat.perturbations.wording import Option, Wording

LEAST_SHARE = 0.6
"""How much of a noun's uses its commonest sense must have, so that the synonym means the same."""


@register_perturbation
class RareSynonym(Perturbation):
    """Replaces a noun by a synonym of WordNet that is used less: *a couch* becomes *a lounge*. A control.

    The noun must be used mostly in its commonest sense, and the synonym must have this as its commonest, too.
    """

    name = "rare-synonym"
    source = "Lymperaiou et al. 2022, section 7"
    keeps_meaning = True

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the nouns that have rarer synonyms."""
        for at, noun in plain_nouns(caption):
            fit = [new for new in rare_synonyms(noun) if new not in caption.tagged.words]
            yield [substitute_noun(caption, at, new) for new in shuffled(fit, rng)]


@cache
def rare_synonyms(noun: str) -> tuple[str, ...]:
    """Return the synonyms of a noun's commonest sense that occur less often.

    >>> rare_synonyms("building"), rare_synonyms("car")
    (('edifice',), ('auto', 'automobile', 'motorcar'))
    """
    net = wordnet()
    sense = net.first_sense(noun, "n")
    counts = net.sense_counts(noun, "n")
    if sense is None or counts.sum() == 0 or counts[0] < LEAST_SHARE * counts.sum():
        return ()
    out = []
    for lemma in net.lemmas(sense):
        if lemma in (noun, *UNFIT) or not lemma.replace("_", "").isalpha() or not lemma.islower():
            continue
        if "_of_" in lemma:
            continue
        own, seen = net.synsets(lemma, "n"), net.sense_counts(lemma, "n")
        if len(own) and own[0] == sense and seen[0] < counts[0]:
            out.append(lemma.replace("_", " "))
    return tuple(out)
