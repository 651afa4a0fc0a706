"""Bags of words: the cosine of word counts, with an image's captions as one text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.captions.frequencies import DocumentFrequencies
from karat.captions.metric import CaptionMetric, Prepared, References, register
from karat.captions.ngrams import EncodedTexts, read_texts
from karat.captions.tokens import Tokeniser, tokenise


@register
class WordBags(CaptionMetric):
    """The cosine of word counts weighted by √idf: the image is all of its captions as one text.

    idf = log(N / (N_w + 1)), at least 0, for N images of which N_w have the word in a caption (Hodosh et al.
    2013, §3.4.1: the text kernel BoW5), of the references given or of `frequencies`. From one or two images
    every idf is 0, and so is φ: give `frequencies` there. With `leave_out`, the reference left out still
    counts in N_w.

    Parameters
    ----------
    frequencies
        Of a fixed corpus; by default those of the references.
    tokens
        What splits a caption into words.

    Examples
    --------
    >>> references = [["a dog runs", "the dog"], ["a red bus"], ["two men sit"]]
    >>> WordBags().scores(references, ["a dog", "a cat", "two men"]).round(3)
    array([0.816, 0.   , 0.816])
    """

    name = "bow"
    aliases = ("bag-of-words",)
    formula = "cos(Σ_r c_r √idf, c_s √idf), idf = max(0, log(N / (N_w + 1)))"
    source = "Hodosh et al. 2013, section 3.4.1"

    def __init__(self, frequencies: DocumentFrequencies | None = None, tokens: Tokeniser = tokenise) -> None:
        self.frequencies, self.tokens = frequencies, tokens

    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        """Count the words of every image and every candidate."""
        return PreparedBags(read_texts(references, candidates, self.tokens), self.frequencies)


class PreparedBags(Prepared):
    """Weighted counts of words, as sparse rows: those of an image are the sum of its captions'."""

    def __init__(self, texts: EncodedTexts, frequencies: DocumentFrequencies | None) -> None:
        from scipy.sparse import csr_array

        self.n_images, self.n_captions = texts.n_images, len(texts.candidate)
        self.first, self.reference = texts.first, texts.reference
        shape = (len(texts.length), len(texts.vocabulary))
        counts = csr_array((np.ones(len(texts.words)), texts.words, texts.start), shape=shape)
        counts.sum_duplicates()
        ones = np.ones(len(texts.reference))
        members = csr_array((ones, texts.reference, texts.first), shape=(self.n_images, shape[0]))
        images = members @ counts
        corpus, holding = self.n_images, np.bincount(images.indices, minlength=shape[1])
        if frequencies is not None:
            corpus, holding = frequencies.images, np.array([frequencies[word] for word in texts.vocabulary])
        idf = np.maximum(np.log(max(corpus, 1) / (holding + 1)), 0.0)
        self.rows = self._weighted(counts, np.sqrt(idf))
        self.images = self._weighted(images, np.sqrt(idf))
        self.captions = self._unit(self.rows[texts.candidate])

    @staticmethod
    def _weighted(rows: Any, weight: np.ndarray) -> Any:
        rows.data = rows.data * weight[rows.indices]
        return rows

    @staticmethod
    def _unit(rows: Any) -> Any:
        """Return rows of length 1; what leaving a caption out has emptied, up to rounding, is 0."""
        from scipy.sparse import diags_array

        length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        return diags_array(np.divide(1.0, length, out=np.zeros_like(length), where=length > 1e-9)) @ rows

    def block(self, begin: int, end: int, threads: int | None = None) -> np.ndarray:
        """Return the cosines of some images with every candidate."""
        return (self._unit(self.images[begin:end]) @ self.captions.T).toarray().astype(np.float32)

    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return the cosines of pairs."""
        from scipy.sparse import diags_array

        image, caption, left = self.check_pairs(image, caption, leave_out)
        without = left >= 0
        text = np.zeros(len(image), np.int64)
        text[without] = self.reference[self.first[image[without]] + left[without]]
        bags = self.images[image] - diags_array(without.astype(float)) @ self.rows[text]
        return np.asarray(self._unit(bags).multiply(self.captions[caption]).sum(axis=1)).ravel()
