"""The hierarchy: all that lies above each synset, how far it is, and how alike two synsets are by it.

`closures` works out the ancestors once, when the files are read; `Hierarchy` looks them up. Similarities,
by path and by Lin's information content, are for all pairs of two sets at once. Both look for the best of
the ancestors that two synsets share. Every block of pairs is solved by a few operations on whole arrays:
one per step of the longest list of ancestors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from karat.errors import InputError

DEEPEST = 60
"""No path may be longer, so that the sum of two fits one byte, with room for a mark. WordNet needs 19."""
# More than the sum of any two distances, with room below 256 for one more (see DEEPEST).
_NO_PATH = 128
_BLOCK = 1024

Ancestors = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Of several synsets: where the ancestors of each begin, the ancestors, and how far they are."""


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
    >>> above = closures(np.array([1, 2, 2]), np.array([0, 1, 0]), 3)
    >>> above["above"], above["above_distance"]
    (array([0, 1, 0, 2, 0, 1], dtype=int32), array([0, 0, 1, 0, 1, 1], dtype=uint8))
    >>> above["min_depth"], above["max_depth"]
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
    raise InputError("hypernyms form a cycle")


class Hierarchy:
    """What lies above each synset, over hypernyms and instance hypernyms.

    Parameters
    ----------
    arrays
        Those that :func:`closures` returned.
    nouns
        Which synsets are nouns.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], nouns: np.ndarray) -> None:
        self.nouns = nouns
        self.min_depth, self.max_depth = arrays["min_depth"], arrays["max_depth"]
        self._start, self._above, self._distance = (
            arrays[name] for name in ("above_start", "above", "above_distance")
        )

    def ancestors(self, rows: np.ndarray) -> Ancestors:
        """Return the ancestors of each synset, itself included, nearest first."""
        begin, end = (self._start[rows + step].astype(np.int64) for step in (0, 1))
        start = np.concatenate([[0], np.cumsum(end - begin)])
        places = np.arange(start[-1]) + np.repeat(begin - start[:-1], end - begin)
        return start, self._above[places], self._distance[places]


def paths(hierarchy: Hierarchy, a: np.ndarray, b: np.ndarray, simulate_root: bool) -> np.ndarray:
    """Return 1 / (1 + shortest path through a common ancestor) [a, b], and 0 where there is no path."""
    value = 1.0 / (1.0 + np.arange(256))
    value[_NO_PATH:] = 0.0
    values = np.empty((len(a), len(b)))
    for rows, columns in _blocks(len(a), len(b)):
        shared = _Shared(hierarchy, a[rows], b[columns])
        table = np.full((len(shared.nodes), len(b[columns])), _NO_PATH, np.uint8)
        table[shared.b.node, shared.b.row] = shared.b.distance
        best = np.full((len(a[rows]), len(b[columns])), _NO_PATH, np.uint8)
        for row, node, distance in shared.steps():
            best[row] = np.minimum(best[row], table[node] + distance[:, None])
        if simulate_root:
            np.minimum(best, _around(hierarchy, shared), out=best)
        values[rows, columns] = value[best]
    return values


def _around(hierarchy: Hierarchy, shared: _Shared) -> np.ndarray:
    """Return the lengths of the paths over an artificial root, except for nouns, which have a root.

    NLTK's convention: it lies one step above the farthest ancestor.
    """
    up = [distance[start[1:] - 1] + np.uint8(1) for start, _, distance in shared.lists]
    noun = [hierarchy.nouns[above[start[:-1]]] for start, above, _ in shared.lists]
    return np.where(noun[0][:, None] & noun[1], np.uint8(_NO_PATH), up[0][:, None] + up[1])


def lin(hierarchy: Hierarchy, a: np.ndarray, b: np.ndarray, content: np.ndarray) -> np.ndarray:
    """Return 2 content of the most informative common ancestor / (content of a + content of b) [a, b]."""
    shared = _shared_content(hierarchy, a, b, content)
    both = content[a][:, None] + content[b]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = 2.0 * shared / both
    # Both count every word: what is one is the other.
    values[both == 0] = 1.0
    values[shared < 0] = 0.0
    values[a[:, None] == b] = 1.0
    return values


def _shared_content(hierarchy: Hierarchy, a: np.ndarray, b: np.ndarray, content: np.ndarray) -> np.ndarray:
    """Return the largest finite `content` of a common ancestor [a, b]; -1 where there is none."""
    values = np.empty((len(a), len(b)))
    counted = np.isfinite(content)
    for rows, columns in _blocks(len(a), len(b)):
        shared = _Shared(hierarchy, a[rows], b[columns], counted)
        # Ranks instead of values: a quarter of the memory, and as good for finding the largest.
        order = np.argsort(content[shared.nodes], kind="stable")
        rank = np.empty(len(order), np.uint16 if len(order) < 1 << 16 else np.uint32)
        rank[order] = np.arange(1, len(order) + 1)
        table = np.zeros((len(shared.nodes), len(b[columns])), rank.dtype)
        table[shared.b.node, shared.b.row] = rank[shared.b.node]
        best = np.zeros((len(a[rows]), len(b[columns])), rank.dtype)
        for row, node, _ in shared.steps():
            best[row] = np.maximum(best[row], table[node])
        values[rows, columns] = np.concatenate([[-1.0], content[shared.nodes][order]])[best]
    return values


class _Entries:
    """Pairs of a synset (its row) and an ancestor (its number among the shared ones)."""

    def __init__(self, row: np.ndarray, node: np.ndarray, distance: np.ndarray) -> None:
        self.row, self.node, self.distance = row, node, distance


class _Shared:
    """The ancestors that some synset of `a` and some synset of `b` have in common."""

    def __init__(
        self, hierarchy: Hierarchy, a: np.ndarray, b: np.ndarray, allowed: np.ndarray | None = None
    ) -> None:
        self.lists = [hierarchy.ancestors(rows) for rows in (a, b)]
        self.nodes = np.intersect1d(self.lists[0][1], self.lists[1][1])
        if allowed is not None:
            self.nodes = self.nodes[allowed[self.nodes]]
        self.a, self.b = (self._entries(*ancestors) for ancestors in self.lists)

    def _entries(self, start: np.ndarray, above: np.ndarray, distance: np.ndarray) -> _Entries:
        row = np.repeat(np.arange(len(start) - 1), np.diff(start))
        node = np.searchsorted(self.nodes, above)
        shared = node < len(self.nodes)
        shared[shared] = self.nodes[node[shared]] == above[shared]
        return _Entries(row[shared], node[shared], distance[shared])

    def steps(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the k-th shared ancestor of every row that has that many: rows, nodes, distances."""
        above = self.a
        first = np.flatnonzero(np.diff(above.row, prepend=-1))
        count = np.diff(first, append=len(above.row))
        place = np.arange(len(above.row)) - np.repeat(first, count)
        order = np.argsort(place, kind="stable")
        for step in np.split(order, np.cumsum(np.bincount(place))[:-1]) if len(order) else ():
            yield above.row[step], above.node[step], above.distance[step]


def _blocks(rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    for top in range(0, rows, _BLOCK):
        for left in range(0, columns, _BLOCK):
            yield slice(top, top + _BLOCK), slice(left, left + _BLOCK)
