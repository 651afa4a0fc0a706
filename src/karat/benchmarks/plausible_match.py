"""Plausible Match: an image and a caption match when their images show nearly the same classes."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from karat.benchmarks.sides import Direction, asks_first, turned

BLOCK = 1 << 22
"""Pairs whose distance is computed at once."""


class PlausibleMatch:
    """The rule of Plausible Match (Chun et al., CVPR 2021; ECCV Caption §4.1).

    Each image has a vector of the classes that it shows; a caption has that of its image. A pair is
    relevant when the two vectors differ in at most ζ classes. At ζ = 2 COCO's test split has
    13 million such pairs, so they are never listed: the class vectors, packed to bits, are compared.

    Parameters
    ----------
    vectors
        Which classes each image shows, booleans [images, classes].
    caption_image
        For each caption, the index of its image.
    zeta
        The most classes in which the vectors may differ.

    Examples
    --------
    >>> rule = PlausibleMatch(np.array([[1, 1], [1, 0], [0, 0]], bool), np.array([0, 1, 2]), zeta=1)
    >>> rule.relevant("i2t", np.array([0, 0]), np.array([1, 2])).tolist()
    [True, False]
    >>> rule.positives("i2t", np.arange(3)).tolist()
    [2, 3, 2]
    """

    def __init__(self, vectors: np.ndarray, caption_image: np.ndarray, zeta: int = 2) -> None:
        self.zeta = int(zeta)
        self.caption_image = np.asarray(caption_image)
        bits = np.packbits(np.asarray(vectors, dtype=bool), axis=1)
        words = -(-bits.shape[1] // 8) or 1
        padded = np.zeros((len(bits), 8 * words), np.uint8)
        padded[:, : bits.shape[1]] = bits
        self.words = padded.view(np.uint64)

    def images_of(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return the image of each query: itself, or the one that a caption was written for."""
        return queries if asks_first(direction) else self.caption_image[queries]

    def relevant(self, direction: Direction, queries: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Return whether the class vectors of each pair differ in at most ζ classes."""
        first = self.images_of(direction, queries)
        second = self.images_of(turned(direction), items)
        differ = np.bitwise_count(self.words[first] ^ self.words[second]).sum(axis=1)
        return differ <= self.zeta

    def positives(self, direction: Direction, queries: np.ndarray) -> np.ndarray:
        """Return how many items match each query."""
        weight = self._captions_per_image if asks_first(direction) else np.ones(len(self.words), np.int64)
        images, which = np.unique(self.images_of(direction, queries), return_inverse=True)
        counts = np.zeros(len(images), np.int64)
        step = max(1, BLOCK // max(1, len(self.words)))
        for begin in range(0, len(images), step):
            block = self.words[images[begin : begin + step]]
            differ = np.bitwise_count(block[:, None] ^ self.words).sum(axis=2)
            counts[begin : begin + step] = (differ <= self.zeta) @ weight
        return counts[which]

    @cached_property
    def _captions_per_image(self) -> np.ndarray:
        return np.bincount(self.caption_image, minlength=len(self.words))
