"""φ that are sums over shared grams: CIDEr, and ROUGE's recall of words."""

from __future__ import annotations

import numpy as np

from karat.captions.blocks import GramPrepared
from karat.captions.ngrams import Grams
from karat.captions.texts import Texts


class Sums(GramPrepared):
    """φ(i, s) = Σ_r fall(|s| − |r|) Σ_g left(s, g) right(r, g) / Σ_r size(r), over references r of image i.

    Parameters
    ----------
    left, right
        Of each entry of ``grams.gram``, what it weighs in a candidate and in a reference.
    size
        What each text adds to the denominator when it is a reference.
    length, fall
        A length of each text, and by how much a pair whose lengths differ by 0, 1, 2, … counts.
    """

    def __init__(
        self,
        texts: Texts,
        grams: Grams,
        left: np.ndarray,
        right: np.ndarray,
        size: np.ndarray,
        length: np.ndarray | None = None,
        fall: np.ndarray | None = None,
    ) -> None:
        # Without a fall, every text is as long as every other: all candidates then share their cells' values.
        length = np.zeros(size.size, dtype=np.int64) if length is None else length
        super().__init__(texts, grams, length)
        self.left, self.right, self.size = left, right, size
        self.fall = np.ones(1) if fall is None else fall

    def fill(self, begin: int, end: int, threads: int | None, out: np.ndarray) -> None:
        """Fill φ of images begin to end, [candidates, images]."""
        from karat.captions.kernels import sum_blocks

        cells = self.cells(begin, end)
        weight = np.concatenate([[0.0], np.cumsum(self.size[self.texts.reference])])
        total = weight[self.texts.first[begin + 1 : end + 1]] - weight[self.texts.first[begin:end]]
        scale = np.divide(1.0, total, out=np.zeros(end - begin), where=total > 0)
        value, length = self.right[cells.source], self.length[cells.text]
        self.each(
            threads,
            lambda b, e: sum_blocks(
                b, e, self.turn, self.texts.candidate, self.grams.start, self.grams.gram, self.left,
                self.length, self.fall, cells.begin, cells.image, cells.entry, value, length, scale, out,
            ),
        )  # fmt: skip

    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return φ of given pairs, float64."""
        from karat.captions.kernels import sum_pairs

        image, text, leave = self.read_pairs(image, caption, leave_out)
        out = np.empty(image.size)
        self.each_pair(
            image.size,
            lambda b, e: sum_pairs(
                b, e, image, text, leave, self.texts.first, self.texts.reference, self.grams.start,
                self.grams.gram, self.left, self.right, self.length, self.fall, self.size, out,
            ),
        )  # fmt: skip
        return out
