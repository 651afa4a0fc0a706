"""The filter by captions: pairs are worth showing to people when their caption resembles the image's own.

Hodosh, Young and Hockenmaier (JAIR 2013, §4.3.2) judge only pairs whose caption has a unigram BLEU of 0.25
or more against the image's five captions, after ROUGE's preprocessing (`bleu-pre`). `karat.captions.
filter_audit` says what that costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from karat._util import stage
from karat.benchmarks import Benchmark
from karat.captions.metric import CaptionMetric, Prepared
from karat.captions.similarity import find_metric, references_of
from karat.errors import InputError

BLOCK_CELLS = 4_000_000
"""Pairs whose φ is held at a time: 16 MB."""
HAIR = 1e-6
"""By how much φ may miss a threshold: blocks come in single precision."""


@dataclass(frozen=True, eq=False)
class CaptionFilter:
    """Keeps a pair when φ(captions of the image, caption) reaches a threshold.

    Parameters
    ----------
    benchmark
        One that holds its captions.
    metric
        φ.
    threshold
        From here on a pair is kept.
    captions
        The captions that can be paired, as indices into the gallery; the references are all captions
        of an image in any case.
    """

    benchmark: Benchmark
    metric: CaptionMetric
    threshold: float = 0.25
    captions: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def keeps(self, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
        """Return which of the given pairs are kept; a caption outside `captions` is refused."""
        return self.scores(image, caption) >= self.threshold - HAIR

    def scores(self, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
        """Return φ of given pairs, by their indices in the gallery."""
        column = np.full(len(self.benchmark.captions), -1)
        column[self.captions] = np.arange(len(self.captions))
        at = column[np.asarray(caption, dtype=np.int64)]
        if (at < 0).any():
            strange = self.benchmark.captions[np.asarray(caption)[at < 0][0]]
            raise InputError(
                f"caption {strange} is not among those that the filter reads", fix="give it in `captions`"
            )
        return self._prepared.at(np.asarray(image, dtype=np.int64), at)

    def blocks(self, threads: int | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the first image and φ of a block of images with every caption, float32, in order."""
        images = self.benchmark.images.size
        step = max(1, BLOCK_CELLS // max(1, len(self.captions)))
        with stage("comparing images with captions", images) as compared:
            for begin in range(0, images, step):
                end = min(begin + step, images)
                yield begin, self._prepared.block(begin, end, threads)
                compared.at(end)

    def kept(self, threads: int | None = None) -> np.ndarray:
        """Return which pairs are kept, bool [images, captions]: a byte per pair."""
        out = np.empty((self.benchmark.images.size, len(self.captions)), bool)
        for begin, block in self.blocks(threads):
            out[begin : begin + len(block)] = block >= self.threshold - HAIR
        return out

    def counts(self, thresholds: Sequence[float], threads: int | None = None) -> np.ndarray:
        """Return how many pairs each image keeps at each threshold, [thresholds, images], in one pass."""
        out = np.empty((len(thresholds), self.benchmark.images.size), np.int64)
        for begin, block in self.blocks(threads):
            for row, threshold in zip(out, thresholds):
                row[begin : begin + len(block)] = (block >= threshold - HAIR).sum(axis=1)
        return out

    @cached_property
    def _prepared(self) -> Prepared:
        texts = self.benchmark.texts or ()
        return self.metric.prepare(references_of(self.benchmark), [texts[k] for k in self.captions.tolist()])

    def __repr__(self) -> str:
        return f"CaptionFilter({self.metric.name} ≥ {self.threshold:g} on {self.benchmark.name})"


def caption_filter(
    benchmark: Benchmark,
    threshold: float = 0.25,
    metric: str | CaptionMetric = "bleu-pre",
    captions: np.ndarray | None = None,
) -> CaptionFilter:
    """Return the filter that keeps pairs whose caption resembles the image's own captions.

    Parameters
    ----------
    benchmark
        One that holds its captions.
    threshold
        The φ at or above which a pair is kept; 0.25 is Hodosh's.
    metric
        φ; "bleu-pre" is Hodosh's.
    captions
        Indices of the captions that can be paired; all of the gallery by default.

    Examples
    --------
    >>> from karat.benchmarks import build
    >>> texts = ["a black dog runs", "a dog", "two men sit on a bench", "men on a bench"]
    >>> whose = ["x", "x", "y", "y"]
    >>> tiny = build("tiny", ["x", "y"], ["1", "2", "3", "4"], whose, texts, where="tiny", about="")
    >>> plausible = caption_filter(tiny, metric="hodosh-bleu", threshold=0.5)
    >>> plausible
    CaptionFilter(hodosh-bleu ≥ 0.5 on tiny)
    >>> plausible.keeps([0, 0], [1, 3]).tolist(), plausible.kept().tolist()
    ([True, False], [[True, True, False, False], [False, True, True, True]])
    """
    if not np.isfinite(threshold):
        raise InputError(f"the threshold is {threshold}", fix="give a number such as 0.25")
    references_of(benchmark)  # what is missing is said now
    chosen = np.arange(benchmark.captions.size) if captions is None else np.asarray(captions, dtype=np.int64)
    if not len(chosen) or chosen.min() < 0 or chosen.max() >= benchmark.captions.size:
        raise InputError("captions names none of the gallery, or one outside it", fix="give their indices")
    return CaptionFilter(benchmark, find_metric(metric), float(threshold), np.unique(chosen))
