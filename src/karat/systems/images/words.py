"""The three kinds of words, and the words of one picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from karat.systems.images.colour import colour_points
from karat.systems.images.decoding import Source, decode_bytes, decode_image, read_bytes
from karat.systems.images.sift import sift_points
from karat.systems.images.texture import texture_points
from karat.systems.images.vocabulary import nearest_words
from karat.systems.images.word_cache import WordCache

KINDS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "colour": colour_points,
    "texture": texture_points,
    "sift": sift_points,
}
"""Kinds in the order of their columns, and what describes a picture's points."""
Vocabularies = Mapping[str, np.ndarray]


def picture_words(picture: np.ndarray, points: int, vocabularies: Vocabularies) -> np.ndarray:
    """Return the words at a decoded picture's points, [kinds, points, points].

    They are bytes where no vocabulary has more than 256 words.
    """
    found = [nearest_words(KINDS[name](picture, points), centres) for name, centres in vocabularies.items()]
    return np.stack(found).astype(word_type(vocabularies)).reshape(-1, points, points)


def word_type(vocabularies: Vocabularies) -> np.dtype:
    """Return the smallest type that holds a word's number.

    >>> word_type({"colour": np.zeros((256, 3))})
    dtype('uint8')
    """
    return np.min_scalar_type(max(len(centres) for centres in vocabularies.values()) - 1)


def source_words(
    source: Source, side: int, points: int, vocabularies: Vocabularies, cache: WordCache | None = None
) -> np.ndarray:
    """Return the words of a file or an array: from the cache, or by reading and decoding it once."""
    if isinstance(source, np.ndarray):
        return picture_words(decode_image(source, side=side), points, vocabularies)
    data = read_bytes(source)
    path = None if cache is None else cache.path(data)
    if cache is not None and path is not None and (held := cache.get(path)) is not None:
        return held
    words = picture_words(decode_bytes(data, side=side, where=source), points, vocabularies)
    if cache is not None and path is not None:
        cache.put(path, words)
    return words
