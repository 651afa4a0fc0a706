"""How alike two synsets are, for all pairs of two sets at once: by path, and by Lin's information content.

Both look for the best of the ancestors that two synsets share. Every block of pairs is solved by a few
operations on whole arrays: one per step of the longest list of ancestors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from karat.lexicon.synsets import Synsets

# More than the sum of any two distances, with room below 256 for one more (see DEEPEST).
_NO_PATH = 128
_BLOCK = 1024


def paths(wordnet: Synsets, a: np.ndarray, b: np.ndarray, simulate_root: bool) -> np.ndarray:
    """Return 1 / (1 + shortest path through a common ancestor) [a, b], and 0 where there is no path."""
    value = 1.0 / (1.0 + np.arange(256))
    value[_NO_PATH:] = 0.0
    values = np.empty((len(a), len(b)))
    for rows, columns in _blocks(len(a), len(b)):
        shared = _Shared(wordnet, a[rows], b[columns])
        table = np.full((len(shared.nodes), len(b[columns])), _NO_PATH, np.uint8)
        table[shared.b.node, shared.b.row] = shared.b.distance
        best = np.full((len(a[rows]), len(b[columns])), _NO_PATH, np.uint8)
        for row, node, distance in shared.steps():
            best[row] = np.minimum(best[row], table[node] + distance[:, None])
        if simulate_root:
            np.minimum(best, _around(wordnet, shared), out=best)
        values[rows, columns] = value[best]
    return values


def _around(wordnet: Synsets, shared: _Shared) -> np.ndarray:
    """Return the lengths of the ways over a made-up root, which nouns do without: they have one of their own.

    NLTK's convention: it lies one step above the farthest ancestor.
    """
    up = [distance[start[1:] - 1] + np.uint8(1) for start, _, distance in shared.lists]
    noun = [wordnet.parts[above[start[:-1]]] == 0 for start, above, _ in shared.lists]
    return np.where(noun[0][:, None] & noun[1], np.uint8(_NO_PATH), up[0][:, None] + up[1])


def lin(wordnet: Synsets, a: np.ndarray, b: np.ndarray, content: np.ndarray) -> np.ndarray:
    """Return 2 content of the most informative common ancestor / (content of a + content of b) [a, b]."""
    shared = _shared_content(wordnet, a, b, content)
    both = content[a][:, None] + content[b]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = 2.0 * shared / both
    # Both stand for every word that was counted: what is one is the other.
    values[both == 0] = 1.0
    values[shared < 0] = 0.0
    values[a[:, None] == b] = 1.0
    return values


def _shared_content(wordnet: Synsets, a: np.ndarray, b: np.ndarray, content: np.ndarray) -> np.ndarray:
    """Return the largest finite `content` of a common ancestor [a, b]; -1 where there is none."""
    values = np.empty((len(a), len(b)))
    counted = np.isfinite(content)
    for rows, columns in _blocks(len(a), len(b)):
        shared = _Shared(wordnet, a[rows], b[columns], counted)
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
        self, wordnet: Synsets, a: np.ndarray, b: np.ndarray, wanted: np.ndarray | None = None
    ) -> None:
        self.lists = [wordnet.ancestors(one) for one in (a, b)]
        self.nodes = np.intersect1d(self.lists[0][1], self.lists[1][1])
        if wanted is not None:
            self.nodes = self.nodes[wanted[self.nodes]]
        self.a, self.b = (self._entries(*one) for one in self.lists)

    def _entries(self, start: np.ndarray, above: np.ndarray, distance: np.ndarray) -> _Entries:
        row = np.repeat(np.arange(len(start) - 1), np.diff(start))
        node = np.searchsorted(self.nodes, above)
        kept = node < len(self.nodes)
        kept[kept] = self.nodes[node[kept]] == above[kept]
        return _Entries(row[kept], node[kept], distance[kept])

    def steps(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the k-th shared ancestor of every row that has so many: rows, nodes, distances."""
        above = self.a
        first = np.flatnonzero(np.diff(above.row, prepend=-1))
        count = np.diff(first, append=len(above.row))
        place = np.arange(len(above.row)) - np.repeat(first, count)
        order = np.argsort(place, kind="stable")
        for one in np.split(order, np.cumsum(np.bincount(place))[:-1]) if len(order) else ():
            yield above.row[one], above.node[one], above.distance[one]


def _blocks(rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    for top in range(0, rows, _BLOCK):
        for left in range(0, columns, _BLOCK):
            yield slice(top, top + _BLOCK), slice(left, left + _BLOCK)
