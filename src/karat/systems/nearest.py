"""Nearest neighbours: what goes with the training item that is most like the query."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.systems.centring import as_floats
from karat.systems.estimator import Estimator
from karat.systems.nearest_run import DirectedRun
from karat.validation import InputError


class NearestNeighbour(Estimator):
    """Score the other side's items by their similarity to the query's nearest training pair.

    With similarities f_I of images and f_S of texts (Hodosh et al. 2013, eq. 2):

        image → text:  f(i, s) = f_S(s_t, s)  for the training pair t that maximises f_I(i, i_t)
        text → image:  f(i, s) = f_I(i_t, i)  for the training pair t that maximises f_S(s, s_t)

    so the two directions have scores of their own. The system is in the two tables: `WordF1` of
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
            raise InputError(f"{self.neighbours} neighbours were asked for", fix="ask for 1 or more")
        images, captions = as_floats(images, "the image side"), as_floats(captions, "the caption side")
        if images.shape[1] != captions.shape[1]:
            raise InputError(
                f"images are compared with {images.shape[1]:,} training pairs, captions with "
                f"{captions.shape[1]:,}",
                fix="give both tables a column per training pair, in one order",
            )
        return {"i2t": self._transfer(images, captions), "t2i": self._transfer(captions, images)}

    def _transfer(self, asking: np.ndarray, asked: np.ndarray) -> np.ndarray:
        number = min(self.neighbours, asking.shape[1])
        if number == 1:
            return np.ascontiguousarray(asked[:, asking.argmax(axis=1)].T)
        nearest = np.argsort(-asking, axis=1, kind="stable")[:, :number]
        total = np.zeros((len(asking), len(asked)), asked.dtype)
        for column in nearest.T:
            total += asked[:, column].T
        return total / asked.dtype.type(number)

    def run(
        self, images: Any, captions: Any, name: str = "nearest", ids: dict[str, Any] | None = None
    ) -> DirectedRun:
        """Return the scores as a run."""
        tables = self.scores(images, captions)
        return DirectedRun(tables["i2t"], tables["t2i"], name, ids)
