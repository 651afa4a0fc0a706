"""The TAGRANK kernel: words weigh more where they occur early in a caption."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from karat.baselines.text.encoded_captions import Captions, EncodedCaptions
from karat.baselines.text.kernel import TextKernel, all_pairs, cosine_normalised, own_values


class TagRank(TextKernel):
    r"""Hwang and Grauman's kernel, as Hodosh et al. (2013) use it for sentences (eq. 9 to 11).

    A caption is two vectors over words, absolute ranks :math:`a(i) = 1 / \log_2(1 + p_i)` and relative ranks
    r(i), the share of the word's training occurrences that come after :math:`p_i`, its (mean) place. Two
    captions compare by the mean of two χ² kernels,
    :math:`\exp(-\frac{1}{2 \Omega} \sum_k \frac{(x_k - y_k)^2}{x_k + y_k})`; two items by the mean over all
    pairs of their captions. It is semidefinite.

    The paper does not say what Ω is: here it is the mean of the χ² sum over all pairs of different training
    captions, for each of the two vectors. Where all captions are the same, so that it would be 0, the kernel
    is 1. An unknown word has no relative rank, 0. Captions without words are 1 to each
    other.

    Parameters
    ----------
    normalise
        Whether to divide by the geometric mean of what both items are to themselves (section 4.1.3). Items
        with one caption have 1 anyway.

    Attributes
    ----------
    vocabulary_
        The training words, numbered.
    occurrences_, occurrences_start_
        The sorted places of each word in training captions, from 1, one word after the other.
    scale_
        1 / (2 Ω) for the relative and for the absolute ranks.

    Examples
    --------
    >>> items = [[["dog", "run", "grass"]], [["big", "dog", "grass"]], [["big", "boat", "sea"]]]
    >>> TagRank().fit(items).kernel(items).round(2)
    array([[1.  , 0.6 , 0.47],
           [0.6 , 1.  , 0.83],
           [0.47, 0.83, 1.  ]])
    """

    learned: ClassVar[tuple[str, ...]] = ("occurrences", "occurrences_start", "scale")

    def __init__(self, normalise: bool = True) -> None:
        self.normalise = normalise

    def _fit(
        self, encoded: EncodedCaptions, numbers: dict[str, int], captions: Captions, tags: Captions | None
    ) -> None:
        place = encoded.position + 1
        self.occurrences_ = place[np.lexsort((place, encoded.words))]
        counts = np.bincount(encoded.words, minlength=len(numbers))
        self.occurrences_start_ = np.concatenate([[0], np.cumsum(counts)])
        ranks = self._ranks(encoded)
        mean = np.array([mean_distance(ranks, which) for which in range(2)])
        self.scale_ = np.divide(0.5, mean, out=np.zeros(2), where=mean > 0)

    def _kernel(
        self,
        a: EncodedCaptions,
        b: EncodedCaptions | None,
        size: int,
        threads: int | None,
    ) -> np.ndarray:
        rows = self._ranks(a)
        columns = rows if b is None else self._ranks(b)

        def fill(begin: int, end: int, left: int, out: np.ndarray) -> None:
            self._add(rows.part(begin, end), columns.part(left, len(columns.captions)), size, out)

        values = all_pairs(len(a), None if b is None else len(b), fill, threads)
        if self.normalise:
            own = (
                [values.diagonal().copy()] * 2 if b is None else [self._own(r, size) for r in (rows, columns)]
            )
            return cosine_normalised(values, own[0], own[1])
        numbers = [np.diff(ranks.captions.first) for ranks in (rows, columns)]
        return values / (numbers[0][:, None] * numbers[1])

    def _add(self, rows: _Ranks, columns: _Ranks, size: int, out: np.ndarray) -> None:
        from karat.baselines.text.text_kernels import tag_rank_sums

        own, other = rows.captions, columns.captions
        tag_rank_sums(
            own.words, own.start, rows.values, rows.sums, own.item,
            other.words, other.start, columns.values, columns.sums, other.first,
            size, self.scale_, out,
        )  # fmt: skip

    def _own(self, ranks: _Ranks, size: int) -> np.ndarray:
        def fill(i: int, cell: np.ndarray) -> None:
            item = ranks.part(i, i + 1)
            self._add(item, item, size, cell)

        return own_values(len(ranks.captions), fill)

    def _ranks(self, encoded: EncodedCaptions) -> _Ranks:
        """Return the distinct words of each caption, with both ranks."""
        size = np.int64(max(1, encoded.words.max(initial=0) + 1))
        keys, which = np.unique(encoded.caption * size + encoded.words, return_inverse=True)
        caption, word = np.divmod(keys, size)
        place = np.bincount(which, encoded.position + 1.0) / np.bincount(which)
        relative = np.zeros(len(word))
        known = np.flatnonzero(word < len(self.occurrences_start_) - 1)
        # Words and places in one increasing list: a search finds how many places of a word come before.
        span = np.int64(max(self.occurrences_.max(initial=0), np.floor(place.max(initial=0))) + 1)
        listed = np.repeat(np.arange(len(self.occurrences_start_) - 1), np.diff(self.occurrences_start_))
        ordered = listed * span + self.occurrences_
        sought = word[known] * span + np.floor(place[known]).astype(np.int64)
        until = np.searchsorted(ordered, sought, side="right") - self.occurrences_start_[word[known]]
        relative[known] = 1.0 - until / np.diff(self.occurrences_start_)[word[known]]
        values = np.stack([relative, 1.0 / np.log2(1.0 + place)])
        size_of = np.bincount(caption, minlength=len(encoded.start) - 1)
        start = np.concatenate([[0], np.cumsum(size_of)])
        sums = np.stack([np.bincount(caption, ranks, minlength=len(start) - 1) for ranks in values])
        return _Ranks(EncodedCaptions(word, start, encoded.first), values, sums)


@dataclass(frozen=True)
class _Ranks:
    """The distinct words of captions with their relative and absolute ranks, and the sums of these."""

    captions: EncodedCaptions
    values: np.ndarray
    sums: np.ndarray

    def part(self, begin: int, end: int) -> _Ranks:
        captions = slice(*self.captions.first[[begin, end]])
        words = slice(*self.captions.start[self.captions.first[[begin, end]]])
        sums = np.ascontiguousarray(self.sums[:, captions])
        return _Ranks(self.captions.part(begin, end), np.ascontiguousarray(self.values[:, words]), sums)


def mean_distance(ranks: _Ranks, which: int) -> float:
    """Return the mean χ² sum over all pairs of different captions, exactly.

    Two captions are as far as their ranks sum up to, less 4 x y / (x + y) for every word of both. Ranks take
    few values, so these are summed over pairs of values, each as often as it occurs.
    """
    captions = len(ranks.captions.start) - 1
    if captions < 2:
        return 0.0
    levels, level = np.unique(ranks.values[which], return_inverse=True)
    keys, count = np.unique(ranks.captions.words * np.int64(len(levels)) + level, return_counts=True)
    word, level = np.divmod(keys, np.int64(max(1, len(levels))))
    shared = 0.0
    for own in np.split(np.arange(len(keys)), np.flatnonzero(np.diff(word)) + 1) if len(keys) else ():
        x, times = levels[level[own]], count[own].astype(np.float64)
        both = x[:, None] + x
        near = np.divide(4 * x[:, None] * x, both, out=np.zeros_like(both), where=both > 0)
        shared += times @ near @ times
    return max(0.0, (2 * captions * ranks.sums[which].sum() - shared) / (captions * (captions - 1)))
