"""Cohen's kappa: how far two raters agree beyond what their marginals alone would give."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from karat._util import plural
from karat.errors import InputError
from karat.stats.estimate import Estimate
from karat.stats.item_kinds import Kinds, as_numbers, number_clusters
from karat.stats.resampling import Intervals
from karat.stats.samples import divide

MOST_CATEGORIES = 1000
WEIGHTS = ("linear", "quadratic")
NONE = ("", "nan")
"""How text marks a missing rating: empty, and what numpy makes of NaN among text."""
LISTED_CATEGORIES = 32
"""Up to so many, every possible disagreement is listed where none was seen."""


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

    An item that either rater left out (None, NaN, empty text) does not count. Where both raters used
    the same single category throughout, chance alone explains the agreement and kappa is not defined:
    NaN. Resamples where that happens are left out of the interval.

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
    sides = [codes(first, "first"), codes(second, "second")]
    counts = [len(there) for _, there in sides]
    if counts[0] != counts[1]:
        numbers = " and ".join(plural(count, "rating") for count in counts)
        raise InputError(f"the raters gave {numbers}", fix="give both one rating per item")
    # A side without any rating is of neither kind.
    if len({ratings.dtype.kind for ratings, there in sides if there.any()}) > 1:
        raise InputError("one rater gave numbers and the other text", fix="give both the same kind of rating")
    rated = sides[0][1] & sides[1][1]
    pair = [ratings[rated] for ratings, _ in sides]
    scale = np.unique(np.concatenate(pair)) if categories is None else order_of(categories)
    worse = disagreement(weights, len(scale))
    cell = place(pair[0], scale) * len(scale) + place(pair[1], scale)
    cells, kind = np.unique(cell, return_inverse=True)
    if (cells % (len(scale) + 1) == 0).all() and len(scale) <= LISTED_CATEGORIES:
        # Raters who always agree: the interval is by the disagreements that went unseen.
        cells, kind = np.arange(len(scale) ** 2), cell
    kinds = Kinds(kind, len(cells), number_clusters(clusters, len(rated), rated))

    def statistic(counts: np.ndarray) -> np.ndarray:
        return kappa_of(counts, cells // len(scale), cells % len(scale), worse)

    return kinds.estimate(statistic, Intervals(method, level, resamples, seed))


def mean_kappa(
    first: np.ndarray,
    second: np.ndarray,
    couple: np.ndarray,
    couples: int,
    size: int,
    clusters: Any,
    intervals: Intervals,
) -> Estimate:
    """Return the mean of Cohen's kappa over couples of raters, each over the items that both rated.

    Parameters
    ----------
    first, second
        The numbers of the categories that both raters of a couple gave to an item.
    couple, couples
        Which couple that is, and how many there are.
    size
        How many categories there are.
    clusters, intervals
        A label per row, and how intervals are made.

    Examples
    --------
    >>> first, second = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 1, 1, 1, 0, 1])
    >>> mean_kappa(first, second, np.repeat([0, 1], [4, 2]), 2, 2, None, Intervals()).value
    0.75
    """
    cells = size * size
    kind = couple * cells + first * size + second
    kinds = Kinds(kind, couples * cells, number_clusters(clusters, len(kind), np.ones(len(kind), bool)))
    row_of, column_of = np.divmod(np.arange(cells), size)
    worse = disagreement(None, size)

    def statistic(weights: np.ndarray) -> np.ndarray:
        each = kappa_of(weights.reshape(-1, cells), row_of, column_of, worse).reshape(-1, couples)
        known = ~np.isnan(each)
        total = known.sum(axis=1)
        return np.where(total > 0, np.where(known, each, 0.0).sum(axis=1) / np.maximum(total, 1), np.nan)

    return kinds.estimate(statistic, intervals)


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
    return 1 - divide(observed * counts.sum(axis=1), expected)


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
    matrix = as_numbers(weights, "weights")
    if matrix.shape != (size, size) or not np.isfinite(matrix).all() or (matrix < 0).any():
        raise InputError(
            f"weights has the shape {matrix.shape} or a value below 0",
            fix=f"give {size} by {size} numbers, 0 where raters agree",
        )
    return matrix


def codes(ratings: Any, who: str) -> tuple[np.ndarray, np.ndarray]:
    """Return ratings as numbers or, where one is not, as text, and where there is one.

    >>> codes([1, None, 2.5], "first")[0].tolist(), codes(["yes", None, "no"], "first")[1].tolist()
    ([1.0, nan, 2.5], [True, False, True])
    """
    # A list as it is: numpy would turn NaN among text into the text "nan".
    array = np.asarray(ratings, dtype=None if hasattr(ratings, "__array__") else object)
    if array.ndim != 1:
        raise InputError(f"{who} has {plural(array.ndim, 'dimension')}", fix="give one rating per item")
    if array.dtype.kind in "fiub":
        numbers = array.astype(np.float64)
        return numbers, ~np.isnan(numbers)
    items = array.tolist() if array.dtype.kind == "O" else array.astype(str).tolist()
    there = np.array([not is_missing(item) for item in items], dtype=bool)
    if all(isinstance(item, Real | Decimal | np.bool_) for item, known in zip(items, there) if known):
        return np.array([item if known else np.nan for item, known in zip(items, there)], np.float64), there
    return np.array([str(item) if known else "" for item, known in zip(items, there)]), there


def is_missing(item: Any) -> bool:
    """Whether one rating says that there is none.

    >>> [is_missing(item) for item in (None, float("nan"), " ", "nan", "no", 0)]
    [True, True, True, True, False, False]
    """
    if isinstance(item, str):
        return item.strip() in NONE
    try:
        return item is None or bool(item != item)
    except (TypeError, ValueError):
        # pandas.NA cannot be compared, not even with itself.
        return True


def order_of(categories: Any) -> np.ndarray:
    """Return the categories in the order given; each must be one."""
    scale, there = codes(categories, "categories")
    if not there.all():
        raise InputError("a category is empty", fix="leave out None, NaN and empty text")
    return scale


def place(ratings: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the place of each rating among the categories, which must all be known and differ."""
    order = np.argsort(scale, kind="stable")
    if (scale[order][1:] == scale[order][:-1]).any():
        raise InputError("a category is listed more than once", fix="give each once")
    if not len(ratings):
        return np.empty(0, np.int64)
    if len(scale) and ratings.dtype.kind != scale.dtype.kind:
        raise InputError("ratings and categories are not both numbers or both text", fix="give one kind")
    strange = ratings[~np.isin(ratings, scale)]
    if len(strange):
        raise InputError(f"the rating {strange[0]} is not among the categories", fix="add it, or remove it")
    return order[np.searchsorted(scale[order], ratings)]
