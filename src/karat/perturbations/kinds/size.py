"""Sizes: large becomes small, and small large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from karat._util import Param, yes_or_no
from karat.perturbations.kinds.antonym_adjective import is_kind
from karat.perturbations.perturbation import Perturbation, register_perturbation, shuffled
from karat.perturbations.wording import Option, Wording

LARGE = ("large", "big", "enormous", "huge")
SMALL = ("small", "little", "minor", "tiny")


@register_perturbation
class Size(Perturbation):
    """Replaces a word for a large size by one for a small size, or the reverse: *a big dog*, *a tiny dog*."""

    name = "size"
    source = "Lymperaiou et al. 2022, section 5.1"
    params: ClassVar = (
        Param("minor", yes_or_no, "use minor, too, as the paper does: a minor dog reads oddly", False),
    )
    minor: bool
    opposites: ClassVar = {**dict.fromkeys(LARGE, SMALL), **dict.fromkeys(SMALL, LARGE)}

    def needs(self) -> frozenset[str]:
        """Return the words for sizes."""
        return frozenset(self.opposites)

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the places of sizes, each with the words for the opposite in random order."""
        for at, word in enumerate(caption.tagged.words):
            noun = caption.describes(at) if word in self.opposites else None
            if noun is None or is_kind(caption, at, noun) or caption.word(noun).endswith("ing"):
                # *a little dancing* is not small.
                continue
            left_out = set(caption.tagged.words) | (set() if self.minor else {"minor"})
            new = [other for other in self.opposites[word] if other not in left_out]
            yield [caption.substitute(at, at, other) for other in shuffled(new, rng)]
