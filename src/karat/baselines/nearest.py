"""Nearest neighbours: rank by the training item most like the query, and the run that results."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from karat.baselines.estimator import Estimator
from karat.baselines.kernel_matrix import as_floats
from karat.benchmarks import DIRECTIONS, Benchmark, Direction, JudgedItems
from karat.errors import InputError
from karat.runs import MatrixRun, PassOptions, Run, Scanned, Top, TopRequest


class NearestNeighbour(Estimator):
    """Score the other side's items by their similarity to the query's nearest training pair.

    With similarities f_I of images and f_S of texts (Hodosh et al. 2013, eq. 2):

        image → text:  f(i, s) = f_S(s_t, s)  for the training pair t that maximises f_I(i, i_t)
        text → image:  f(i, s) = f_I(i_t, i)  for the training pair t that maximises f_S(s, s_t)

    so each direction has its own scores. The model is in the two tables: `WordF1` of
    test captions with training documents gives the paper's NN5 with F1, a bag-of-words or trigram
    kernel its other two. Nothing is learned, so there is no `fit`.

    Parameters
    ----------
    neighbours
        How many nearest pairs; their similarities are averaged. The paper has 1. Of pairs that
        are equally near, the earlier in training counts.

    Examples
    --------
    >>> images = np.array([[0.9, 0.1], [0.2, 0.7]])    # test images x training images
    >>> captions = np.array([[0.8, 0.3], [0.1, 0.5]])  # test captions x training captions
    >>> tables = NearestNeighbour().scores(images, captions)
    >>> tables["i2t"]
    array([[0.8, 0.1],
           [0.3, 0.5]])
    >>> tables["t2i"]
    array([[0.9, 0.2],
           [0.1, 0.7]])
    >>> NearestNeighbour().run(images, captions).top("i2t", 1).item.tolist()
    [0, 1]
    """

    def __init__(self, neighbours: int = 1) -> None:
        self.neighbours = neighbours

    def scores(self, images: Any, captions: Any) -> dict[str, np.ndarray]:
        """Return the scores of both directions, queries by items.

        Parameters
        ----------
        images, captions
            Similarities of the test images and of the test captions (rows) with the training
            pairs (columns, in one order).
        """
        if self.neighbours < 1:
            raise InputError(f"{self.neighbours} neighbours were requested", fix="give 1 or more")
        images, captions = as_floats(images, "the image side"), as_floats(captions, "the caption side")
        if images.shape[1] != captions.shape[1]:
            raise InputError(
                f"images are compared with {images.shape[1]:,} training pairs, captions with "
                f"{captions.shape[1]:,}",
                fix="give both tables a column per training pair, in one order",
            )
        return dict(zip(DIRECTIONS, (self._transfer(images, captions), self._transfer(captions, images))))

    def _transfer(self, queries: np.ndarray, items: np.ndarray) -> np.ndarray:
        number = min(self.neighbours, queries.shape[1])
        if number == 1:
            return np.ascontiguousarray(items[:, queries.argmax(axis=1)].T)
        nearest = np.argsort(-queries, axis=1, kind="stable")[:, :number]
        total = np.zeros((len(queries), len(items)), items.dtype)
        for column in nearest.T:
            total += items[:, column].T
        return total / items.dtype.type(number)

    def run(
        self, images: Any, captions: Any, name: str = "nearest", ids: dict[str, Any] | None = None
    ) -> DirectedRun:
        """Return the scores as a run."""
        by_images, by_captions = self.scores(images, captions).values()
        return DirectedRun(by_images, by_captions, name, ids)


class DirectedRun(Run):
    """Two score tables, one per direction, each queries by items.

    Parameters
    ----------
    image_scores
        For image queries: images by captions.
    caption_scores
        For caption queries: captions by images.
    name, ids, where
        See `karat.load_run`.

    Examples
    --------
    >>> run = DirectedRun(np.array([[0.9, 0.1]]), np.array([[0.2], [0.3]]))
    >>> run.top("i2t", 1).score.tolist(), run.top("t2i", 1).score.tolist()
    ([0.9], [0.2, 0.3])
    """

    kind = "two score tables"

    def __init__(
        self,
        image_scores: Any,
        caption_scores: Any,
        name: str = "run",
        ids: dict[str, Any] | None = None,
        where: str | None = None,
    ) -> None:
        super().__init__(name, where)
        both = (np.asarray(image_scores), np.asarray(caption_scores).T)
        self.tables: dict[Direction, MatrixRun] = {
            direction: MatrixRun(table, name, ids, where) for direction, table in zip(DIRECTIONS, both)
        }
        shapes = [table.images_by_captions for table in self.tables.values()]
        if shapes[0] != shapes[1]:
            raise InputError(
                f"image queries have {shapes[0][0]:,} by {shapes[0][1]:,} scores, caption queries "
                f"{shapes[1][1]:,} by {shapes[1][0]:,}",
                where=where or name,
                fix="score every image with every caption in both directions",
            )

    @property
    def extent(self) -> str:
        """Images by captions."""
        return next(iter(self.tables.values())).extent

    @property
    def directions(self) -> tuple[Direction, ...]:
        """One for each table."""
        return tuple(self.tables)

    def align(self, benchmark: Benchmark) -> DirectedRun:
        """Return the run with its rows and columns matched to the benchmark's ids."""
        if self.benchmark is benchmark:
            return self
        aligned = copy(self)
        aligned.benchmark = benchmark
        tables = (table.align(benchmark) for table in self.tables.values())
        aligned.tables = dict(zip(benchmark.directions, tables))
        return aligned

    def _scan(self, items: list[JudgedItems], tops: list[TopRequest], options: PassOptions) -> Scanned:
        """Return where items come out and the first items of queries, in one pass over each table."""
        placed: dict[int, JudgedItems] = {}
        listed: dict[int, Top] = {}
        for direction, table in self.tables.items():
            own = [k for k, part in enumerate(items) if part.direction == direction]
            asked = [k for k, request in enumerate(tops) if request.direction == direction]
            if own or asked:
                wanted = [tops[k] for k in asked]
                scanned = table.scan([items[k] for k in own], tops=wanted, options=options)
                placed.update(zip(own, scanned.placed))
                listed.update(zip(asked, scanned.tops))
        return Scanned([placed[k] for k in range(len(items))], tops=[listed[k] for k in range(len(tops))])
