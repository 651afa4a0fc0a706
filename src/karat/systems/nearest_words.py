"""The similarity of two texts as the F1 of their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from karat.systems.estimator import Estimator
from karat.systems.text.weights import word_weights
from karat.validation import InputError, check_choice

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WEIGHTS = ("idf", "none")


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
        weights = check_choice(self.weights, WEIGHTS, "weights")
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
