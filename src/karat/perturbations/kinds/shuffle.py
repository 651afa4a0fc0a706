"""Word order: all words in random order. The result is not grammatical, and is not meant to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.lexicon import in_case_of
from karat.perturbations.perturbation import Perturbation, register_perturbation
from karat.perturbations.wording import Option, Replacement, Wording


@register_perturbation
class Shuffle(Perturbation):
    """Puts the words of a caption in random order; punctuation stays where it is, clitics with their word."""

    name = "shuffle"
    source = "Yuksekgonul et al. 2023"
    checked = False

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the caption as one place, with one other order of its words."""
        units = list(words_with_clitics(caption))
        words = [" ".join(caption.tagged.words[first : last + 1]) for first, last in units]
        if len(set(words)) < 2 or len(units) < 3:
            return
        order = np.arange(len(units))
        while [words[k] for k in order.tolist()] == words:
            order = rng.permutation(len(units))
        texts = [caption.text[caption.spans[first][0] : caption.spans[last][1]] for first, last in units]
        capital = texts[0]
        if not caption.is_name(0) and not (len(capital) > 1 and capital.isupper()) and words[0] != "i":
            texts[0] = capital[:1].lower() + capital[1:]
        new = [texts[k] for k in order.tolist()]
        new[0] = in_case_of(new[0], capital[:1])
        yield [tuple(Replacement(first, last, text) for (first, last), text in zip(units, new))]


def words_with_clitics(caption: Wording) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each run without a blank: *man's*, *isn't*; marks are left out."""
    first = None
    for at, word in enumerate(caption.tagged.words):
        if not any(map(str.isalnum, word)):
            first = None
            continue
        if first is None or caption.spans[at - 1][1] != caption.spans[at][0]:
            first = at
        joined = at + 1 < len(caption) and caption.spans[at][1] == caption.spans[at + 1][0]
        if not (joined and any(map(str.isalnum, caption.word(at + 1)))):
            yield first, at
