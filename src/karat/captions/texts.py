"""Captions read once: each distinct one as numbers of words, and which of them are whose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from karat.captions.metric import References
from karat.validation import InputError

Tokeniser = Callable[[str], Sequence[str]]


@dataclass(frozen=True, eq=False)
class Texts:
    """The distinct texts among references and candidates.

    Parameters
    ----------
    vocabulary
        The words; a word's number is its place.
    words, start
        The words of text t are ``words[start[t]:start[t + 1]]``, as numbers.
    reference, first
        The references of image i are the texts ``reference[first[i]:first[i + 1]]``.
    candidate
        The text of each candidate.
    """

    vocabulary: list[str]
    words: np.ndarray
    start: np.ndarray
    reference: np.ndarray
    first: np.ndarray
    candidate: np.ndarray

    @property
    def n_images(self) -> int:
        """How many images have references, or could have."""
        return self.first.size - 1

    @property
    def length(self) -> np.ndarray:
        """How many words each text has."""
        return np.diff(self.start)


def read_texts(references: References, candidates: Sequence[str], tokens: Tokeniser) -> Texts:
    """Read the captions of images and the candidates.

    >>> read = read_texts([["a dog", "a cat"], []], ["a dog"], str.split)
    >>> read.vocabulary, read.words.tolist(), read.reference.tolist(), read.candidate.tolist()
    (['a', 'dog', 'cat'], [0, 1, 0, 2], [0, 1], [0])
    """
    check_captions(references, candidates)
    numbers: dict[str, int] = {}
    reference = np.array([number(text, numbers) for group in references for text in group], dtype=np.int64)
    candidate = np.array([number(text, numbers) for text in candidates], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum([len(group) for group in references], dtype=np.int64)])
    vocabulary: dict[str, int] = {}
    words: list[int] = []
    lengths = np.zeros(len(numbers) + 1, dtype=np.int64)
    for text, t in numbers.items():
        found = tokens(text)
        lengths[t + 1] = len(found)
        words += [number(word, vocabulary) for word in found]
    return Texts(
        list(vocabulary), np.array(words, dtype=np.int64), np.cumsum(lengths), reference, first, candidate
    )


def number(key: str, known: dict[str, int]) -> int:
    """Return the place of `key` among the known ones, where it is added if new."""
    return known.setdefault(key, len(known))


def check_captions(references: References, candidates: Sequence[str]) -> None:
    """Raise where one caption stands for a list of them, or a caption is no text."""
    if isinstance(candidates, str):
        raise InputError("candidates is one text", fix="give a list of captions")
    if isinstance(references, str) or any(isinstance(group, str) for group in references):
        raise InputError(
            "references holds a caption where a list of captions belongs",
            fix="give a list of captions for each image",
        )
    for what, texts in (("candidate", candidates), *(("reference", group) for group in references)):
        for text in texts:
            if not isinstance(text, str):
                raise InputError(f"{what} {text!r} is not text", fix="give captions as str")
