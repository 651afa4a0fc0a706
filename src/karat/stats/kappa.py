"""Cohen's kappa: how far two raters agree beyond what their habits alone would give."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.stats.estimate import Estimate
from karat.stats.intervals import Intervals
from karat.stats.kinds import Kinds, number_clusters
from karat.validation import InputError, plural

MOST_CATEGORIES = 1000
WEIGHTS = ("linear", "quadratic")


def cohen_kappa(
    first: Any,
    second: Any,
    *,
    weights: str | np.ndarray | None = None,
    categories: Any = None,
    clusters: Any = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    method: str = "percentile",
) -> Estimate:
    """Return Cohen's kappa of two raters, plain or weighted, with its bootstrap interval over items.

    κ = 1 − Σ w_ij O_ij / Σ w_ij E_ij, where O counts the items that the first rater put into category
    i and the second into j, and E is what their marginals alone would give, E_ij = O_i· O_·j / n.
    Plain: w = 0 on the diagonal, else 1 (Cohen, Educational and Psychological Measurement 1960);
    linear: |i − j|; quadratic: (i − j)² (Cohen, Psychological Bulletin 1968), i and j being places in
    the order of the categories.

    An item that either rater left out (NaN) does not count. Where both raters only ever used one and
    the same category, chance alone explains everything and kappa is not defined: NaN. Resamples
    where that happens are left out of the interval.

    Parameters
    ----------
    first, second
        The categories that each rater gave, one per item: numbers or text.
    weights
        None, "linear", "quadratic", or a matrix of how bad each disagreement is.
    categories
        Their order; by default those that occur, sorted.
    clusters
        A label per item: items of one label are drawn together, such as the captions of an image.
    level, resamples, seed, method
        Of the interval; `method` is "percentile" or "bca".

    Examples
    --------
    >>> a = [1, 1, 0, 1, 0, 0, 1, 0, 1, 1]
    >>> b = [1, 1, 0, 0, 0, 1, 1, 0, 1, 1]
    >>> round(cohen_kappa(a, b).value, 4)
    0.5833
    >>> round(cohen_kappa([1, 2, 3, 4], [1, 2, 4, 4], weights="quadratic").value, 4)
    0.9167
    """
    one, two = codes(first, "first"), codes(second, "second")
    if len(one) != len(two):
        given = f"{plural(len(one), 'rating')} and {plural(len(two), 'rating')}"
        raise InputError(f"the raters gave {given}", fix="give both one rating per item")
    if one.dtype.kind != two.dtype.kind:
        raise InputError("one rater gave numbers and the other text", fix="give both the same kind of rating")
    kept = known(one) & known(two)
    used = np.concatenate([one[kept], two[kept]])
    scale = np.unique(used) if categories is None else codes(categories, "categories")
    worse = disagreement(weights, len(scale))
    cell = place(one[kept], scale) * len(scale) + place(two[kept], scale)
    cells, kind = np.unique(cell, return_inverse=True)
    kinds = Kinds(kind, len(cells), number_clusters(clusters, len(kept), kept))

    def statistic(counts: np.ndarray) -> np.ndarray:
        return kappa_of(counts, cells // len(scale), cells % len(scale), worse)

    return kinds.estimate(statistic, Intervals(method, level, resamples, seed))


def kappa_of(counts: np.ndarray, row: np.ndarray, column: np.ndarray, worse: np.ndarray) -> np.ndarray:
    """Return kappa of tables given by their cells: counts [b, cells], the cells' rows and columns.

    >>> kappa_of(np.array([[4.0, 1.0, 1.0, 4.0]]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]),
    ...          1 - np.eye(2)).round(3).tolist()
    [0.6]
    """
    size = len(worse)
    rows, columns = counts @ one_hot(row, size), counts @ one_hot(column, size)
    observed = counts @ worse[row, column]
    expected = ((rows @ worse) * columns).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - observed * counts.sum(axis=1) / expected, np.nan)


def one_hot(numbers: np.ndarray, size: int) -> np.ndarray:
    """Return a row per number with a one in its place."""
    table = np.zeros((len(numbers), size))
    table[np.arange(len(numbers)), numbers] = 1
    return table


def disagreement(weights: str | np.ndarray | None, size: int) -> np.ndarray:
    """Return the matrix of how bad each disagreement is.

    >>> disagreement("linear", 3).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    """
    if size > MOST_CATEGORIES:
        raise InputError(
            f"there are {size:,} categories", fix="kappa needs few: round or binarise the ratings first"
        )
    if weights is None:
        return 1.0 - np.eye(size)
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            raise InputError(
                f"weights is {weights!r}", fix=f"choose {' or '.join(WEIGHTS)}, or give a matrix"
            )
        apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
        return apart if weights == "linear" else apart**2
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (size, size) or not np.isfinite(given).all() or (given < 0).any():
        raise InputError(
            f"weights has the shape {given.shape} or a value below 0",
            fix=f"give {size} by {size} numbers, 0 where raters agree",
        )
    return given


def codes(ratings: Any, who: str) -> np.ndarray:
    """Return ratings as numbers or, where one is not, as text."""
    array = np.asarray(ratings)
    if array.ndim != 1:
        raise InputError(f"{who} has {plural(array.ndim, 'dimension')}", fix="give one rating per item")
    return array.astype(np.float64) if array.dtype.kind in "fiub" else array.astype(str)


def known(ratings: np.ndarray) -> np.ndarray:
    """Return where there is a rating."""
    return ~np.isnan(ratings) if ratings.dtype.kind == "f" else np.ones(len(ratings), dtype=bool)


def place(ratings: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the place of each rating among the categories, which must all be known and differ."""
    order = np.argsort(scale, kind="stable")
    if (scale[order][1:] == scale[order][:-1]).any():
        raise InputError("a category stands twice", fix="give each once")
    at = order[np.minimum(np.searchsorted(scale[order], ratings), len(scale) - 1)]
    strange = ratings[scale[at] != ratings]
    if len(strange):
        raise InputError(f"the rating {strange[0]} is not among the categories", fix="add it, or remove it")
    return at
