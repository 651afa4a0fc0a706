"""Word order: two nouns change places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.captions.graphs import COLLECTIVE, QUANTITIES, lemmas
from karat.lexicon import word_set
from karat.perturbations.perturbation import Perturbation, register_perturbation
from karat.perturbations.wording import Option, Wording, is_object

SYMMETRIC = word_set(
    "with near by beside next alongside along between among amongst and of close to around against like"
)
"""Prepositions that say about the same in both directions, or name a part: *a dog near a tree*."""
EXCLUDED = QUANTITIES | COLLECTIVE | word_set("top side front back middle bottom edge end view picture")


@register_perturbation
class SwapNouns(Perturbation):
    """Swaps two nouns that the sentence relates: *a dog on a car* becomes *a car on a dog*.

    Both have the same number and the same kind of article; pairs that are only listed (*a cat and a dog*), or
    related in both directions (*near*, *with*), are left alone, since the swap would change nothing.
    """

    name = "swap-nouns"
    aliases = ("swap",)
    source = "Hsieh et al. 2023"

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the pairs of nouns, each with one option: the swap."""
        nouns = [at for at in range(len(caption)) if is_free(caption, at)]
        for k, first in enumerate(nouns):
            for second in nouns[k + 1 :]:
                if is_swappable(caption, first, second):
                    yield [swapped(caption, first, second)]


def is_free(caption: Wording, at: int) -> bool:
    """Whether a noun can be taken out of its phrase: alone at its head, a thing, and not one of a list."""
    if not caption.head_noun(at) or caption.children(at, "compound", "conj", "nmod:poss", "appos", "flat"):
        return False
    if caption.tagged.labels[at] in ("conj", "appos", "vocative", "dep") or caption.word(at) in EXCLUDED:
        return False
    if caption.names_one_thing(at - 1) or caption.names_one_thing(at):
        return False
    return caption.word(at + 1) != "of" and is_object(caption.word(at))


def is_swappable(caption: Wording, first: int, second: int) -> bool:
    """Whether two nouns agree in number and article, and one is related to the other in one direction."""
    tagged = caption.tagged
    if tagged.tags[first] != tagged.tags[second] or article_kind(caption, first) != article_kind(
        caption, second
    ):
        return False
    known = lemmas()
    if known.noun(caption.word(first)) == known.noun(caption.word(second)):
        return False
    cases = [caption.word(each) for each in caption.children(second, "case")]
    label, verb = tagged.labels[second], tagged.heads[second]
    if not SYMMETRIC.isdisjoint(cases):
        return False
    if label == "nmod" and verb == first:
        return bool(cases)
    acts = tagged.heads[verb] == first or tagged.heads[first] == verb
    subject = tagged.labels[first] in ("nsubj",) or tagged.labels[verb] in ("acl", "acl:relcl")
    if not (verb >= 0 and tagged.pos[verb] == "VERB" and acts and subject and first < verb < second):
        return False
    return label == "obj" or (label == "obl" and bool(cases))


def article_kind(caption: Wording, at: int) -> str:
    """Return the article of a noun, or its number: nouns of one kind may take each other's place."""
    words = [caption.word(each) for each in caption.children(at, "det", "nummod", "nmod:poss")]
    return " ".join(words).replace("an", "a")


def swapped(caption: Wording, first: int, second: int) -> Option:
    """Return the replacements that swap two words, each with its article."""
    to_second = caption.substitute(second, second, caption.word(first))
    return (*caption.substitute(first, first, caption.word(second)), *to_second)
