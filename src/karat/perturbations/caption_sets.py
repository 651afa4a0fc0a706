"""Caption sets: an image's captions together as one query, whose scores are the means of theirs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
from karat.perturbations.changed_run import CAPTIONS_ASK, ChangedRun
from karat.runs import EmbeddingRun, MatrixRun, Run, TableRun

TRUTH = "own image"
"""The truth of caption sets: the image that the captions were written for."""


@dataclass(frozen=True, eq=False)
class CaptionSets:
    """The caption sets of a benchmark.

    Parameters
    ----------
    benchmark
        One whose captions are the sets, with their own images as its truth.
    members
        The captions of each set, [most captions, sets]; −1 where a set has fewer.
    """

    benchmark: Benchmark
    members: np.ndarray

    def with_any(self, captions: np.ndarray) -> np.ndarray:
        """Return the sets that have any of some captions, sorted."""
        return np.flatnonzero((np.isin(self.members, captions) & (self.members >= 0)).any(axis=0))

    def run(self, before: Run, after: ChangedRun | None = None) -> Run | None:
        """Return a run whose queries are the sets; None where scores cannot be averaged.

        Parameters
        ----------
        before
            Matched to the benchmark of the captions.
        after
            Replaces the captions that it has.
        """
        if isinstance(before, EmbeddingRun) and (after is None or isinstance(after.run, EmbeddingRun)):
            # The mean of products with a vector is the product with the mean vector.
            vectors = _captions_of(before, after)
            total = sum(np.where((each >= 0)[:, None], vectors[each], 0.0) for each in self.members)
            means = total / (self.members >= 0).sum(axis=0)[:, None]
            ids = {kind: ids for kind, ids in before.ids.items() if kind == "images"}
            run: TableRun = EmbeddingRun(before.images, means, before.name, ids=ids, where=before.where)
        elif isinstance(before, MatrixRun) and (after is None or isinstance(after.run, MatrixRun)):
            run = SetRun(SetScores(self.members, before, after), before.name, before.where)
        else:
            return None
        return run.align(self.benchmark)


def _captions_of(before: EmbeddingRun, after: ChangedRun | None) -> np.ndarray:
    """Return the vectors of all captions in the order of the benchmark, in double precision."""
    vectors = before.captions[before.maps(CAPTIONS_ASK)[0]].astype(np.float64)
    if after is not None:
        assert isinstance(after.run, EmbeddingRun)
        vectors[after.captions] = after.run.captions[after.run.maps(CAPTIONS_ASK)[0][after.captions]]
    return vectors


def caption_sets(benchmark: Benchmark) -> CaptionSets | None:
    """Return the caption sets of a benchmark; None where it does not say which image a caption is of.

    Examples
    --------
    >>> from karat.world import make_world
    >>> sets = caption_sets(make_world(images=3, captions=2).benchmark())
    >>> sets.members.T.tolist(), sets.with_any(np.array([3])).tolist()
    ([[0, 1], [2, 3], [4, 5]], [1])
    """
    owner = benchmark.caption_image
    if owner is None or not (np.asarray(owner) >= 0).any():
        return None
    captions = np.flatnonzero(np.asarray(owner) >= 0)
    captions = captions[np.argsort(owner[captions], kind="stable")]
    images, first, counts = np.unique(owner[captions], return_index=True, return_counts=True)
    members = np.full((counts.max(), len(images)), -1)
    place = np.arange(len(captions)) - np.repeat(first, counts)
    members[place, np.repeat(np.arange(len(images)), counts)] = captions
    sets = np.arange(len(images))
    own = Judgments(images, sets, sources=[Provenance("original")])
    truth = Truth(TRUTH, own, {CAPTIONS_ASK: sets}, about="the image that the captions were written for")
    names = Ids(benchmark.images.gallery[images], kind="caption")
    return CaptionSets(
        Benchmark(benchmark.name, benchmark.images, names, {TRUTH: truth}, caption_image=images), members
    )


class SetScores:
    """The scores of caption sets, images by sets, computed when asked for: in whole rows or cell by cell.

    Captions are added one after the other in double precision in both cases, so that equal scores are equal.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, members: np.ndarray, before: MatrixRun, after: ChangedRun | None) -> None:
        self.members, self.before, self.after = members, before, after
        self.shape = (before.images_by_captions[0], members.shape[1])
        self.count = (members >= 0).sum(axis=0)
        captions = before.images_by_captions[1]
        self.replaced = np.zeros(captions, bool)
        if after is not None:
            self.replaced[after.captions] = True

    def __getitem__(self, key: slice | tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        return self._cells(*key) if isinstance(key, tuple) else self._rows(np.arange(self.shape[0])[key])

    def _rows(self, images: np.ndarray) -> np.ndarray:
        block = _block(self.before, images, np.arange(len(self.replaced)))
        if self.after is not None:
            assert isinstance(self.after.run, MatrixRun)
            block[:, self.after.captions] = _block(self.after.run, images, self.after.captions)
        total = np.zeros((len(images), self.shape[1]))
        for captions in self.members:
            total += np.where(captions >= 0, block[:, captions], 0.0)
        return total / self.count

    def _cells(self, image: np.ndarray, sets: np.ndarray) -> np.ndarray:
        total = np.zeros(len(image))
        for captions in self.members:
            caption = captions[sets]
            known = np.maximum(caption, 0)
            score = self.before.pairs(CAPTIONS_ASK, known, image).astype(np.float64)
            if self.after is not None and isinstance(self.after.run, MatrixRun):
                new = self.replaced[known]
                score[new] = self.after.run.pairs(CAPTIONS_ASK, known[new], image[new])
            total += np.where(caption >= 0, score, 0.0)
        return total / self.count[sets]


def _block(run: MatrixRun, images: np.ndarray, captions: np.ndarray) -> np.ndarray:
    """Return scores of images by captions of the benchmark, in double precision."""
    column, row = run.maps(CAPTIONS_ASK)
    table = run.scores if run.rows == "images" else run.scores.T
    return np.asarray(table[row[images]])[:, column[captions]].astype(np.float64)


class SetRun(MatrixRun):
    """A run whose queries are caption sets, computed block by block from the scores of captions."""

    def __init__(self, scores: SetScores, name: str, where: str | None) -> None:
        TableRun.__init__(self, name, where=where)
        self.scores = scores
