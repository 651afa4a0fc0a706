"""Words that occur in sentences with the same other words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from karat._util import read_text
from karat.baselines.text.encoded_captions import Captions, check_captions
from karat.baselines.text.similarity import Similarity, cosines
from karat.captions import SystemWords
from karat.errors import InputError, MissingDataError

Sentences = Iterable[Sequence[str]]


class DistributionalSimilarity(Similarity):
    r"""The cosine of what words occur with (Hodosh et al. 2013, eq. 24).

    A word is the vector of its non-negative pointwise mutual information with all other words,
    :math:`\max(0, \log_2 \frac{P(w, w_i)}{P(w) P(w_i)})`, where P is the share of sentences that have a
    word, or both. With a threshold of 0 it is semidefinite. A word that occurs with no other more often than
    by chance is similar to itself alone.

    Parameters
    ----------
    least
        How often a word must occur in the corpus.
    threshold
        Similarities below it become 0.
    itself
        Whether the vector of a word has an element for the word itself. The paper does not say; without it,
        the ten similarities of its figure 3 come out from the authors' lemmas within 0.01, with it within
        0.06.
    corpus
        Sentences as sequences of words, from which to learn (:func:`read_corpus` makes them). Then words
        must occur `least` times in the training captions, too, and are compared by all frequent words of
        the corpus. None: the training captions.

    Attributes
    ----------
    words_, matrix_
        The frequent words, in alphabetical order, and their similarities.

    Examples
    --------
    >>> captions = [[["dog", "grass"], ["puppy", "grass"], ["boat", "sea"], ["ship", "sea"]]]
    >>> learned = DistributionalSimilarity(least=1).fit(captions)
    >>> [(word, round(value, 3)) for word, value in learned.nearest("boat", 2)]
    [('ship', 1.0)]
    """

    def __init__(
        self,
        least: int = 5,
        threshold: float = 0.01,
        itself: bool = False,
        corpus: Sentences | None = None,
    ) -> None:
        self.least, self.threshold, self.itself, self.corpus = least, threshold, itself, corpus

    def fit(self, captions: Captions, tags: Captions | None = None) -> Self:
        """Learn from the captions, or from the corpus for the words of the captions."""
        check_captions(captions)
        own = [caption for item in captions for caption in item]
        sentences = own if self.corpus is None else [*self.corpus]
        if not sentences:
            raise InputError("the corpus has no sentences", fix="give some, as read_corpus returns them")
        contexts = frequent(sentences, self.least)
        seen = set(contexts) if self.corpus is None else {*contexts} & {*frequent(own, self.least)}
        self.words_ = [word for word in contexts if word in seen]
        vectors = mutual_information(sentences, self.words_, contexts, self.itself)
        self.matrix_ = cosines(vectors, self.threshold)
        return self

    def __repr__(self) -> str:
        if self.corpus is None:
            return super().__repr__()
        # Never the sentences themselves.
        shown = f"least={self.least}, threshold={self.threshold}, itself={self.itself}, corpus=..."
        return f"{type(self).__name__}({shown})"


def frequent(sentences: Sentences, least: int) -> list[str]:
    """Return the words that occur at least `least` times, in alphabetical order.

    >>> frequent([["b", "a", "b"], ["a", "c"]], 2)
    ['a', 'b']
    """
    counts = Counter(word for sentence in sentences for word in sentence)
    return sorted(word for word, count in counts.items() if count >= least)


def mutual_information(
    sentences: Sequence[Sequence[str]], words: list[str], contexts: list[str], itself: bool = False
) -> Any:
    """Return the non-negative pointwise mutual information of words with contexts, as sparse rows.

    Parameters
    ----------
    sentences
        The corpus.
    words, contexts
        The rows and the columns; words are contexts, too.
    itself
        Whether a word has an element for itself; it is 0 otherwise.

    Examples
    --------
    >>> corpus = [["a", "b"], ["a"], ["c"], ["c"]]
    >>> mutual_information(corpus, ["a", "c"], ["a", "b", "c"], itself=True).toarray()
    array([[1., 1., 0.],
           [0., 0., 1.]])
    >>> mutual_information(corpus, ["a", "c"], ["a", "b", "c"]).toarray()
    array([[0., 1., 0.],
           [0., 0., 0.]])
    """
    from scipy.sparse import csr_array

    place = {word: k for k, word in enumerate(contexts)}
    rows = [[place[word] for word in dict.fromkeys(sentence) if word in place] for sentence in sentences]
    indices = np.array([k for row in rows for k in row], np.int64)
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    has = csr_array((np.ones(len(indices)), indices, start), shape=(len(rows), len(contexts)))
    chosen = np.array([place[word] for word in words], np.int64)
    both = csr_array(has[:, chosen].T @ has)
    count = np.bincount(indices, minlength=len(contexts)).astype(np.float64)
    row = np.repeat(np.arange(len(words)), np.diff(both.indptr))
    both.data = np.log2(both.data * len(rows) / (count[chosen][row] * count[both.indices]))
    both.data = np.maximum(both.data, 0.0)
    if not itself:
        both.data[both.indices == chosen[row]] = 0.0
    return both


def read_corpus(path: str | Path, words: SystemWords, one_per_line: bool = False) -> list[tuple[str, ...]]:
    """Return the sentences of a plain text file as the words that retrieval models see.

    Parameters
    ----------
    path
        A text in UTF-8. Sentences end with ``.``, ``!`` or ``?``, and at empty lines.
    words
        The preprocessing, fitted on the training captions.
    one_per_line
        Whether every line is one sentence instead.
    """
    path = Path(path)
    if not path.is_file():
        raise MissingDataError("there is no such text", where=path, fix="give a plain text file")
    text = read_text(path)
    sentences = text.splitlines() if one_per_line else re.split(r"(?<=[.!?])\s+|\n\s*\n", text)
    return words.transform([" ".join(sentence.split()) for sentence in sentences if sentence.strip()])
