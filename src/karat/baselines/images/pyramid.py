"""Spatial pyramids: how often each word occurs in the picture, in its quarters and in its sixteenths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def cells(levels: int) -> int:
    """Return how many cells a pyramid has: 1 + 4 + 16 + …

    >>> cells(1), cells(3)
    (1, 21)
    """
    return (4**levels - 1) // 3


def level_weights(levels: int) -> np.ndarray:
    """Return the weights of the levels, coarsest first: Hodosh et al. (2013), eq. 8.

    With L = levels − 1: 1 / 2^L for level 0, and 1 / 2^(L − l + 1) for level l. They sum to 1.

    >>> level_weights(3)
    array([0.25, 0.25, 0.5 ])
    >>> level_weights(1)
    array([1.])
    """
    steps = np.maximum(np.arange(levels) - 1, 0)
    return 2.0 ** (steps - (levels - 1))


def pyramid_counts(words: np.ndarray, sizes: Sequence[int], levels: int) -> np.ndarray:
    """Return the histograms of all cells, uint16 [cells × words], from the words at a picture's points.

    Parameters
    ----------
    words
        Per kind of feature, the word at each point, [kinds, points, points].
    sizes
        How many words each kind has.
    levels
        Level l has 2^l × 2^l cells; the number of points along a side is a multiple of 2^(levels − 1).

    Returns
    -------
    numpy.ndarray
        Cells from coarse to fine and row by row within a level; in a cell, the kinds one after the other.
        Reshaped to [cells, words], a kind is a range of columns.

    Examples
    --------
    >>> words = np.array([[[0, 0], [0, 1]]])
    >>> pyramid_counts(words, [2], levels=2).reshape(5, 2).tolist()
    [[3, 1], [1, 0], [1, 0], [1, 0], [0, 1]]
    """
    total, points, grid = sum(sizes), words.shape[1], 2 ** (levels - 1)
    first = np.cumsum([0, *sizes[:-1]])
    cell = np.arange(points) // (points // grid)
    place = (cell[:, None] * grid + cell) * total
    index = place + first[:, None, None] + words
    finest = np.bincount(index.ravel(), minlength=grid * grid * total)
    parts = []
    for level in range(levels):
        side, joined = 2**level, grid // 2**level
        parts.append(finest.reshape(side, joined, side, joined, total).sum(axis=(1, 3)).ravel())
    return np.concatenate(parts).astype(np.uint16)
