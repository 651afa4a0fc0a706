"""Punctuation: the full stop at the end goes, or comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.perturbations.perturbation import Perturbation, register_perturbation
from karat.perturbations.wording import Option, Replacement, Wording


@register_perturbation
class FullStop(Perturbation):
    """Removes the full stop at the end of a caption, or adds one. A control."""

    name = "full-stop"
    aliases = ("punctuation",)
    source = "Ribeiro et al. 2020"
    keeps_meaning = True
    checked = False

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the end of the caption."""
        last = len(caption) - 1
        if caption.tagged.stop:
            yield [(Replacement(last + 1, last + 1, ""),)]
        elif any(map(str.isalnum, caption.word(last))) and not caption.text[caption.spans[last][1] :].strip():
            yield [(Replacement(last, last, f"{caption.written(last)}."),)]
