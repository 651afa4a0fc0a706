"""φ that count a candidate's grams found in any reference of the image: BLEU, with or without its penalty."""

from __future__ import annotations

import numpy as np

from karat.captions.blocks import GramPrepared
from karat.captions.ngrams import Grams
from karat.captions.texts import Texts


class Coverage(GramPrepared):
    """BLEU: the geometric mean over n of the share of a candidate's n-grams that some reference covers.

    Parameters
    ----------
    tiny, small
        Added to what is covered and to how many there are, so that an order without a match is not 0.
    brief
        Whether candidates shorter than the nearest reference are penalised.
    """

    def __init__(self, texts: Texts, grams: Grams, tiny: float, small: float, brief: bool) -> None:
        super().__init__(texts, grams, texts.length)
        self.tiny, self.small, self.brief = tiny, small, brief

    def fill(self, begin: int, end: int, threads: int | None, out: np.ndarray) -> None:
        """Fill φ of images begin to end, [candidates, images]."""
        from karat.captions.kernels import cover_blocks

        cells = self.cells(begin, end)
        texts, grams = self.texts, self.grams
        self.each(
            threads,
            lambda b, e: cover_blocks(
                b, e, self.turn, texts.candidate, grams.start, grams.gram, self.length, self.tiny, self.small,
                self.brief, cells.begin, cells.image, texts.first, texts.reference, begin, out,
            ),
        )  # fmt: skip

    def counts(
        self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return of pairs how many grams are covered [orders, pairs], the length, and the nearest one.

        The nearest reference length is −1 where there is no reference.
        """
        from karat.captions.kernels import cover_pairs

        image, text, leave = self.read_pairs(image, caption, leave_out)
        covered = np.zeros((self.grams.orders, image.size))
        near = np.empty(image.size, dtype=np.int64)
        self.each_pair(
            image.size,
            lambda b, e: cover_pairs(
                b, e, image, text, leave, self.texts.first, self.texts.reference, self.grams.start,
                self.grams.gram, self.length, covered, near,
            ),
        )  # fmt: skip
        return covered, self.length[text], near

    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return φ of given pairs, float64."""
        covered, length, near = self.counts(image, caption, leave_out)
        found = geometric_mean(covered, length, self.tiny, self.small)
        if self.brief:
            found *= penalty(length, near, self.tiny, self.small)
        return np.where(near < 0, 0.0, found)


def geometric_mean(covered: np.ndarray, length: np.ndarray, tiny: float, small: float) -> np.ndarray:
    """Return the geometric mean of n-gram precisions, from counts [orders, pairs]."""
    orders = len(covered)
    guesses = np.maximum(length - np.arange(orders)[:, None], 0) + small
    shares = np.divide(covered + tiny, guesses, out=np.zeros_like(covered), where=guesses > 0)
    return np.prod(shares, axis=0) ** (1 / orders)


def penalty(length: np.ndarray, near: np.ndarray, tiny: float, small: float) -> np.ndarray:
    """Return BLEU's brevity penalty: exp(1 − r / c) where a caption of c words has r > c nearby."""
    ratio = (length + tiny) / (np.maximum(near, 0) + small)
    return np.exp(np.minimum(1 - 1 / ratio, 0.0))
