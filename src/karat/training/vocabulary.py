"""Words as numbers: the vocabulary of training captions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from karat.errors import InputError

PADDING, UNKNOWN = 0, 1
"""The numbers of no word and of a word that the vocabulary lacks."""


def split_words(text: str) -> Sequence[str]:
    """Return the words of a caption, as caption metrics read it."""
    from karat.captions import tokenise

    return tokenise(text)


class CaptionVocabulary:
    """The words of training captions, numbered from 2 by how often they occur.

    Parameters
    ----------
    words
        In the order of their numbers.
    length
        How many words of a caption are read; shorter ones are padded with 0.

    Examples
    --------
    >>> vocabulary = CaptionVocabulary.of(["a dog runs", "a dog", "two men"], minimum=2, length=4)
    >>> vocabulary.words
    ('a', 'dog')
    >>> vocabulary.numbers(["a dog sleeps", "men"]).tolist()
    [[2, 3, 1, 0], [1, 0, 0, 0]]
    """

    def __init__(self, words: Iterable[str], length: int = 24) -> None:
        self.words, self.length = tuple(words), int(length)
        if self.length < 1:
            raise InputError(f"length is {length}", fix="read one word of a caption or more")
        self._number = {word: number for number, word in enumerate(self.words, UNKNOWN + 1)}

    @classmethod
    def of(cls, captions: Iterable[str], *, minimum: int = 2, length: int = 24) -> CaptionVocabulary:
        """Return the words of at least `minimum` captions; equally frequent ones by the alphabet."""
        counts = Counter(word for text in captions for word in set(split_words(text)))
        known = sorted((-count, word) for word, count in counts.items() if count >= minimum)
        return cls((word for _, word in known), length)

    def __len__(self) -> int:
        """Return how many numbers there are, those of no word and of an unknown word included."""
        return len(self.words) + UNKNOWN + 1

    def __contains__(self, word: str) -> bool:
        return word in self._number

    def numbers(self, captions: Sequence[str]) -> np.ndarray:
        """Return the numbers of the words of captions, int64 [captions, length]."""
        table = np.full((len(captions), self.length), PADDING, np.int64)
        for row, text in zip(table, captions):
            words = split_words(text)[: self.length]
            row[: len(words)] = [self._number.get(word, UNKNOWN) for word in words]
        return table
