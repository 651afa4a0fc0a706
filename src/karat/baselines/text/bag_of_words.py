"""Texts as bags of words: the cosine and the F1 of word counts, and how much a word counts.

`BagOfWords` compares items by their captions and is a text kernel; `WordF1` compares documents, for nearest
neighbours. A word weighs by how many training items have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from karat._util import check_choice
from karat.baselines.estimator import Estimator
from karat.baselines.text.encoded_captions import Captions, EncodedCaptions
from karat.baselines.text.kernel import TextKernel
from karat.errors import InputError
from karat.models import unit_sparse

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WEIGHTS = {"none": 0.0, "sqrt_idf": 0.5, "idf": 1.0}
"""The power of λ_w that a word's count is multiplied by."""
F1_WEIGHTS = ("idf", "none")


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
        self, encoded: EncodedCaptions, numbers: dict[str, int], captions: Captions, tags: Captions | None
    ) -> None:
        check_weight(self.weight)
        if self.caption is not None and (isinstance(self.caption, bool) or self.caption < 0):
            raise InputError(f"caption is {self.caption}", fix="give a number of 0 or more, or None for all")
        self.counts_ = self._read(encoded).document_counts(len(numbers))
        self.items_ = np.int64(len(encoded))

    def _kernel(
        self,
        a: EncodedCaptions,
        b: EncodedCaptions | None,
        size: int,
        threads: int | None,
    ) -> np.ndarray:
        weights = word_weights(self.weight, self.counts_, int(self.items_), size)
        first = self._rows(a, weights)
        second = first if b is None else self._rows(b, weights)
        values = (first @ second.T).toarray()
        return values

    def _read(self, encoded: EncodedCaptions) -> EncodedCaptions:
        return encoded.merged() if self.caption is None else encoded.only(self.caption)

    def _rows(self, encoded: EncodedCaptions, weights: np.ndarray) -> Any:
        """Return the weighted counts as sparse rows of length 1, or 0 where nothing counts."""
        from scipy.sparse import csr_array

        read = self._read(encoded)
        parts = weights[read.words], read.words.copy(), read.start.copy()
        rows = csr_array(parts, shape=(len(read), len(weights)))
        rows.sum_duplicates()
        return unit_sparse(rows)


class WordF1(Estimator):
    """The F1 of the words of two documents, each word weighted by how rare it is in training.

    With counts c and weights λ, what two documents x and y share is Σ_w λ_w min(c_x(w), c_y(w));
    precision and recall divide it by Σ λ c of either, and F1 is their harmonic mean

        F1(x, y) = 2 Σ_w λ_w min(c_x(w), c_y(w)) / Σ_w λ_w (c_x(w) + c_y(w))

    λ_w = log(N / (N_w + 1)) for N training documents, N_w of which hold w (Hodosh et al. 2013,
    §3.1: NN5 with F1; the captions of one image are one document). Words that no training document
    holds weigh log N. The formula is negative for a word that all documents hold: it counts 0.
    Two documents without any weight between them have F1 = 0.

    Parameters
    ----------
    weights
        "idf", or "none" for the plain F1.

    Attributes
    ----------
    vocabulary_
        By word: λ.

    Examples
    --------
    >>> train = [["a", "dog", "runs"], ["a", "dog", "and", "a", "cat"], ["the", "sea"]]
    >>> f1 = WordF1(weights="none").fit(train)
    >>> f1.transform([["a", "dog"], []]).round(3)
    array([[0.8  , 0.571, 0.   ],
           [0.   , 0.   , 0.   ]])
    """

    def __init__(self, weights: str = "idf") -> None:
        self.weights = weights

    vocabulary_: dict[str, float]

    def fit(self, documents: Sequence[Sequence[str]]) -> Self:
        """Learn the weights from the training documents, each a list of words."""
        weights = check_choice(self.weights, F1_WEIGHTS, "weights")
        documents = check_documents(documents)
        if not documents:
            raise InputError("no training document", fix="give at least one")
        holding = sorted(Counter(word for document in documents for word in set(document)).items())
        counts = np.array([number for _, number in holding])
        *known, self.unseen_ = word_weights(weights, counts, len(documents), len(holding) + 1).tolist()
        self.vocabulary_ = {word: weight for (word, _), weight in zip(holding, known)}
        self.documents_ = documents
        return self

    def transform(self, documents: Sequence[Sequence[str]]) -> np.ndarray:
        """Return the F1 of documents (rows) with the training documents (columns)."""
        self.check_fitted()
        documents = check_documents(documents)
        words = {word: k for k, word in enumerate(self.vocabulary_)}
        levels: dict[tuple[int, int], int] = {}
        train, train_weight = self._units(self.documents_, words, levels)
        table, weight = self._units(documents, words, levels)
        shared = (table[:, : train.shape[1]] @ train.T).toarray()
        total = weight[:, None] + train_weight
        return np.divide(2 * shared, total, out=np.zeros_like(shared), where=total > 0)

    def _units(
        self, documents: Sequence[Sequence[str]], words: dict[str, int], levels: dict[tuple[int, int], int]
    ) -> tuple[csr_array, np.ndarray]:
        """Return documents in unary, and their total weights.

        A word that stands c times is c units, its first to its c-th occurrence, each √λ: the
        product of two rows is then the sum of λ min(c, c').
        """
        from scipy.sparse import csr_array

        weight_of = list(self.vocabulary_.values())
        column: list[int] = []
        value: list[float] = []
        ptr = [0]
        total = np.zeros(len(documents))
        for row, document in enumerate(documents):
            for word, count in Counter(document).items():
                known = words.get(word)
                weight = self.unseen_ if known is None else weight_of[known]
                total[row] += count * weight
                # What no training document holds is shared with none.
                if known is None or weight == 0:
                    continue
                for level in range(count):
                    column.append(levels.setdefault((known, level), len(levels)))
                    value.append(float(np.sqrt(weight)))
            ptr.append(len(column))
        shape = (len(documents), max(len(levels), 1))
        return csr_array((np.array(value), np.array(column, np.int64), np.array(ptr)), shape=shape), total


def check_documents(documents: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    """Return documents as a list, or raise where one is plain text: its letters would count as words."""
    listed = list(documents)
    for document in listed:
        if isinstance(document, str):
            raise InputError(
                f"{document[:40]!r} is text", fix="give lists of words, as karat.captions.tokenise makes them"
            )
    return listed


def word_weights(weight: str, counts: np.ndarray, items: int, size: int) -> np.ndarray:
    r"""Return the weight of each of `size` words.

    :math:`\lambda_w = \log \frac{|D|}{|D(w)| + 1}` with the training items D and those D(w) that have the
    word (Hodosh et al. 2013, section 3.4.1), or its square root, or 1. A word that all items have would get
    less than 0: it gets 0. So does every word when there is one training item.

    Parameters
    ----------
    weight
        "none", "idf" or "sqrt-idf".
    counts
        Training items that have each word of the vocabulary; words beyond it occur in none.
    items
        How many training items there are.
    size
        How many weights to return.

    Examples
    --------
    >>> word_weights("idf", np.array([9, 100]), items=100, size=3).round(3)
    array([2.303, 0.   , 4.605])
    """
    power = WEIGHTS[check_weight(weight)]
    if not power:
        return np.ones(size)
    full = np.zeros(size)
    full[: len(counts)] = counts
    return np.maximum(np.log(items / (full + 1)), 0.0) ** power


def check_weight(weight: str) -> str:
    """Return the name of a weight, or raise."""
    return check_choice(weight, tuple(WEIGHTS), "weight")
