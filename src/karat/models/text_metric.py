"""A model of texts as a caption metric: an image is seen through the captions that were written for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat.captions import CaptionMetric, Prepared, References
from karat.models.cosine import unit
from karat.models.encoder import load_model
from karat.models.summariser import Summariser

EMPTY = 1e-6
"""A sum of unit vectors that is shorter has no direction: only rounding is left."""


class TextMetric(CaptionMetric):
    """The cosine of a caption's vector and the mean of the vectors of the image's captions.

    Vectors have length 1 before they are averaged (Explainable §3.2). With a summariser, the image's captions
    become one text first, and the model is applied once. An image without captions has φ = 0.

    Parameters
    ----------
    model
        One that encodes texts, or its name, as `karat.load_model` takes it.
    summariser
        What makes one text of an image's captions; None averages the vectors of all.

    Examples
    --------
    >>> def words(texts):
    ...     return [[float(word in text.split()) for word in ("dog", "cat", "runs")] for text in texts]
    >>> round(TextMetric(words).pair(["a dog runs", "a dog"], "a dog"), 3)
    0.924
    """

    name = "text model"
    formula = "cos(mean_r v_r, v_s), vectors v of length 1"
    source = "Explainable, section 3.2"

    def __init__(self, model: Any, summariser: Summariser | None = None) -> None:
        self.encoder, self.summariser = load_model(model), summariser

    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        """Encode every distinct text once."""
        if self.summariser is not None:
            return PreparedSummaries(self, self.summariser, references, candidates)
        return PreparedMeans(self, references, candidates)


class TextVectors:
    """The vectors of distinct texts, of length 1 (or 0), by text.

    In double precision: a score is then the same, once rounded, in whichever table it is computed.
    """

    def __init__(self, metric: TextMetric, texts: Sequence[str]) -> None:
        distinct = list(dict.fromkeys(texts))
        self.number = {text: k for k, text in enumerate(distinct)}
        rows = metric.encoder.encode_texts(distinct)
        self.rows = unit(rows.astype(np.float64))

    def of(self, texts: Sequence[str]) -> np.ndarray:
        """Return a row per text."""
        return self.rows[[self.number[text] for text in texts]]


class PreparedMeans(Prepared):
    """Sums of the vectors of images' captions, and the vectors of candidates."""

    def __init__(self, metric: TextMetric, references: References, candidates: Sequence[str]) -> None:
        flat = [text for own in references for text in own]
        vectors = TextVectors(metric, [*flat, *candidates])
        self.references, self.captions = vectors.of(flat), vectors.of(candidates)
        self.first = np.concatenate([[0], np.cumsum([len(own) for own in references], dtype=np.int64)])
        self.n_images, self.n_captions = len(references), len(candidates)
        self.sums = np.zeros((self.n_images, self.captions.shape[1]))
        owner = np.repeat(np.arange(self.n_images), np.diff(self.first))
        np.add.at(self.sums, owner, self.references)

    def block(self, begin: int, end: int, threads: int | None = None) -> np.ndarray:
        """Return the cosines of some images with every candidate."""
        return (directions(self.sums[begin:end]) @ self.captions.T).astype(np.float32)

    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return the cosines of pairs."""
        image, caption, left = self.check_pairs(image, caption, leave_out)
        sums, without = self.sums[image], left >= 0
        sums[without] -= self.references[self.first[image[without]] + left[without]]
        return np.einsum("ij,ij->i", directions(sums), self.captions[caption])


class PreparedSummaries(Prepared):
    """The vector of one text per image, summarised anew where a caption is left out."""

    def __init__(
        self, metric: TextMetric, summariser: Summariser, references: References, candidates: Sequence[str]
    ) -> None:
        self.metric, self.summariser, self.references = metric, summariser, references
        self.n_images, self.n_captions = len(references), len(candidates)
        self.captions = TextVectors(metric, candidates).of(candidates)
        self.images = self._vectors(references)

    def _vectors(self, groups: References) -> np.ndarray:
        """Return the vector of the summary of each group; 0 where there is nothing to summarise."""
        some = [k for k, group in enumerate(groups) if group]
        rows = np.zeros((len(groups), self.captions.shape[1]))
        if some:
            summaries = self.summariser.summarise([groups[k] for k in some])
            rows[some] = TextVectors(self.metric, summaries).of(summaries)
        return rows

    def block(self, begin: int, end: int, threads: int | None = None) -> np.ndarray:
        """Return the cosines of some images with every candidate."""
        return (self.images[begin:end] @ self.captions.T).astype(np.float32)

    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return the cosines of pairs."""
        image, caption, left = self.check_pairs(image, caption, leave_out)
        rows = self.images[image]
        without = np.flatnonzero(left >= 0)
        groups = [
            [text for k, text in enumerate(self.references[i]) if k != number]
            for i, number in zip(image[without].tolist(), left[without].tolist())
        ]
        rows[without] = self._vectors(groups)
        return np.einsum("ij,ij->i", rows, self.captions[caption])


def directions(sums: np.ndarray) -> np.ndarray:
    """Return rows of length 1; 0 where only rounding is left."""
    length = np.linalg.norm(sums, axis=1)
    return np.where(length > EMPTY, 1 / np.where(length > EMPTY, length, 1), 0.0)[:, None] * sums
