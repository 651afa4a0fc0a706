"""Lexical similarities κ: how much two words count as the same, and combinations of them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from karat.baselines.estimator import Estimator
from karat.baselines.text.encoded_captions import Captions
from karat.models import unit_sparse


class Similarity(Estimator, ABC):
    """How similar words are, from 0 to 1; a word is 1 to itself (Hodosh et al. 2013, section 3.5.1).

    Attributes
    ----------
    words_
        The words that it knows; any other is similar to itself alone.
    matrix_
        κ, [words, words], symmetric.
    """

    words_: list[str]
    matrix_: np.ndarray

    @property
    def needs_tags(self) -> bool:
        """Whether `fit` needs parts of speech."""
        return False

    @abstractmethod
    def fit(self, captions: Captions, tags: Captions | None = None) -> Self:
        """Learn from the captions of training items; `tags` are the parts of speech of all words."""

    def kappa(self, words: Sequence[str]) -> np.ndarray:
        """Return κ of all pairs of any words; those that it does not know match themselves."""
        self.check_fitted()
        known = {word: k for k, word in enumerate(self.words_)}
        place = np.array([known.get(word, -1) for word in words], np.int64)
        numbers: dict[str, int] = {}
        number = np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)
        values = (number[:, None] == number).astype(np.float64)
        inside = np.flatnonzero(place >= 0)
        values[np.ix_(inside, inside)] = self.matrix_[np.ix_(place[inside], place[inside])]
        return values

    def nearest(self, word: str, k: int = 5) -> list[tuple[str, float]]:
        """Return the k words that are most similar to a word, without itself and those of similarity 0."""
        self.check_fitted()
        if word not in self.words_:
            return []
        own = self.words_.index(word)
        order = np.argsort(-self.matrix_[own], kind="stable")
        values = self.matrix_[own]
        return [(self.words_[o], float(values[o])) for o in order if o != own and values[o] > 0][:k]


def cosines(vectors: Any, threshold: float) -> np.ndarray:
    """Return the cosines of all pairs of sparse rows (eq. 18); those below the threshold become 0.

    A row of zeros is 1 to itself and 0 to all others.

    >>> from scipy.sparse import csr_array
    >>> cosines(csr_array(np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 0.0]])), 0.05)
    array([[1.  , 0.96, 0.  ],
           [0.96, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    from scipy.sparse import csr_array

    rows = unit_sparse(csr_array(vectors, dtype=np.float64, copy=True))
    values = (rows @ rows.T).toarray()
    np.clip(values, 0.0, 1.0, out=values)
    values[values < threshold] = 0.0
    np.fill_diagonal(values, 1.0)
    return values


class _Combined(Similarity):
    """Two similarities as one, over the words that either knows."""

    def __init__(self, first: Similarity, second: Similarity) -> None:
        self.first, self.second = first, second

    @property
    def needs_tags(self) -> bool:
        """Whether `fit` needs parts of speech."""
        return self.first.needs_tags or self.second.needs_tags

    def fit(self, captions: Captions, tags: Captions | None = None) -> Self:
        """Fit a copy of both, and combine them."""
        self.first_ = copy.copy(self.first).fit(captions, tags)
        self.second_ = copy.copy(self.second).fit(captions, tags)
        self.words_ = list(dict.fromkeys([*self.first_.words_, *self.second_.words_]))
        self.matrix_ = self._combine(self.first_.kappa(self.words_), self.second_.kappa(self.words_))
        return self

    @staticmethod
    @abstractmethod
    def _combine(first: np.ndarray, second: np.ndarray) -> np.ndarray: ...


class MeanSimilarity(_Combined):
    """The mean of two similarities (eq. 26), as of distributions in two corpora.

    Parameters
    ----------
    first, second
        Similarities; copies of them are fitted.

    Examples
    --------
    >>> from karat.baselines.text import DistributionalSimilarity
    >>> own = DistributionalSimilarity(least=1)
    >>> other = DistributionalSimilarity(least=1, corpus=[["boat", "sea"], ["ship", "port"], ["sea"]])
    >>> captions = [[["boat", "sea"], ["ship", "sea"], ["dog"]]]
    >>> [kind(own, other).fit(captions).nearest("boat") for kind in (MeanSimilarity, MaxSimilarity)]
    [[('ship', 0.5)], [('ship', 1.0)]]
    """

    @staticmethod
    def _combine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return (first + second) / 2


class MaxSimilarity(_Combined):
    """The larger of two similarities (eq. 27), as of alignments and distributions.

    It need not be semidefinite, even where both of its parts are.

    Parameters
    ----------
    first, second
        Similarities; copies of them are fitted.
    """

    @staticmethod
    def _combine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.maximum(first, second)
