"""All that lies above each synset, with how far it is: worked out once, when the files are read."""

from __future__ import annotations

import numpy as np

from karat.validation import InputError

DEEPEST = 60
"""No path may be longer, so that the sum of two fits one byte, with room for a mark. WordNet needs 19."""


def closures(child: np.ndarray, parent: np.ndarray, size: int) -> dict[str, np.ndarray]:
    """Return every synset's ancestors, itself included, nearest first, with their distances and depths.

    Parameters
    ----------
    child, parent
        The steps up, one per element.
    size
        The number of synsets.

    Examples
    --------
    >>> found = closures(np.array([1, 2, 2]), np.array([0, 1, 0]), 3)
    >>> found["above"], found["above_distance"]
    (array([0, 1, 0, 2, 0, 1], dtype=int32), array([0, 0, 1, 0, 1, 1], dtype=uint8))
    >>> found["min_depth"], found["max_depth"]
    (array([0, 1, 1], dtype=uint8), array([0, 1, 2], dtype=uint8))
    """
    parents = parent[np.argsort(child, kind="stable")].astype(np.int64)
    ptr = np.concatenate([[0], np.cumsum(np.bincount(child, minlength=size))])
    # A pair of a synset and an ancestor is one number, so that sets of pairs are sorted arrays.
    level = np.arange(size, dtype=np.int64) * (size + 1)
    seen, distances = level, np.zeros(size, np.uint8)
    for step in range(1, DEEPEST + 2):
        source, node = np.divmod(level, size)
        count = ptr[node + 1] - ptr[node]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        level = np.unique(np.repeat(source, count) * size + parents[np.repeat(ptr[node], count) + within])
        level = level[seen[np.minimum(np.searchsorted(seen, level), len(seen) - 1)] != level]
        if not len(level):
            break
        place = np.searchsorted(seen, level)
        seen, distances = np.insert(seen, place, level), np.insert(distances, place, step)
    else:
        raise InputError(f"a chain of hypernyms is longer than {DEEPEST} steps")
    source, node = np.divmod(seen, size)
    nearest = np.lexsort((node, distances, source))
    roots = np.diff(ptr)[node] == 0
    shallow = np.full(size, DEEPEST, np.uint8)
    np.minimum.at(shallow, source[roots], distances[roots])
    return {
        "above_start": np.concatenate([[0], np.cumsum(np.bincount(source, minlength=size))]).astype(np.int32),
        "above": node[nearest].astype(np.int32),
        "above_distance": distances[nearest],
        "min_depth": shallow,
        "max_depth": _longest(child, parent, size),
    }


def _longest(child: np.ndarray, parent: np.ndarray, size: int) -> np.ndarray:
    depth = np.zeros(size, np.uint8)
    # One round per step, and one that changes nothing.
    for _ in range(DEEPEST + 1):
        deeper = np.zeros_like(depth)
        np.maximum.at(deeper, child, depth[parent] + np.uint8(1))
        if np.array_equal(deeper, depth):
            return depth
        depth = deeper
    raise InputError("hypernyms go round in a circle")
