"""CIDEr as the field computes it: CIDEr-D of pycocoevalcap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.captions.frequencies import ORDERS, DocumentFrequencies, inverse_frequencies, tf_idf
from karat.captions.metric import CaptionMetric, Prepared, References, register
from karat.captions.ngrams import count_grams, read_texts
from karat.captions.overlap import Sums
from karat.captions.tokens import Tokeniser, tokenise
from karat.errors import InputError


@register
class Cider(CaptionMetric):
    """CIDEr-D (Vedantam et al. 2015): how alike the n-grams are, weighted by how informative they are.

    For n = 1 to 4, a caption's vector holds tf·idf of its n-grams. φ is ten times the mean over n and over
    references of the cosine, in which the candidate's elements are clipped to the reference's, times
    exp(−Δ² / 2σ²) for lengths that differ by Δ bigrams, σ = 6. It equals pycocoevalcap's class `Cider` on
    the same tokens to 1e-9.

    Document frequencies come from the references given (each image counts once), or from `frequencies`. From
    the references of a single image every idf is log 1 = 0 and so is φ: give `frequencies` there.

    A caption that equals all references has 10 when it has four words or more; shorter ones lack some n-grams
    and have 2.5 per order. With `leave_out`, the reference left out still counts in the document frequencies.

    Parameters
    ----------
    frequencies
        Of a fixed corpus; by default those of the references.
    sigma
        The width of the length penalty.
    tokens
        What splits a caption into words.

    Examples
    --------
    >>> references = [["a dog runs in the park", "the dog is running"], ["a red bus stops"]]
    >>> Cider().scores(references, ["a dog runs in a park", "a red bus stops"]).round(3)
    array([ 3.205, 10.   ])
    """

    name = "cider"
    aliases = ("cider-d",)
    formula = "10 · mean over n and r of exp(−Δ²/2σ²) · clipped cosine of tf·idf vectors"
    source = "Vedantam et al. 2015, CIDEr-D, as in pycocoevalcap"
    highest = 10.0

    def __init__(
        self,
        frequencies: DocumentFrequencies | None = None,
        sigma: float = 6.0,
        tokens: Tokeniser = tokenise,
    ) -> None:
        if not sigma > 0:
            raise InputError(f"sigma is {sigma}", fix="give a width above 0")
        self.frequencies, self.sigma, self.tokens = frequencies, sigma, tokens

    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        """Read the captions of every image and every candidate."""
        texts = read_texts(references, candidates, self.tokens)
        grams = count_grams(texts, ORDERS)
        idf = inverse_frequencies(texts, grams, self.frequencies)
        left, right = tf_idf(grams, idf)
        # Length is counted in bigrams, as there.
        length = np.maximum(texts.length - 1, 0)
        fall = np.exp(-(np.arange(int(length.max(initial=0)) + 1) ** 2) / (2 * self.sigma**2))
        size = np.full(length.size, ORDERS / 10)
        return Sums(texts, grams, left, right, size, length, fall)
