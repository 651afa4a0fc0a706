"""Scores of rated pairs: where the pairs are in a benchmark, and their scores in runs and tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.benchmarks import Benchmark
from karat.errors import InputError
from karat.runs import Run, TableRun
from karat.scores.agreement.ratings import Ratings, name_of, pair_note


@dataclass(frozen=True, eq=False)
class Located:
    """Rated pairs that a benchmark has, and their indices in it.

    Parameters
    ----------
    ratings
        Those of the pairs that it has.
    image, caption
        Their indices in its gallery.
    original
        Whether each caption was written for the image; None where the benchmark does not say.
    notes
        What happened to the others.
    """

    ratings: Ratings
    image: np.ndarray
    caption: np.ndarray
    original: np.ndarray | None = None
    notes: tuple[str, ...] = ()


def locate(ratings: Ratings, benchmark: Benchmark | None) -> Located:
    """Return the rated pairs that are in a benchmark's gallery; raise where none is.

    Without a benchmark all pairs stay, without indices.

    Examples
    --------
    >>> import karat
    >>> coco = karat.load_benchmark("coco")
    >>> rated = Ratings(["391895", "0"], ["770337", "770337"], ("mean",), np.array([[5.0], [1.0]]))
    >>> found = locate(rated, coco)
    >>> found.ratings, found.original.tolist(), found.notes
    (Ratings(1 item, 1 rating from 5 to 5), [True], ('1 pair of ratings is not in coco and is left out',))
    """
    if benchmark is None:
        return Located(ratings, np.zeros(0, np.int64), np.zeros(0, np.int64))
    sides = ((benchmark.images, ratings.image), (benchmark.captions, ratings.caption))
    image, caption = (ids.find(np.asarray(values)) for ids, values in sides)
    known = (image >= 0) & (image < benchmark.images.size)
    known &= (caption >= 0) & (caption < benchmark.captions.size)
    if not known.any():
        first = (benchmark.images[0], benchmark.captions[0])
        here, there = (f"image {i} with caption {c}" for i, c in (ratings.pairs()[0], first))
        raise InputError(
            f"{benchmark.name} has none of its pairs",
            where=ratings.where,
            fix=f"name them as the benchmark does: {there}, not {here}",
        )
    image, caption = image[known], caption[known]
    owner = benchmark.caption_image
    original = None if owner is None or (owner[caption] < 0).any() else owner[caption] == image
    text, outside = "of {first} {are} not in {second} and {are} left out", int((~known).sum())
    notes = (pair_note(outside, text, (name_of(ratings), benchmark.name)),) if outside else ()
    return Located(ratings.take(known), image, caption, original, notes)


def run_scores(run: Run, image: np.ndarray, caption: np.ndarray) -> np.ndarray:
    """Return a run's scores of given pairs, float64; the run is aligned to the pairs' benchmark.

    Parameters
    ----------
    run
        A score table or two embedding tables; ranked lists have no scores and are refused.
    image, caption
        Indices into the benchmark's gallery.

    Examples
    --------
    >>> from karat.runs import MatrixRun
    >>> run = MatrixRun(np.array([[0.9, 0.1, 0.5], [0.2, 0.8, 0.5]]))
    >>> run_scores(run, np.array([0, 1]), np.array([2, 0])).tolist()
    [0.5, 0.2]
    """
    if not isinstance(run, TableRun):
        raise InputError(
            "ranked lists do not score every pair",
            where=run.where or run.name,
            fix="give a score table or embeddings",
        )
    scores = run.pairs(run.directions[0], image, caption).astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        at = image[bad[0]], caption[bad[0]]
        names = at if run.benchmark is None else [ids[k] for ids, k in zip(run.benchmark.ids, at)]
        one, other = (f"{side.one} {name}" for side, name in zip(run.sides, names))
        what = f"the score of {one} with {other} is {scores[bad[0]]}"
        raise InputError(what, where=run.where or run.name, fix="give finite numbers")
    return scores


def table_scores(ratings: Ratings, table: Ratings) -> dict[str, np.ndarray]:
    """Return every column of a table of scores, one number per item of the ratings, NaN for missing ones.

    >>> rated = Ratings(["a", "b"], ["1", "1"], ("x",), np.array([[1.0], [2.0]]))
    >>> table_scores(rated, Ratings(["b", "c"], ["1", "1"], ("score",), np.array([[0.7], [0.1]])))
    {'score': array([nan, 0.7])}
    """
    place = {pair: number for number, pair in enumerate(table.pairs())}
    at = np.array([place.get(pair, -1) for pair in ratings.pairs()], dtype=np.int64)
    if not (at >= 0).any():
        fix = f"use the same ids in both, not {ratings.pairs()[0]} and {table.pairs()[0]}"
        raise InputError(f"scores no pair of {ratings.where}", where=table.where, fix=fix)
    return {name: np.where(at >= 0, column[at], np.nan) for name, column in zip(table.raters, table.values.T)}
