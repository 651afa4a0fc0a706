"""Letter case: the caption in small letters, or in capitals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from karat._util import Param, one_of
from karat.perturbations.perturbation import Perturbation, register_perturbation
from karat.perturbations.wording import Option, Replacement, Wording


@register_perturbation
class LetterCase(Perturbation):
    """Writes the whole caption in small letters or in capitals. A control."""

    name = "letter-case"
    source = "Ribeiro et al. 2020"
    keeps_meaning = True
    checked = False
    params: ClassVar = (
        Param(
            "to", one_of("lower", "upper"), "lower for small letters, upper for capitals", "lower", bare=True
        ),
    )
    to: str

    def places(self, caption: Wording, rng: np.random.Generator) -> Iterator[Sequence[Option]]:
        """Yield the caption as one place."""
        written = [caption.written(at) for at in range(len(caption))]
        new = [text.lower() if self.to == "lower" else text.upper() for text in written]
        option = tuple(Replacement(at, at, new[at]) for at in range(len(caption)) if new[at] != written[at])
        if option:
            yield [option]
