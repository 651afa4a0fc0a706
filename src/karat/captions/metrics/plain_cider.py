"""CIDEr as its paper first defines it: no clipping, no length penalty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.captions.frequencies import ORDERS, DocumentFrequencies, inverse_frequencies, tf_idf
from karat.captions.metric import CaptionMetric, Prepared, References, register
from karat.captions.ngrams import count_grams, read_texts
from karat.captions.overlap import Sums
from karat.captions.tokens import Tokeniser, tokenise


@register
class PlainCider(CaptionMetric):
    """CIDEr (Vedantam et al. 2015): the mean over n and references of the cosine of tf·idf vectors.

    From 0 to 1, as in the paper; `cider` is CIDEr-D and ten times as large. Document frequencies as there.

    Parameters
    ----------
    frequencies
        Of a fixed corpus; by default those of the references.
    tokens
        What splits a caption into words.

    Examples
    --------
    >>> references = [["a dog runs in the park", "the dog is running"], ["a red bus stops"]]
    >>> PlainCider().scores(references, ["a dog runs in a park", "a red bus stops"]).round(3)
    array([0.322, 1.   ])
    """

    name = "plain-cider"
    formula = "mean over n and r of the cosine of tf·idf vectors"
    source = "Vedantam et al. 2015, eq. 2 and 3"

    def __init__(self, frequencies: DocumentFrequencies | None = None, tokens: Tokeniser = tokenise) -> None:
        self.frequencies, self.tokens = frequencies, tokens

    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        """Read the captions of every image and every candidate."""
        texts = read_texts(references, candidates, self.tokens)
        grams = count_grams(texts, ORDERS)
        _, right = tf_idf(grams, inverse_frequencies(texts, grams, self.frequencies))
        # Without clipping, the first occurrence represents all of them.
        left = np.where(grams.is_first[grams.gram], right, 0.0)
        return Sums(texts, grams, left, right, np.full(texts.length.size, float(ORDERS)))
