"""Wrong captions, planted: captions that change places with those of other images."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from karat.benchmarks import Benchmark
from karat.errors import InputError

TRIES = 50


class WrongCaptions(NamedTuple):
    """A benchmark some of whose captions changed places.

    Parameters
    ----------
    benchmark
        With other texts.
    wrong
        Per caption, whether its text is that of another image.
    origin
        Per caption, the caption whose text it has now: ``scores[:, origin]`` is what a run gives these texts.
    """

    benchmark: Benchmark
    wrong: np.ndarray
    origin: np.ndarray


def plant_wrong_captions(
    benchmark: Benchmark, share: float = 0.1, seed: int = 0, avoid: str | None = None
) -> WrongCaptions:
    """Let some captions change places, so that they stand beside images that they were not written for.

    Ids, images and truths stay as they are: the labels are now wrong for the captions that moved.

    Parameters
    ----------
    benchmark
        With captions whose images are known.
    share
        How many of the captions move.
    seed
        Which ones, and where to.
    avoid
        A truth: a caption that moved to an image that it calls relevant is not counted as wrong, and others
        are tried first.

    Returns
    -------
    WrongCaptions

    Examples
    --------
    >>> from karat.world import make_world
    >>> bench = make_world(50, seed=1).benchmark()
    >>> planted = plant_wrong_captions(bench, 0.2, avoid="complete")
    >>> int(planted.wrong.sum()), planted.benchmark.texts[3] == bench.texts[planted.origin[3]]
    (50, True)
    """
    if not 0 < share < 1:
        raise InputError(f"share is {share}", fix="give a share between 0 and 1")
    if benchmark.caption_image is None:
        raise InputError(
            f"{benchmark.name} does not say which images its captions belong to", fix="use another"
        )
    texts, owner = list(benchmark.needed_texts), np.asarray(benchmark.caption_image)
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(len(texts), max(2, round(share * len(texts))), replace=False))
    forbidden = positive_codes(benchmark, avoid)
    source = chosen[rng.permutation(len(chosen))]
    for _ in range(TRIES):
        bad = np.flatnonzero(fits(source, owner[chosen], owner, forbidden, benchmark.images.size))
        if not len(bad):
            break
        for place in bad.tolist():
            other = int(rng.integers(len(source)))
            source[place], source[other] = source[other], source[place]
    wrong = np.zeros(len(texts), bool)
    moved = ~fits(source, owner[chosen], owner, forbidden, benchmark.images.size)
    wrong[chosen[moved]] = True
    origin = np.arange(len(texts))
    origin[chosen] = source
    planted = replace(benchmark, texts=[texts[k] for k in origin.tolist()], find_texts=None)
    return WrongCaptions(planted, wrong, origin)


def positive_codes(benchmark: Benchmark, truth: str | None) -> np.ndarray:
    """Return the pairs of a caption and an image that a truth calls relevant, as numbers."""
    if truth is None:
        return np.zeros(0, np.int64)
    rows = benchmark.truth(truth).judged("t2i")
    positive = rows.grade > 0
    return rows.query_of_row[positive].astype(np.int64) * benchmark.images.size + rows.item[positive]


def fits(
    source: np.ndarray, image: np.ndarray, owner: np.ndarray, forbidden: np.ndarray, n_images: int
) -> np.ndarray:
    """Return whether the text of each caption is right for an image: it was written for it, or is known to
    hold."""
    return (owner[source] == image) | np.isin(source.astype(np.int64) * n_images + image, forbidden)
