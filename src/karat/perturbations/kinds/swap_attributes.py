"""Word order: the adjectives of two nouns change places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.lexicon import word_set
from karat.perturbations.kinds.swap_nouns import swapped
from karat.perturbations.perturbation import Perturbation, register_perturbation
from karat.perturbations.wording import Option, Wording, is_object

NOT_DESCRIBING = word_set("""
    many few several other same such more most own next last first second whole half various different
    multiple single numerous certain close top front back double main upper lower only left right
    similar very much little-known another assorted""")
"""Adjectives that count, compare or point."""


@register_perturbation
class SwapAttributes(Perturbation):
    """Swaps the adjectives of two nouns: *a red bus and a small car* becomes *a small bus and a red car*."""

    name = "swap-attributes"
    source = "Hsieh et al. 2023"

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the pairs of adjectives, each with one option: the swap."""
        attributes = [at for at in range(len(caption)) if is_attribute(caption, at)]
        for k, first in enumerate(attributes):
            for second in attributes[k + 1 :]:
                # Of two dogs, it may not matter which is the large one.
                others = caption.word(first) != caption.word(second)
                if others and caption.word(first + 1) != caption.word(second + 1):
                    yield [swapped(caption, first, second)]


def is_attribute(caption: Wording, at: int) -> bool:
    """Whether a word is the only adjective of a thing, right before it."""
    noun = caption.describes(at)
    if noun is None or noun != at + 1 or caption.tagged.labels[at] != "amod":
        return False
    if caption.word(at) in NOT_DESCRIBING or caption.names_one_thing(at) or "-" in caption.word(at):
        return False
    if caption.children(at) or len(caption.children(noun, "amod", "compound")) > 1:
        return False
    return is_object(caption.word(noun)) and caption.word(noun + 1) != "of"
