"""Which images of a block hold which gram, so that a candidate meets only the images it shares words with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.captions.ngrams import Grams
from karat.captions.texts import Texts


@dataclass(frozen=True, eq=False)
class Cells:
    """One cell per gram and image that holds it; in a cell, one entry per reference that holds it.

    Parameters
    ----------
    begin
        The cells of gram g are begin[g] to begin[g + 1].
    image
        Of each cell, its image, counted from the block's first.
    entry
        The entries of cell c are entry[c] to entry[c + 1].
    source, text
        Of each entry, its place in ``grams.gram`` and the reference's text.
    """

    begin: np.ndarray
    image: np.ndarray
    entry: np.ndarray
    source: np.ndarray
    text: np.ndarray


def ranges(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the numbers of several ranges, one after the other.

    >>> ranges(np.array([0, 7]), np.array([2, 10])).tolist()
    [0, 1, 7, 8, 9]
    """
    sizes = end - begin
    return np.repeat(begin - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())


def find_cells(texts: Texts, grams: Grams, begin: int, end: int) -> Cells:
    """Return the cells of the images begin to end."""
    first = texts.first[begin : end + 1]
    reference = texts.reference[first[0] : first[-1]]
    begins, ends = grams.start[reference, 0], grams.start[reference, -1]
    source = ranges(begins, ends)
    text = np.repeat(reference, ends - begins)
    image = np.repeat(np.repeat(np.arange(end - begin), np.diff(first)), ends - begins)
    key = grams.gram[source] * np.int64(max(1, end - begin)) + image
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.ones(key.size, dtype=bool)
    new[1:] = key[1:] != key[:-1]
    entry = np.append(np.flatnonzero(new), key.size)
    gram, image = np.divmod(key[new], np.int64(max(1, end - begin)))
    counts = np.bincount(gram, minlength=grams.plain.size)
    return Cells(
        np.concatenate([[0], np.cumsum(counts)]), image.astype(np.int32), entry, source[order], text[order]
    )
