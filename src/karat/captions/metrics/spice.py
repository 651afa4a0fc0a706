"""SPICE: how many of a caption's scene-graph tuples are among those of an image's captions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from karat.captions.graphs.graph import SceneGraph
from karat.captions.metric import CaptionMetric, Prepared, References, register
from karat.captions.texts import check_captions, number

ReadGraphs = Callable[[Sequence[str]], Sequence[SceneGraph]]


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
        What turns a list of captions into their scene graphs; by default karat's own parser. For a spaCy
        pipeline: ``Spice(lambda texts: scene_graphs(texts, parser=SpacyParser(nlp)))``.

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

    def prepare(self, references: References, candidates: Sequence[str]) -> PreparedSpice:
        """Read every caption's scene graph, each distinct caption once."""
        from karat.captions.graphs import scene_graphs

        check_captions(references, candidates)
        texts: dict[str, int] = {}
        of_references = [number(text, texts) for group in references for text in group]
        of_candidates = [number(text, texts) for text in candidates]
        first = np.zeros(len(references) + 1, np.int64)
        np.cumsum([len(group) for group in references], out=first[1:])
        found = (self.graphs or scene_graphs)(list(texts))
        return PreparedSpice(found, first, of_references, of_candidates)


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
        from karat.captions.spice_index import match_graphs, rows_of

        found = match_graphs(graphs)
        self.n_images, self.n_captions = len(first) - 1, len(of_candidates)
        self.n_tuples = found.n_tuples
        self._tables = (
            first,
            *rows_of(found.graph_start, found.graph_tuples, of_references),
            *rows_of(found.graph_start, found.graph_tuples, of_candidates),
            found.start,
            found.matches,
        )

    def block(self, begin: int, end: int, threads: int | None = None) -> np.ndarray:
        """Return SPICE of images begin to end with every candidate, float32."""
        from karat.captions.spice_kernels import score_block
        from karat.runs.threads import threads as on_threads

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
        found, out = np.empty(len(image)), np.empty(len(image))
        marks = np.zeros(self.n_tuples, np.int32)
        score_pairs(image[order], caption[order], left[order], *self._tables, marks, found)
        out[order] = found
        return out
