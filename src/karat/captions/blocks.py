"""What metrics over shared grams have in common: who meets whom, in which order, on how many threads."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from karat.captions.cells import Cells, find_cells
from karat.captions.metric import Prepared
from karat.captions.ngrams import Grams
from karat.captions.texts import Texts
from karat.runs.threads import threads as several


class BlockPrepared(Prepared):
    """Fills blocks candidate by candidate, shared out among threads.

    Parameters
    ----------
    texts
        References and candidates.
    length
        A length of each text; candidates of the same length are worked on together.
    """

    def __init__(self, texts: Texts, length: np.ndarray) -> None:
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
        from karat.captions.kernels import turned

        filled = np.empty((self.n_captions, end - begin), dtype=np.float32)
        self.fill(begin, end, threads, filled)
        out = np.empty((end - begin, self.n_captions), dtype=np.float32)
        with several(threads) as loop:
            loop(lambda b, e: turned(b, e, filled, out), 0, end - begin)
        return out


class GramPrepared(BlockPrepared):
    """The same, over grams: a candidate meets the images of the cells of its grams."""

    def __init__(self, texts: Texts, grams: Grams, length: np.ndarray) -> None:
        super().__init__(texts, length)
        self.grams = grams

    def cells(self, begin: int, end: int) -> Cells:
        """Return which of the images begin to end hold which gram."""
        return find_cells(self.texts, self.grams, begin, end)
