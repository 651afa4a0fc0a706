"""Scene-graph tuples as numbers, and which of them match: the same words, or words that share a meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from karat.captions.graphs.graph import SceneGraph
from karat.validation import InputError

Word = tuple[str, str]
"""A word with its role: object, attribute or relation."""

NOTHING: Word = ("", "")
MOST_WORDS = 1 << 21
"""Three words become one number of 63 bits."""
MEANINGS = {"object": "n", "attribute": None, "relation": None}
"""The part of speech whose synsets a role may share; None for any."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Distinct tuples of many graphs, per graph its tuples, and per tuple those that it matches.

    Parameters
    ----------
    graph_start, graph_tuples
        The tuples of graph g are ``graph_tuples[graph_start[g]:graph_start[g + 1]]``.
    start, matches
        Tuple t matches the tuples ``matches[start[t]:start[t + 1]]``, itself among them.
    """

    graph_start: np.ndarray
    graph_tuples: np.ndarray
    start: np.ndarray
    matches: np.ndarray

    @property
    def n_tuples(self) -> int:
        """How many distinct tuples there are."""
        return len(self.start) - 1


def match_graphs(graphs: Sequence[SceneGraph]) -> Matches:
    """Number the tuples of graphs and find which match."""
    from karat.captions.spice_kernels import match_tuples

    words: dict[Word, int] = {NOTHING: 0}
    rows = [
        [words.setdefault(word, len(words)) for tuple_ in tuples_of(graph) for word in tuple_]
        for graph in graphs
    ]
    flat = np.array([place for row in rows for place in row], np.int64).reshape(-1, 3)
    base = len(words)
    if base > MOST_WORDS:
        raise InputError(f"the captions have {base:,} different words", fix="score them in several parts")
    codes, numbers = np.unique((flat[:, 0] * base + flat[:, 1]) * base + flat[:, 2], return_inverse=True)
    tuples = np.stack([codes // base**2, codes // base % base, codes % base], axis=1)
    near_start, near = near_words(list(words))
    start = np.zeros(len(codes) + 1, np.int64)
    match_tuples(tuples, codes, base, near_start, near, start, np.empty(0, np.int32), True)
    matches = np.empty(start[-1], np.int32)
    match_tuples(tuples, codes, base, near_start, near, start, matches, False)
    return Matches(
        starts_of([len(row) // 3 for row in rows]), numbers.reshape(-1).astype(np.int32), start, matches
    )


def tuples_of(graph: SceneGraph) -> Iterator[tuple[Word, Word, Word]]:
    """Yield each tuple of a graph as three words; those that it lacks are `NOTHING`.

    >>> next(tuples_of(SceneGraph(("dog",))))
    (('object', 'dog'), ('', ''), ('', ''))
    """
    for name in graph.objects:
        yield ("object", name), NOTHING, NOTHING
    for name, what in graph.attributes:
        yield ("object", name), ("attribute", what), NOTHING
    for subject, how, target in graph.relations:
        yield ("object", subject), ("relation", how), ("object", target)


def near_words(words: Sequence[Word]) -> tuple[np.ndarray, np.ndarray]:
    """Return, in compressed rows, the words that each word matches: of its role, itself or a synonym.

    >>> near_words([("object", "couch"), ("object", "cat"), ("object", "sofa")])
    (array([0, 2, 3, 5]), array([0, 2, 1, 0, 2]))
    """
    from karat.lexicon import wordnet

    meanings = wordnet().synset_keys
    holders: dict[tuple[str, int], list[int]] = defaultdict(list)
    keys = [
        [(role, meaning) for meaning in meanings(word, MEANINGS[role])] if role in MEANINGS else []
        for role, word in words
    ]
    for place, found in enumerate(keys):
        for key in found:
            holders[key].append(place)
    near = [sorted({place, *(n for key in found for n in holders[key])}) for place, found in enumerate(keys)]
    return starts_of([len(row) for row in near]), np.array([n for row in near for n in row], np.int64)


def starts_of(sizes: Sequence[int]) -> np.ndarray:
    """Return where each of several rows begins when they stand one after the other.

    >>> starts_of([2, 0, 3])
    array([0, 2, 2, 5])
    """
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out


def rows_of(start: np.ndarray, values: np.ndarray, chosen: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return chosen rows of compressed rows, in the order asked for.

    >>> rows_of(np.array([0, 2, 3]), np.array([7, 8, 9]), [1, 0])
    (array([0, 1, 3]), array([9, 7, 8]))
    """
    rows = np.asarray(chosen, np.int64)
    sizes = np.diff(start)[rows]
    out = starts_of(sizes.tolist())
    places = np.arange(out[-1]) + np.repeat(start[:-1][rows] - out[:-1], sizes)
    return out, values[places]
