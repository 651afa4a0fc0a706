"""Unigram BLEU and ROUGE exactly as Hodosh et al. (2013) define them, with their preprocessing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.captions.metric import CaptionMetric, Prepared, References, register
from karat.captions.ngrams import count_grams, read_texts
from karat.captions.overlap import Coverage, Sums
from karat.captions.tokens import Tokeniser, hodosh_bleu_tokens, hodosh_rouge_tokens


@register
class HodoshBleu(CaptionMetric):
    """The share of the caption's words that some reference has; no brevity penalty.

    Parameters
    ----------
    tokens
        What splits a caption into words; by default as §4.2.2 does for BLEU.

    Examples
    --------
    >>> HodoshBleu().pair(["A dog runs.", "The dog is black."], "A black cat.")
    0.6666666666666666
    """

    name = "hodosh-bleu"
    formula = "Σ_w min(c_s(w), max_r c_r(w)) / Σ_w c_s(w)"
    source = "Hodosh et al. 2013, eq. 28"

    def __init__(self, tokens: Tokeniser = hodosh_bleu_tokens) -> None:
        self.tokens = tokens

    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        """Read the captions of every image and every candidate."""
        texts = read_texts(references, candidates, self.tokens)
        return Coverage(texts, count_grams(texts, 1), tiny=0.0, small=0.0, brief=False)


@register
class BleuPre(HodoshBleu):
    """The same after ROUGE's preprocessing: the pooling filter of §4.3.2, which keeps 0.25 and more."""

    name = "bleu-pre"
    source = "Hodosh et al. 2013, eq. 28 and §4.3.2"

    def __init__(self, tokens: Tokeniser = hodosh_rouge_tokens) -> None:
        super().__init__(tokens)


@register
class HodoshRouge(CaptionMetric):
    """The share of the references' words that the caption has, over all references.

    Parameters
    ----------
    tokens
        What splits a caption into words; by default as §4.2.2 does for ROUGE: without stop words, stemmed.

    Examples
    --------
    >>> HodoshRouge().pair(["A dog runs.", "The dog is black."], "Black dogs.")
    0.75
    """

    name = "hodosh-rouge"
    formula = "Σ_r Σ_w min(c_s(w), c_r(w)) / Σ_r Σ_w c_r(w)"
    source = "Hodosh et al. 2013, eq. 28"

    def __init__(self, tokens: Tokeniser = hodosh_rouge_tokens) -> None:
        self.tokens = tokens

    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        """Read the captions of every image and every candidate."""
        texts = read_texts(references, candidates, self.tokens)
        grams = count_grams(texts, 1)
        each = np.ones(grams.gram.size)
        return Sums(texts, grams, each, each, texts.length.astype(np.float64))
