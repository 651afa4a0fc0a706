"""SPICE: how many of a caption's scene-graph tuples are among those of an image's captions.

Tuples become numbers, each distinct one once, and which of them match is computed once: the same words,
or words that share a meaning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from karat.captions.graphs import SceneGraph
from karat.captions.metric import CaptionMetric, Prepared, References, check_captions, register
from karat.captions.ngrams import number
from karat.errors import InputError

ReadGraphs = Callable[[Sequence[str]], Sequence[SceneGraph]]

Word = tuple[str, str]
"""A word with its role: object, attribute or relation."""

NOTHING: Word = ("", "")
MOST_WORDS = 1 << 21
"""Three words become one number of 63 bits."""
MEANINGS = {"object": "n", "attribute": None, "relation": None}
"""The part of speech whose synsets a role may share; None for any."""


@register
class Spice(CaptionMetric):
    """SPICE (Anderson et al. 2016): the F-score of a caption's tuples with those of all references together.

    The tuples of a caption are its objects, (object, attribute) and (subject, relation, object), as
    `karat.captions.graphs` reads them. Two tuples match when their words do, one by one: the same
    lemma, or a WordNet synset in common. Tuples of the references that match each other count once. With h
    matched tuples of the candidate's c and s of the references, φ = 2h / (c + s).

    A caption without an object, such as an empty one or one of only punctuation, has φ = 0, and so has every
    caption for an image without captions.

    Parameters
    ----------
    graphs
        What turns a list of captions into their scene graphs; by default karat's own parser. For another
        one: ``Spice(lambda texts: scene_graphs(texts, parser=parser))``.

    Examples
    --------
    >>> references = ["a brown horse on a beach", "a man riding a horse"]
    >>> round(Spice().pair(references, "a man on a horse"), 3)
    0.444
    >>> Spice().pair(references, "a cat on a sofa")
    0.0
    """

    name = "spice"
    formula = "2 · |T(c) ⊗ T(S)| / (|T(c)| + |T(S)|)"
    source = "Anderson et al. 2016, eqs. 3–5"

    def __init__(self, graphs: ReadGraphs | None = None) -> None:
        self.graphs = graphs

    def check_installed(self) -> None:
        """Raise where WordNet is missing."""
        from karat.lexicon import find_wordnet

        find_wordnet()

    def prepare(self, references: References, candidates: Sequence[str]) -> PreparedSpice:
        """Read every caption's scene graph, each distinct caption once."""
        from karat.captions.graphs import scene_graphs

        check_captions(references, candidates)
        texts: dict[str, int] = {}
        of_references = [number(text, texts) for group in references for text in group]
        of_candidates = [number(text, texts) for text in candidates]
        first = starts_of([len(group) for group in references])
        graphs = (self.graphs or scene_graphs)(list(texts))
        return PreparedSpice(graphs, first, of_references, of_candidates)


class PreparedSpice(Prepared):
    """The tuples of all captions as numbers, matched once.

    Parameters
    ----------
    graphs
        Of each distinct caption.
    first
        Where the references of each image begin.
    of_references, of_candidates
        The graph of each reference, and of each candidate.
    """

    def __init__(
        self,
        graphs: Sequence[SceneGraph],
        first: np.ndarray,
        of_references: Sequence[int],
        of_candidates: Sequence[int],
    ) -> None:
        tuples = match_graphs(graphs)
        self.n_images, self.n_captions = len(first) - 1, len(of_candidates)
        self.n_tuples = tuples.n_tuples
        self._tables = (
            first,
            *rows_of(tuples.graph_start, tuples.graph_tuples, of_references),
            *rows_of(tuples.graph_start, tuples.graph_tuples, of_candidates),
            tuples.start,
            tuples.matches,
        )

    def block(self, begin: int, end: int, threads: int | None = None) -> np.ndarray:
        """Return SPICE of images begin to end with every candidate, float32."""
        from karat._util import threads as on_threads
        from karat.captions.spice_kernels import score_block

        out = np.empty((end - begin, self.n_captions), np.float32)

        def part(first: int, last: int) -> None:
            rows = out[first - begin : last - begin]
            score_block(first, last, *self._tables, np.zeros(self.n_tuples, np.int32), rows)

        with on_threads(threads) as loop:
            loop(part, begin, end)
        return out

    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return SPICE of given pairs, float64."""
        from karat.captions.spice_kernels import score_pairs

        image, caption, left = self.check_pairs(image, caption, leave_out)
        # Pairs of one image follow each other, so that its references are read once.
        order = np.lexsort((left, image))
        scores, out = np.empty(len(image)), np.empty(len(image))
        marks = np.zeros(self.n_tuples, np.int32)
        score_pairs(image[order], caption[order], left[order], *self._tables, marks, scores)
        out[order] = scores
        return out


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
    for place, own in enumerate(keys):
        for key in own:
            holders[key].append(place)
    near = [sorted({place, *(n for key in own for n in holders[key])}) for place, own in enumerate(keys)]
    return starts_of([len(row) for row in near]), np.array([n for row in near for n in row], np.int64)


def starts_of(sizes: Sequence[int]) -> np.ndarray:
    """Return where each of several rows begins when they follow one another.

    >>> starts_of([2, 0, 3])
    array([0, 2, 2, 5])
    """
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out


def rows_of(start: np.ndarray, values: np.ndarray, chosen: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return chosen rows of compressed rows, in the order in which they are chosen.

    >>> rows_of(np.array([0, 2, 3]), np.array([7, 8, 9]), [1, 0])
    (array([0, 1, 3]), array([9, 7, 8]))
    """
    rows = np.asarray(chosen, np.int64)
    sizes = np.diff(start)[rows]
    out = starts_of(sizes.tolist())
    places = np.arange(out[-1]) + np.repeat(start[:-1][rows] - out[:-1], sizes)
    return out, values[places]
