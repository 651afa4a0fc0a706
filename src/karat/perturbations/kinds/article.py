"""Articles: the definite one for the indefinite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.captions.graphs import COLLECTIVE, QUANTITIES
from karat.lexicon import word_set
from karat.perturbations.perturbation import Perturbation, register_perturbation
from karat.perturbations.wording import Option, Wording

LEFT_OUT = QUANTITIES | COLLECTIVE | word_set("bit few little view close closeup picture amount kind")


@register_perturbation
class Article(Perturbation):
    """Replaces *a* or *an* by *the*: *a dog on a beach* becomes *the dog on a beach*. A control."""

    name = "article"
    source = "Ribeiro et al. 2020"
    keeps_meaning = True

    def needs(self) -> frozenset[str]:
        """Return the indefinite articles."""
        return frozenset({"a", "an"})

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the indefinite articles of nouns that are not quantities."""
        tagged = caption.tagged
        for at, word in enumerate(tagged.words):
            noun = tagged.heads[at]
            if word not in ("a", "an") or tagged.labels[at] != "det" or not tagged.is_noun(noun) or noun < at:
                continue
            before = {"such", "half", "what", "quite", "rather", "is", "'s", "are", "as", "like", "in", "of"}
            if (
                caption.word(noun) in LEFT_OUT
                or caption.word(at - 1) in before
                or caption.word(at + 1) in LEFT_OUT
            ):
                continue
            yield [caption.substitute(at, at, "the")]
