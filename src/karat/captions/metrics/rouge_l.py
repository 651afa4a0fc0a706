"""ROUGE-L, as pycocoevalcap computes it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.captions.metric import CaptionMetric, Prepared, References, register
from karat.captions.ngrams import EncodedTexts, read_texts
from karat.captions.overlap import BlockPrepared
from karat.captions.tokens import Tokeniser, tokenise


class Subsequences(BlockPrepared):
    """F-scores of longest common subsequences."""

    def __init__(self, texts: EncodedTexts, beta: float) -> None:
        super().__init__(texts, texts.length)
        self.beta = beta
        # Unsigned and small: no check for negative places, and half the traffic.
        self.words = texts.words.astype(np.uint32)

    def masks(self) -> tuple[np.ndarray, np.ndarray]:
        """Return room for the positions of a candidate's words: up to 64 words, and more where needed."""
        size = len(self.texts.vocabulary)
        longest = int(self.length[self.texts.candidate].max(initial=0))
        wide = (size, -(-longest // 64)) if longest > 64 else (0, 0)
        return np.zeros(size, dtype=np.uint64), np.zeros(wide, dtype=np.uint64)

    def fill(self, begin: int, end: int, threads: int | None, out: np.ndarray) -> None:
        """Fill φ of images begin to end, [candidates, images]."""
        from karat.captions.lcs_kernels import rouge_blocks

        texts = self.texts
        self.each(
            threads,
            lambda b, e: rouge_blocks(
                b, e, self.turn, texts.candidate, texts.start, self.words, texts.first, texts.reference,
                begin, self.beta, *self.masks(), out,
            ),
        )  # fmt: skip

    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return φ of given pairs, float64."""
        from karat.captions.lcs_kernels import rouge_pairs

        image, text, leave = self.read_pairs(image, caption, leave_out)
        out = np.empty(image.size)
        texts = self.texts
        self.each_pair(
            image.size,
            lambda b, e: rouge_pairs(
                b, e, image, text, leave, texts.start, self.words, texts.first, texts.reference, self.beta,
                *self.masks(), out,
            ),
        )  # fmt: skip
        return out


@register
class RougeL(CaptionMetric):
    """ROUGE-L (Lin 2004): the F-score of the longest sequence of words that caption and reference share.

    The best precision (of the caption's length) and the best recall (of a reference's length) are taken over
    the references separately, and joined with β = 1.2, as pycocoevalcap's class `Rouge` does.

    Parameters
    ----------
    beta
        How much more recall counts than precision.
    tokens
        What splits a caption into words.

    Examples
    --------
    >>> round(RougeL().pair(["a dog runs in the park", "the dog is running"], "a dog runs fast"), 4)
    0.5791
    """

    name = "rouge-l"
    aliases = ("rouge",)
    formula = "(1 + β²) P R / (R + β² P), P = max_r LCS / |s|, R = max_r LCS / |r|"
    source = "Lin 2004, as in pycocoevalcap"

    def __init__(self, beta: float = 1.2, tokens: Tokeniser = tokenise) -> None:
        self.beta, self.tokens = beta, tokens

    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        """Read the captions of every image and every candidate."""
        return Subsequences(read_texts(references, candidates, self.tokens), self.beta)
