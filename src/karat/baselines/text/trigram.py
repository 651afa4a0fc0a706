"""The trigram kernel: words, pairs and triples of words that captions share in the same order."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from karat.baselines.text.bag_of_words import check_weight, word_weights
from karat.baselines.text.encoded_captions import Captions, EncodedCaptions
from karat.baselines.text.kernel import TextKernel, all_pairs, cosine_normalised, own_values
from karat.baselines.text.similarity import Similarity
from karat.errors import InputError


class Trigram(TextKernel):
    r"""A string kernel over sequences of up to three words, gaps allowed (Hodosh et al. 2013, eq. 12 to 21).

    .. math::
        K(s, s') = \sum_{w, w'} \sqrt{\lambda_w \lambda_{w'}}\, m_{s,w}\, m_{s',w'}\, \lambda_m^{2 l(w)}
        \prod_i \kappa(w_i, w'_i)

    over sequences w and w' of equal length l up to 3. m counts the spans (start, end) of a caption that begin
    with the first word of w, end with its last, and hold the others in order between them: "a b b c" holds
    "a b c" once. A single word is a span by itself, so that single words alone give the bag of words (eq. 12
    as printed would count "b b" as a third "b"). K is summed over all pairs of captions of two items, then
    divided by the geometric mean of what both items are to themselves. An item without words is 0 to all,
    itself included.

    The sum is exact, however many sequences are similar: one pass over the cells of two captions adds up all
    of them (see `karat.baselines.text.text_kernels`).

    Parameters
    ----------
    weight
        The weight of a word: "none" (eq. 15), "sqrt-idf" (eq. 16 and 21) or "idf" (without the roots).
    similarity
        Which words are how similar, κ; fitted on the training captions by `fit`. None: a word is similar to
        itself alone. Without thresholds and maxima κ is semidefinite, and so is the kernel.
    match
        λ_m, the factor per word and side; the paper's is 0.5.
    longest
        The words of the longest sequence, 1 to 3.

    Attributes
    ----------
    vocabulary_
        The training words and the words that the similarity knows, numbered.
    counts_, items_
        How many training items have each word, and how many items there were.
    similar_, kappa_
        The words with similarities to others, and the similarities [words, words].
    similarity_
        The fitted similarity, or None; not restored from a state.

    Examples
    --------
    >>> items = [[["dog", "catch", "ball"]], [["dog", "ball"]], [["ball", "dog"]]]
    >>> Trigram(match=1).fit(items).kernel(items).round(3)
    array([[1.   , 0.655, 0.436],
           [0.655, 1.   , 0.667],
           [0.436, 0.667, 1.   ]])
    """

    learned: ClassVar[tuple[str, ...]] = ("counts", "items", "similar", "kappa")

    def __init__(
        self,
        weight: str = "none",
        similarity: Similarity | None = None,
        match: float = 0.5,
        longest: int = 3,
    ) -> None:
        self.weight, self.similarity, self.match, self.longest = weight, similarity, match, longest

    @property
    def needs_tags(self) -> bool:
        """Whether `fit` needs parts of speech."""
        return self.similarity is not None and self.similarity.needs_tags

    def _fit(
        self, encoded: EncodedCaptions, numbers: dict[str, int], captions: Captions, tags: Captions | None
    ) -> None:
        check_weight(self.weight)
        if not 0 < self.match < float("inf"):
            raise InputError(f"match is {self.match}", fix="give a number above 0")
        if self.longest not in (1, 2, 3):
            raise InputError(f"longest is {self.longest}", fix="give 1, 2 or 3")
        self.similarity_ = None if self.similarity is None else copy.copy(self.similarity).fit(captions, tags)
        similar = [] if self.similarity_ is None else self.similarity_.words_
        self.kappa_ = np.zeros((0, 0)) if self.similarity_ is None else self.similarity_.matrix_
        self.similar_ = np.array([numbers.setdefault(word, len(numbers)) for word in similar], np.int64)
        self.counts_ = encoded.document_counts(len(numbers))
        self.items_ = np.int64(len(encoded))

    def _kernel(
        self,
        a: EncodedCaptions,
        b: EncodedCaptions | None,
        size: int,
        threads: int | None,
    ) -> np.ndarray:
        value = self.match * word_weights(self.weight, self.counts_, int(self.items_), size)
        place = np.full(size, -1, np.int64)
        place[self.similar_] = np.arange(len(self.similar_))
        sums = _Sums(value, place, np.ascontiguousarray(self.kappa_), self.longest)
        rows, columns = _prepare(a), _prepare(a if b is None else b)

        def fill(begin: int, end: int, left: int, out: np.ndarray) -> None:
            sums.add(rows.part(begin, end), columns.part(left, len(columns.captions)), out)

        values = all_pairs(len(a), None if b is None else len(b), fill, threads)
        if b is None:
            own = values.diagonal().copy()
            return cosine_normalised(values, own, own)
        return cosine_normalised(values, sums.own(rows), sums.own(columns))


@dataclass(frozen=True)
class _Prepared:
    """Captions with what the compiled walk needs beside their words."""

    captions: EncodedCaptions
    back: np.ndarray
    targets: np.ndarray
    local: np.ndarray

    def part(self, begin: int, end: int) -> _Prepared:
        words = slice(*self.captions.start[self.captions.first[[begin, end]]])
        return _Prepared(self.captions.part(begin, end), self.back[words], self.targets, self.local[words])


def _prepare(captions: EncodedCaptions) -> _Prepared:
    targets, local = np.unique(captions.words, return_inverse=True)
    return _Prepared(captions, last_places(captions), targets, local)


def last_places(captions: EncodedCaptions) -> np.ndarray:
    """Return, per word, its previous place in its caption; 0 where there is none.

    >>> from karat.baselines.text.encoded_captions import encode
    >>> last_places(encode([[[*"abbcb"], [*"b"]]], {}))
    array([0, 0, 1, 0, 2, 0])
    """
    position = captions.position
    order = np.lexsort((position, captions.words, captions.caption))
    word, caption = captions.words[order], captions.caption[order]
    again = np.flatnonzero((word[1:] == word[:-1]) & (caption[1:] == caption[:-1]))
    back = np.zeros(len(order), np.int64)
    back[order[again + 1]] = position[order[again]]
    return back


@dataclass(frozen=True)
class _Sums:
    """The kernel before normalisation."""

    value: np.ndarray
    place: np.ndarray
    kappa: np.ndarray
    longest: int

    def add(self, rows: _Prepared, columns: _Prepared, out: np.ndarray) -> None:
        """Add the sums over pairs of captions to `out`, [items of rows, items of columns]."""
        from karat.baselines.text.text_kernels import trigram_sums

        own, other = rows.captions, columns.captions
        trigram_sums(
            own.words, own.start, rows.back, own.item, _lanes(rows),
            columns.local, other.start, columns.back, other.first,
            columns.targets, self.value, self.place, self.kappa,
            float(self.longest > 1), float(self.longest > 2), out,
        )  # fmt: skip

    def own(self, items: _Prepared) -> np.ndarray:
        """Return what each item is to itself."""

        def fill(i: int, cell: np.ndarray) -> None:
            item = _prepare(items.captions.part(i, i + 1))
            self.add(item, item, cell)

        return own_values(len(items.captions), fill)


def _lanes(rows: _Prepared) -> np.ndarray:
    """Return captions in the order in which they are worked on: short ones first, then those with repeats."""
    from karat.baselines.text.text_kernels import LANES

    length = rows.captions.length
    repeats = np.bincount(rows.captions.caption, rows.back > 0, minlength=len(length)) > 0
    order = np.lexsort((length, repeats))
    return np.concatenate([order, np.full(-len(order) % LANES, -1)])
