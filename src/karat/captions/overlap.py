"""φ by the overlap of a caption with an image's captions: what the metrics of shared n-grams are made of.

`Sums` adds up weights of shared grams (CIDEr, ROUGE's recall of words); `Coverage` counts a candidate's
grams that some reference of the image has (BLEU, with or without its penalty). Both look up which images of
a block hold which gram (`GramIndex`), so that a candidate meets only the images it shares words with.
`BlockPrepared` decides the order of the work and shares it out among threads; ROUGE-L uses it too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from karat._util import threads as several
from karat.captions.metric import Prepared
from karat.captions.ngrams import EncodedTexts, Grams, ranges


class BlockPrepared(Prepared):
    """Fills blocks candidate by candidate, shared out among threads.

    Parameters
    ----------
    texts
        References and candidates.
    length
        A length of each text; candidates of the same length are worked on together.
    """

    def __init__(self, texts: EncodedTexts, length: np.ndarray) -> None:
        self.texts, self.length = texts, length
        self.n_images, self.n_captions = texts.n_images, texts.candidate.size
        self.turn = np.argsort(length[texts.candidate], kind="stable")
        # Longer captions take longer, and come last: threads get equal numbers of words, not of captions.
        self.work = np.cumsum(texts.length[texts.candidate[self.turn]] + 1)

    @abstractmethod
    def fill(self, begin: int, end: int, threads: int | None, out: np.ndarray) -> None:
        """Fill φ of images begin to end into `out`, [candidates, images]."""

    def each(self, threads: int | None, part: Callable[[int, int], object]) -> None:
        """Call `part` on disjoint ranges of `turn`."""
        total = int(self.work[-1]) if self.work.size else 0
        with several(threads) as loop:
            loop(lambda b, e: part(*np.searchsorted(self.work, [b, e], side="right").tolist()), 0, total)

    def each_pair(self, size: int, part: Callable[[int, int], object]) -> None:
        """Call `part` on disjoint ranges of pairs."""
        with several() as loop:
            loop(part, 0, size)

    def read_pairs(
        self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return images, texts of candidates and references to leave out, one of each per pair."""
        image, caption, leave = self.check_pairs(image, caption, leave_out)
        return image, self.texts.candidate[caption], leave

    def block(self, begin: int, end: int, threads: int | None = None) -> np.ndarray:
        """Return φ of images begin to end with every candidate, float32 [end - begin, n_captions]."""
        from karat.captions.overlap_kernels import turned

        filled = np.empty((self.n_captions, end - begin), dtype=np.float32)
        self.fill(begin, end, threads, filled)
        out = np.empty((end - begin, self.n_captions), dtype=np.float32)
        with several(threads) as loop:
            loop(lambda b, e: turned(b, e, filled, out), 0, end - begin)
        return out


class GramPrepared(BlockPrepared):
    """The same, over grams: a candidate meets the images that hold some of its grams."""

    def __init__(self, texts: EncodedTexts, grams: Grams, length: np.ndarray) -> None:
        super().__init__(texts, length)
        self.grams = grams

    def index(self, begin: int, end: int) -> GramIndex:
        """Return which of the images begin to end hold which gram."""
        return index_grams(self.texts, self.grams, begin, end)


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
        texts: EncodedTexts,
        grams: Grams,
        left: np.ndarray,
        right: np.ndarray,
        size: np.ndarray,
        length: np.ndarray | None = None,
        fall: np.ndarray | None = None,
    ) -> None:
        # Without a fall, every text is as long as every other: all candidates then share the cells' values.
        length = np.zeros(size.size, dtype=np.int64) if length is None else length
        super().__init__(texts, grams, length)
        self.left, self.right, self.size = left, right, size
        self.fall = np.ones(1) if fall is None else fall

    def fill(self, begin: int, end: int, threads: int | None, out: np.ndarray) -> None:
        """Fill φ of images begin to end, [candidates, images]."""
        from karat.captions.overlap_kernels import sum_blocks

        index = self.index(begin, end)
        weight = np.concatenate([[0.0], np.cumsum(self.size[self.texts.reference])])
        total = weight[self.texts.first[begin + 1 : end + 1]] - weight[self.texts.first[begin:end]]
        scale = np.divide(1.0, total, out=np.zeros(end - begin), where=total > 0)
        value, length = self.right[index.source], self.length[index.text]
        self.each(
            threads,
            lambda b, e: sum_blocks(
                b, e, self.turn, self.texts.candidate, self.grams.start, self.grams.gram, self.left,
                self.length, self.fall, index.begin, index.image, index.entry, value, length, scale, out,
            ),
        )  # fmt: skip

    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return φ of given pairs, float64."""
        from karat.captions.overlap_kernels import sum_pairs

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


class Coverage(GramPrepared):
    """BLEU: the geometric mean over n of the share of a candidate's n-grams that some reference covers.

    Parameters
    ----------
    tiny, small
        Added to what is covered and to how many there are, so that an order without a match is not 0.
    brief
        Whether candidates shorter than the nearest reference are penalised.
    """

    def __init__(self, texts: EncodedTexts, grams: Grams, tiny: float, small: float, brief: bool) -> None:
        super().__init__(texts, grams, texts.length)
        self.tiny, self.small, self.brief = tiny, small, brief

    def fill(self, begin: int, end: int, threads: int | None, out: np.ndarray) -> None:
        """Fill φ of images begin to end, [candidates, images]."""
        from karat.captions.overlap_kernels import cover_blocks

        index = self.index(begin, end)
        texts, grams = self.texts, self.grams
        self.each(
            threads,
            lambda b, e: cover_blocks(
                b, e, self.turn, texts.candidate, grams.start, grams.gram, self.length, self.tiny, self.small,
                self.brief, index.begin, index.image, texts.first, texts.reference, begin, out,
            ),
        )  # fmt: skip

    def counts(
        self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return of pairs how many grams are covered [orders, pairs], the length, and the nearest one.

        The nearest reference length is −1 where there is no reference.
        """
        from karat.captions.overlap_kernels import cover_pairs

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
        scores = geometric_mean(covered, length, self.tiny, self.small)
        if self.brief:
            scores *= penalty(length, near, self.tiny, self.small)
        return np.where(near < 0, 0.0, scores)


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


@dataclass(frozen=True, eq=False)
class GramIndex:
    """The images that hold each gram: a cell per gram and image, in it an entry per reference that holds it.

    Parameters
    ----------
    begin
        The cells of gram g are begin[g] to begin[g + 1].
    image
        Of each cell, its image, counted from the block's first.
    entry
        The entries of cell c are entry[c] to entry[c + 1].
    source, text
        Of each entry, its place in ``grams.gram`` and the reference's text.
    """

    begin: np.ndarray
    image: np.ndarray
    entry: np.ndarray
    source: np.ndarray
    text: np.ndarray


def index_grams(texts: EncodedTexts, grams: Grams, begin: int, end: int) -> GramIndex:
    """Return which of the images begin to end hold which gram."""
    first = texts.first[begin : end + 1]
    reference = texts.reference[first[0] : first[-1]]
    begins, ends = grams.start[reference, 0], grams.start[reference, -1]
    source = ranges(begins, ends)
    text = np.repeat(reference, ends - begins)
    image = np.repeat(np.repeat(np.arange(end - begin), np.diff(first)), ends - begins)
    key = grams.gram[source] * np.int64(max(1, end - begin)) + image
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.ones(key.size, dtype=bool)
    new[1:] = key[1:] != key[:-1]
    entry = np.append(np.flatnonzero(new), key.size)
    gram, image = np.divmod(key[new], np.int64(max(1, end - begin)))
    counts = np.bincount(gram, minlength=grams.plain.size)
    return GramIndex(
        np.concatenate([[0], np.cumsum(counts)]), image.astype(np.int32), entry, source[order], text[order]
    )
