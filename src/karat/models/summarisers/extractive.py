"""The extractive summariser: of an image's captions, the one nearest to all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.errors import InputError
from karat.models.cosine import unit
from karat.models.encoder import Encoder
from karat.models.summariser import SUMMARISERS

EQUAL = 1e-6
"""Nearness that differs by less is equal: of two captions both are equally near, up to rounding."""


class NearestCaption:
    """The text whose vector has the largest cosine with the mean of the group's vectors.

    argmax_s cos(v_s, Σ_r v_r), with vectors v of length 1 of the model that reads the summary; of equal ones
    the first (the centroid method of extractive summaries; Radev et al. 2004).

    Parameters
    ----------
    encoder
        A model that encodes texts.

    Examples
    --------
    >>> def words(texts):
    ...     return [[float(word in text.split()) for word in ("dog", "cat", "runs")] for text in texts]
    >>> nearest = NearestCaption(Encoder("words", texts=words))
    >>> nearest.summarise([["a cat", "a dog runs", "a dog"], ["a cat"]])
    ['a dog runs', 'a cat']
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def summarise(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """Return one text of each group."""
        distinct = list(dict.fromkeys(text for group in groups for text in group))
        number = {text: k for k, text in enumerate(distinct)}
        rows = unit(self.encoder.encode_texts(distinct).astype(np.float64))
        chosen = []
        for group in groups:
            vectors = rows[[number[text] for text in group]]
            near = vectors @ vectors.sum(axis=0)
            chosen.append(group[int(np.argmax(near >= near.max() - EQUAL))])
        return chosen


def make(rest: str, encoder: Encoder) -> NearestCaption:
    """Return the summariser; it takes nothing after its name."""
    if rest:
        raise InputError(f"extractive is followed by {rest!r}", fix="write extractive alone")
    return NearestCaption(encoder)


SUMMARISERS.add("extractive", make)
