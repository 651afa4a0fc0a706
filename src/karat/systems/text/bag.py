"""Bags of words: the cosine of word counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from karat.systems.text.encoded import Captions, Encoded
from karat.systems.text.kernel import Progress, TextKernel
from karat.systems.text.weights import check_weight, word_weights
from karat.validation import InputError


class BagOfWords(TextKernel):
    """The cosine of the word counts of two items (Hodosh et al. 2013, section 3.4.1).

    Parameters
    ----------
    caption
        Which caption of an item is read, from 0 (BoW1; the last where an item has fewer). None for all of
        them, merged into one document (BoW5).
    weight
        What counts are multiplied by: "none", "idf" or "sqrt-idf", from the captions that are read.

    Attributes
    ----------
    vocabulary_
        The training words, numbered.
    counts_, items_
        How many training items have each word, and how many items there were.

    Examples
    --------
    >>> items = [[["dog", "run"], ["dog"]], [["cat", "run"]], [["bird"]]]
    >>> BagOfWords().fit(items).kernel(items).round(3)
    array([[1.   , 0.316, 0.   ],
           [0.316, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    >>> BagOfWords(caption=0).fit(items).kernel(items)[0].round(3)
    array([1. , 0.5, 0. ])
    """

    learned: ClassVar[tuple[str, ...]] = ("counts", "items")

    def __init__(self, caption: int | None = None, weight: str = "none") -> None:
        self.caption, self.weight = caption, weight

    def _fit(
        self, encoded: Encoded, numbers: dict[str, int], captions: Captions, tags: Captions | None
    ) -> None:
        check_weight(self.weight)
        if self.caption is not None and (isinstance(self.caption, bool) or self.caption < 0):
            raise InputError(f"caption is {self.caption}", fix="give a number from 0, or None for all")
        self.counts_ = self._read(encoded).document_counts(len(numbers))
        self.items_ = np.int64(len(encoded))

    def _kernel(
        self, a: Encoded, b: Encoded | None, size: int, threads: int | None, progress: Progress | None
    ) -> np.ndarray:
        weights = word_weights(self.weight, self.counts_, int(self.items_), size)
        first = self._rows(a, weights)
        second = first if b is None else self._rows(b, weights)
        values = (first @ second.T).toarray()
        if progress is not None:
            progress(len(a), len(a))
        return values

    def _read(self, encoded: Encoded) -> Encoded:
        return encoded.merged() if self.caption is None else encoded.only(self.caption)

    def _rows(self, encoded: Encoded, weights: np.ndarray) -> Any:
        """Return the weighted counts as sparse rows of length 1, or 0 where nothing counts."""
        from scipy.sparse import csr_array

        read = self._read(encoded)
        given = weights[read.words], read.words.copy(), read.start.copy()
        rows = csr_array(given, shape=(len(read), len(weights)))
        rows.sum_duplicates()
        row = np.repeat(np.arange(len(read)), np.diff(rows.indptr))
        norm = np.sqrt(np.bincount(row, rows.data**2, minlength=len(read)))[row]
        rows.data = np.divide(rows.data, norm, out=np.zeros_like(rows.data), where=norm > 0)
        return rows
