"""Krippendorff's alpha: agreement of any number of raters, some of whom left items out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat._util import check_choice, plural
from karat.errors import InputError
from karat.stats.estimate import Estimate, estimate_record, with_interval
from karat.stats.item_kinds import Kinds, as_numbers, number_clusters
from karat.stats.resampling import Intervals
from karat.stats.samples import divide

SCALES = ("nominal", "ordinal", "interval")
"""What the ratings mean: names only, an order, or an order with distances."""


def krippendorff_alpha(
    ratings: Any,
    scale: str = "nominal",
    *,
    clusters: Any = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    method: str = "percentile",
) -> Estimate:
    """Return Krippendorff's alpha with its bootstrap interval over items.

    α = 1 − (n − 1) Σ o_ck δ²_ck / Σ n_c n_k δ²_ck. An item with m ratings adds 1 / (m − 1) to o_ck for
    every ordered pair of its ratings c, k; n_c counts ratings and n all of them. δ² is 1 for different
    values (nominal), (c − k)² (interval), or the squared difference of the values' mid-ranks
    (ordinal). Krippendorff, Content Analysis, 2004, chapter 11.

    Items with fewer than two ratings carry no information and do not count. Where all ratings have one
    value, alpha is not defined: NaN. Resamples where that happens are left out of the interval.

    Parameters
    ----------
    ratings
        Numbers, a row per item and a column per rater; NaN where a rater gave none. Who gave which
        rating does not matter, so a row may also list the ratings of different raters per item.
    scale
        "nominal", "ordinal" or "interval".
    clusters
        A label per item: items of one label are drawn together, such as the captions of an image.
    level, resamples, seed, method
        Of the interval; `method` is "percentile" or "bca".

    Examples
    --------
    Krippendorff's own example of four raters and twelve items:

    >>> nan = np.nan
    >>> ratings = np.array([[1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    ...                     [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    ...                     [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    ...                     [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan]]).T
    >>> [round(krippendorff_alpha(ratings, scale).value, 3) for scale in SCALES]
    [0.743, 0.815, 0.849]
    """
    scale = check_choice(str(scale), SCALES, "scale")
    table = as_numbers(ratings, "ratings")
    if table.ndim != 2:
        raise InputError(
            f"ratings has {plural(table.ndim, 'dimension')}", fix="give a row per item and a column per rater"
        )
    if np.isinf(table).any():
        raise InputError("a rating is infinite", fix="give finite numbers, NaN where one is missing")
    kept = (~np.isnan(table)).sum(axis=1) >= 2
    # Who gave which rating does not matter: items with the same ratings in any order are of one kind.
    # NaN is unlike itself and would make every row a separate kind: infinity replaces it, and sorts last.
    rows = np.sort(np.where(np.isnan(table[kept]), np.inf, table[kept]), axis=1)
    different, kind = np.unique(rows, axis=0, return_inverse=True)
    different = with_unseen(different)
    kinds = Kinds(kind.ravel(), len(different), number_clusters(clusters, len(kept), kept))
    return kinds.estimate(Disagreement(different, scale), Intervals(method, level, resamples, seed))


def scales_of(values: int) -> tuple[str, ...]:
    """Return the scales of so many values: two have no order and no distances, and alpha is the same for all.

    >>> scales_of(2), scales_of(3)
    (('nominal',), ('nominal', 'ordinal', 'interval'))
    """
    return SCALES[:1] if values < 3 else SCALES


def alphas_of_counts(
    counts: np.ndarray, values: np.ndarray, clusters: Any, intervals: Intervals
) -> dict[str, Estimate]:
    """Return `krippendorff_alpha` by scale, of how often each item got each value.

    Items with the same number of each value are of one kind. These kinds come from the counts, where
    `krippendorff_alpha` would sort a row for each of a million items.

    Parameters
    ----------
    counts, values
        Items by values, and the values, rising.
    clusters, intervals
        A label per item, and how intervals are made.

    Examples
    --------
    >>> counts = np.array([[2, 0], [0, 2], [2, 0], [1, 1]])
    >>> round(alphas_of_counts(counts, np.array([0.0, 1.0]), None, Intervals())["nominal"].value, 3)
    0.533
    """
    given = counts.sum(axis=1)
    kept = given > 1
    several = counts[kept]
    kind = np.zeros(len(several), np.int64)
    for column in several.T:
        kind = np.unique(kind * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    first = np.unique(kind, return_index=True)[1]
    rows = np.full((len(first), int(given.max(initial=0))), np.inf)
    for number, times in enumerate(several[first]):
        listed = np.repeat(values, times)
        rows[number, : len(listed)] = listed
    rows = with_unseen(rows)
    kinds = Kinds(kind, len(rows), number_clusters(clusters, len(kept), kept))
    return {scale: kinds.estimate(Disagreement(rows, scale), intervals) for scale in scales_of(len(values))}


def alpha_lines(alphas: Mapping[str, Estimate]) -> list[str]:
    """Return alpha by scale as lines of text."""
    width = max((len(scale) for scale in alphas), default=0)
    return [f"alpha, {scale.ljust(width)}  {with_interval(alpha)}" for scale, alpha in alphas.items()]


def alpha_records(alphas: Mapping[str, Estimate], **more: str) -> list[dict[str, Any]]:
    """Return a record per scale, with what else says which alpha it is."""
    return [
        {"statistic": "alpha", **more, "scale": scale, **estimate_record(alpha)}
        for scale, alpha in alphas.items()
    ]


def with_unseen(rows: np.ndarray) -> np.ndarray:
    """Return different rows of ratings, and where raters always agree one more: the largest disagreement.

    It went unseen, and the interval of alpha says how often it can have done so.

    >>> with_unseen(np.array([[1.0, 1.0, np.inf], [4.0, 4.0, 4.0]])).tolist()[2:]
    [[1.0, 4.0, inf]]
    """
    if not len(rows) or not ((rows == rows[:, :1]) | np.isinf(rows)).all():
        return rows
    unseen = np.full((1, rows.shape[1]), np.inf)
    unseen[0, :2] = rows[:, 0].min(), rows[:, 0].max()
    return np.concatenate([rows, unseen])


class Disagreement:
    """Alpha as a function of how often each kind of item occurs.

    Parameters
    ----------
    rows
        The different rows of ratings; infinity means none.
    scale
        One of `SCALES`.

    Examples
    --------
    >>> alpha = Disagreement(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), "nominal")
    >>> alpha(np.array([[4.0, 2.0, 4.0]])).round(3).tolist()
    [0.62]
    """

    def __init__(self, rows: np.ndarray, scale: str) -> None:
        self.scale = scale
        there = np.isfinite(rows)
        self.values, code = np.unique(rows[there], return_inverse=True)
        self.ratings = there.sum(axis=1).astype(np.float64)
        # One entry per kind and value that occurs in it, with how often: sorted by kind.
        key, times = np.unique(np.nonzero(there)[0] * len(self.values) + code, return_counts=True)
        self.times = times.astype(np.float64)
        self.entry_kind, self.entry_value = np.divmod(key, len(self.values))
        self.kind_starts = np.searchsorted(self.entry_kind, np.arange(len(rows)))
        self.by_value = np.argsort(self.entry_value, kind="stable")
        self.value_starts = np.searchsorted(self.entry_value[self.by_value], np.arange(len(self.values)))

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return alpha for weights over the kinds, [b, kinds] → [b]."""
        with np.errstate(over="ignore"):
            observed, expected, total = getattr(self, f"_{self.scale}")(weights)
            return 1 - divide((total - 1) * observed, expected)

    def _value_counts(self, weights: np.ndarray) -> np.ndarray:
        entries = weights[:, self.entry_kind[self.by_value]] * self.times[self.by_value]
        return np.add.reduceat(entries, self.value_starts, axis=1)

    def _sum_by_kind(self, entries: np.ndarray) -> np.ndarray:
        return np.add.reduceat(entries, self.kind_starts, axis=-1)

    def _moments(self, at: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return each kind's sum, sum of squares and disagreement, for values at these places."""
        first, square = self._sum_by_kind(self.times * at), self._sum_by_kind(self.times * at**2)
        within = 2 * np.maximum(self.ratings * square - first**2, 0) / (self.ratings - 1)
        return first, square, within

    def _nominal(self, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        within = (self.ratings**2 - self._sum_by_kind(self.times**2)) / (self.ratings - 1)
        counts = self._value_counts(weights)
        total = counts.sum(axis=1)
        return weights @ within, total**2 - (counts**2).sum(axis=1), total

    def _interval(self, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        # Distances do not change when all values move; around 0 nothing cancels.
        place = self.values - self.values.mean()
        at = place[self.entry_value]
        first, square, within = self._moments(at)
        total = weights @ self.ratings
        expected = 2 * (total * (weights @ square) - (weights @ first) ** 2)
        # Where nearly nothing is left after the subtraction, it may be rounding: the values tell.
        near = np.flatnonzero(expected <= 1e-9 * total * (weights @ square))
        one_value = (self._value_counts(weights[near]) > 0).sum(axis=1) < 2
        expected[near[one_value]] = 0
        return weights @ within, expected, total

    def _ordinal(self, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        counts = self._value_counts(weights)
        total = counts.sum(axis=1)
        # The mid-rank of each value, counted from the middle of all ratings.
        rank = np.cumsum(counts, axis=1) - counts / 2 - total[:, None] / 2
        at = rank[:, self.entry_value]
        observed = (weights * self._moments(at)[2]).sum(axis=1)
        return observed, 2 * total * (counts * rank**2).sum(axis=1), total
