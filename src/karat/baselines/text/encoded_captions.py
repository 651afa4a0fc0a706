"""Captions of items as numbers of words, in flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.errors import InputError

Captions = Sequence[Sequence[Sequence[str]]]
"""Items, each with its captions, each of these a sequence of words."""


@dataclass(frozen=True, eq=False)
class EncodedCaptions:
    """The captions of many items.

    Parameters
    ----------
    words, start
        The words of caption c are ``words[start[c]:start[c + 1]]``, as numbers.
    first
        The captions of item i are ``first[i]`` to ``first[i + 1]``.
    """

    words: np.ndarray
    start: np.ndarray
    first: np.ndarray

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def length(self) -> np.ndarray:
        """How many words each caption has."""
        return np.diff(self.start)

    @property
    def caption(self) -> np.ndarray:
        """The caption of each word."""
        return np.repeat(np.arange(len(self.start) - 1), self.length)

    @property
    def item(self) -> np.ndarray:
        """The item of each caption."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    @property
    def position(self) -> np.ndarray:
        """The place of each word in its caption, from 0."""
        return np.arange(len(self.words)) - np.repeat(self.start[:-1], self.length)

    def part(self, begin: int, end: int) -> EncodedCaptions:
        """Return some of the items, one after the other.

        >>> encode([[["a"]], [["b", "a"], []]], {"a": 0, "b": 1}).part(1, 2)
        EncodedCaptions(words=array([1, 0]), start=array([0, 2, 2]), first=array([0, 2]))
        """
        first = self.first[begin : end + 1]
        start = self.start[first[0] : first[-1] + 1]
        return EncodedCaptions(self.words[start[0] : start[-1]], start - start[0], first - first[0])

    def merged(self) -> EncodedCaptions:
        """Return items with one caption each: all of theirs, one after the other."""
        return EncodedCaptions(self.words, self.start[self.first], np.arange(len(self.first)))

    def only(self, number: int) -> EncodedCaptions:
        """Return items with one caption each: this one, or the last where an item has fewer."""
        chosen = np.minimum(self.first[:-1] + number, self.first[1:] - 1)
        read = np.zeros(len(self.start) - 1, bool)
        read[chosen] = True
        start = np.concatenate([[0], np.cumsum(self.length[chosen])])
        return EncodedCaptions(self.words[read[self.caption]], start, np.arange(len(self.first)))

    def document_counts(self, size: int) -> np.ndarray:
        """Return in how many items each of `size` words occurs."""
        item = self.item[self.caption]
        pairs = np.unique(item * np.int64(max(size, 1)) + self.words)
        return np.bincount(pairs % max(size, 1), minlength=size)


def encode(captions: Captions, numbers: dict[str, int]) -> EncodedCaptions:
    """Return captions as numbers; words that have none yet get the next ones, and are added to `numbers`.

    >>> numbers = {"dog": 0}
    >>> encode([[["big", "dog"], ["dog"]]], numbers).words, numbers
    (array([1, 0, 0]), {'dog': 0, 'big': 1})
    """
    check_captions(captions)
    flat = [caption for item in captions for caption in item]
    words = [numbers.setdefault(word, len(numbers)) for caption in flat for word in caption]
    start = np.concatenate([[0], np.cumsum([len(caption) for caption in flat])])
    first = np.concatenate([[0], np.cumsum([len(item) for item in captions])])
    return EncodedCaptions(np.array(words, np.int64), start.astype(np.int64), first.astype(np.int64))


def check_captions(captions: Captions) -> None:
    """Raise unless every item has captions, and every caption is a sequence of words."""
    if isinstance(captions, str):
        raise InputError("captions are one text", fix="give a list of items, each a list of captions")
    for i, item in enumerate(captions):
        if isinstance(item, str) or any(isinstance(caption, str) for caption in item):
            raise InputError(
                f"item {i} has a caption that is a text, not words",
                fix="give a list of captions per item and split these into words, as SystemWords does",
            )
        if not len(item):
            raise InputError(f"item {i} has no captions", fix="give one or more; a caption may be empty")
        if not all(isinstance(word, str) for caption in item for word in caption):
            raise InputError(f"item {i} has a word that is not text", fix="give words as strings")
