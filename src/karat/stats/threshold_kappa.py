"""Kappa over thresholds: two scales of ratings or scores, each cut into yes and no wherever it can be.

Two scales, each cut at several thresholds, make a table like Hodosh's table 10. By default, thresholds are
chosen from the values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import Layout, or_none, signed
from karat.errors import InputError
from karat.stats.estimate import with_interval
from karat.stats.item_kinds import Kinds, number_clusters
from karat.stats.resampling import Intervals
from karat.stats.samples import divide


@dataclass(frozen=True, eq=False)
class ThresholdTable:
    """Agreement of two sides that both say yes from a threshold on.

    Parameters
    ----------
    first, second
        Their names.
    first_from, second_from
        The thresholds: a rating of this or more is a yes.
    kappa
        Cohen's kappa for every two thresholds, [first, second].
    counts
        How many items both, only the first and only the second say yes to, [3, first, second].
    optimism
        By how much the best kappa is too high, on average, since its thresholds are chosen on the same items:
        in a resample, its best kappa less what the same thresholds have on the items themselves (Efron, JASA
        1983). 0 where there is one choice only.
    """

    first: str
    second: str
    first_from: np.ndarray
    second_from: np.ndarray
    kappa: np.ndarray
    counts: np.ndarray
    optimism: float = 0.0

    @property
    def precision(self) -> np.ndarray:
        """The share of the second side's yes that the first side confirms."""
        return divide(self.counts[0], self.counts[0] + self.counts[2])

    @property
    def recall(self) -> np.ndarray:
        """The share of the first side's yes that the second side found."""
        return divide(self.counts[0], self.counts[0] + self.counts[1])

    @property
    def f1(self) -> np.ndarray:
        """The harmonic mean of precision and recall."""
        return divide(2 * self.counts[0], 2 * self.counts[0] + self.counts[1] + self.counts[2])

    @property
    def best(self) -> tuple[int, int] | None:
        """Where kappa is highest; None where it is nowhere defined."""
        values = np.array([[kappa.value for kappa in row] for row in self.kappa])
        if np.isnan(values).all():
            return None
        row, column = np.unravel_index(np.nanargmax(values), values.shape)
        return int(row), int(column)

    @property
    def elsewhere(self) -> float | None:
        """The best kappa less its optimism: what to expect of the same thresholds on other items."""
        return None if self.best is None else float(self.kappa[self.best].value - self.optimism)

    def records(self) -> list[dict[str, Any]]:
        """Return one record per pair of thresholds; what is not defined is None."""
        out = []
        for at in np.ndindex(self.kappa.shape):
            kappa = self.kappa.item(at)
            numbers = {
                **{key: getattr(kappa, key) for key in ("value", "low", "high")},
                **{key: getattr(self, key)[at].item() for key in ("precision", "recall", "f1")},
            }
            out.append(
                {"statistic": "kappa", "first": self.first, "first_from": self.first_from[at[0]].item(),
                 "second": self.second, "second_from": self.second_from[at[1]].item(),
                 **{key: or_none(value) for key, value in numbers.items()},
                 "n": kappa.n, "best": at == self.best,
                 "elsewhere": self.elsewhere if at == self.best else None}
            )  # fmt: skip
        return out

    def lay_out(self, intervals: bool | None = None) -> Layout:
        """Return thresholds by thresholds, the best marked; with intervals where they fit, or as told."""
        wide = len(self.second_from) <= 4 if intervals is None else intervals
        rows = []
        for number, (cut, row) in enumerate(zip(cut_texts(self.first_from), self.kappa)):
            cells = [with_interval(kappa) if wide else signed(kappa.value) for kappa in row]
            marked = [cell + ("*" if (number, k) == self.best else " ") for k, cell in enumerate(cells)]
            rows.append([cut, *marked])
        best = set() if self.best is None else {(self.best[0], self.best[1] + 1)}
        return Layout(["≥", *(f"{cut} " for cut in cut_texts(self.second_from))], rows, set(), 1, best)


def cut_texts(cuts: Sequence[float] | np.ndarray) -> list[str]:
    """Return thresholds with two digits, or as many as distinguish them from each other and from 0.

    They are never rounded up: what reaches the threshold also reaches what is shown.

    >>> cut_texts([-1 / 3, 0.5, 8 / 3, 4.0]), cut_texts([0.001, 0.002, 0.01])
    (['-0.34', '0.5', '2.66', '4'], ['0.001', '0.002', '0.01'])
    """
    # Twelve significant digits: what lies beyond is rounding.
    exact = [Decimal(f"{cut:.12g}") for cut in cuts]
    for digits in range(2, 30):
        shown = [cut.quantize(Decimal(1).scaleb(-digits), ROUND_FLOOR) for cut in exact]
        if len(set(shown)) == len(set(exact)) and all(bool(a) == bool(b) for a, b in zip(shown, exact)):
            break
    return [f"{cut:f}".rstrip("0").rstrip(".") for cut in shown]


def hair(ratings: np.ndarray) -> float:
    """Return by how much a rating may miss a threshold: 2.66667 as typed means two thirds.

    On a scale whose values lie closer than that, half of what they lie apart.

    >>> hair(np.array([1.0, 2.0, 2.0])), hair(np.array([0, 4e-7]))
    (1e-06, 2e-07)
    """
    values = np.unique(ratings[np.isfinite(ratings)])
    return min(1e-6, np.diff(values).min(initial=1.0).item() / 2)


def kappa_over_thresholds(
    first: np.ndarray,
    second: np.ndarray,
    first_from: Sequence[float],
    second_from: Sequence[float],
    *,
    names: tuple[str, str] = ("first", "second"),
    clusters: np.ndarray | None = None,
    intervals: Intervals | None = None,
) -> ThresholdTable:
    """Return Cohen's kappa of two sides, each binarised at every one of its thresholds.

    With n items, r yes of the first, c of the second and b of both,
    κ = 1 − n (r + c − 2b) / (r (n − c) + c (n − r)); all cells share the same resamples.

    Examples
    --------
    >>> expert, crowd = np.array([1, 2, 3, 4, 4, 1]), np.array([0, 0.3, 0.6, 1, 1, 0])
    >>> table = kappa_over_thresholds(expert, crowd, [3, 4], [0.5, 1])
    >>> [[round(one.value, 3) for one in row] for row in table.kappa]
    [[1.0, 0.667], [0.667, 1.0]]
    """
    sides = []
    for ratings, cuts in ((first, first_from), (second, second_from)):
        ordered = np.asarray(cuts, dtype=np.float64)
        if not len(ordered) or (np.diff(ordered) <= 0).any():
            raise InputError(f"thresholds are {ordered.tolist()}", fix="give at least one, rising, each once")
        values = np.asarray(ratings, dtype=np.float64)
        sides.append((ordered, np.searchsorted(ordered, values + hair(values), side="right")))
    (rows, reached), (columns, met) = sides
    shape = (len(rows) + 1, len(columns) + 1)
    kinds = Kinds(
        reached * shape[1] + met,
        shape[0] * shape[1],
        number_clusters(clusters, len(met), np.ones(len(met), bool)),
    )

    def overlap(weights: np.ndarray) -> tuple[np.ndarray, ...]:
        table = weights.reshape(-1, *shape)
        both = table[:, ::-1, ::-1].cumsum(axis=1).cumsum(axis=2)[:, ::-1, ::-1]
        return both[:, 1:, 1:], both[:, 1:, :1], both[:, :1, 1:], both[:, :1, :1]

    def kappa(weights: np.ndarray) -> np.ndarray:
        both, one, two, n = overlap(weights)
        expected = one * (n - two) + two * (n - one)
        return np.moveaxis(1 - divide(n * (one + two - 2 * both), expected), 0, -1)

    both, one, two, _ = (part[0] for part in overlap(kinds.counts[None]))
    counts = np.stack([both, one - both, two - both]).astype(np.int64)
    made = intervals or Intervals()
    chosen = optimism(kinds, kappa, made) if len(rows) * len(columns) > 1 else 0.0
    return ThresholdTable(*names, rows, columns, kinds.estimates(kappa, made), counts, chosen)


OPTIMISM_DRAWS = 1000
"""How many resamples tell what choosing thresholds adds; a mean over them needs no more."""


def optimism(kinds: Kinds, kappa: Callable[[np.ndarray], np.ndarray], intervals: Intervals) -> float:
    """Return how much higher the best kappa of a resample is than that of its thresholds on the items."""
    here = kappa(kinds.counts[None])[..., 0].ravel()
    gains = []
    for weights in kinds.draws(min(OPTIMISM_DRAWS, intervals.resamples), intervals.seed):
        drawn = kappa(weights)
        drawn = drawn.reshape(-1, drawn.shape[-1])
        best = np.where(np.isnan(drawn), -np.inf, drawn).argmax(axis=0)
        gains.append(drawn[best, np.arange(drawn.shape[1])] - here[best])
    known = np.concatenate(gains)
    known = known[~np.isnan(known)]
    return max(0.0, float(known.mean())) if len(known) else 0.0


MOST_THRESHOLDS = 9
"""Per side, by default: as many as fit side by side on a screen."""
SHARES = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
"""Where a score with many values is cut, as shares of the pairs below."""


def usual_thresholds(ratings: np.ndarray) -> np.ndarray:
    """Return every value above the lowest or, where there are too many, some that divide the ratings evenly.

    >>> usual_thresholds(np.array([1.0, 4, 2, 2, 3])).tolist()
    [2.0, 3.0, 4.0]
    """
    values = np.unique(ratings)
    if len(values) < 2:
        raise InputError(f"every rating is {values[0]:g}", fix="agreement needs ratings that differ")
    if len(values) - 1 <= MOST_THRESHOLDS:
        return values[1:]
    above = ratings[ratings > values[0]]
    return np.unique(np.quantile(above, np.linspace(0, 1, MOST_THRESHOLDS), method="inverted_cdf"))


def score_thresholds(scores: np.ndarray) -> np.ndarray:
    """Return thresholds of a score that varies: every value above the lowest or, of many, nine round ones.

    They divide the pairs at the shares `SHARES`: few pairs are relevant, so more of them lie near the top.

    >>> score_thresholds(np.array([0.0, 0.5, 0.5, 1.0])).tolist()
    [0.5, 1.0]
    >>> score_thresholds(np.arange(3001) / 3000)[[0, 1, -1]].tolist()
    [0.2, 0.4, 0.98]
    """
    values = np.unique(scores)
    if len(values) - 1 <= MOST_THRESHOLDS:
        return values[1:]
    chosen = [round_down(value) for value in np.quantile(scores, SHARES, method="inverted_cdf")]
    # Rounding may reach the lowest value, from where on everything is a yes.
    return np.unique([cut for cut in chosen if cut > values[0]] or values[1:2])


def round_down(value: float) -> float:
    """Return a number rounded down to three digits.

    >>> round_down(2 / 3), round_down(-2 / 3), round_down(12345.6), round_down(0.2)
    (0.666, -0.667, 12300.0, 0.2)
    """
    exact = Decimal(f"{value:.12g}")
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), ROUND_FLOOR))


def thresholds_of(where: str | Path, values: np.ndarray, named: Sequence[float] | None) -> Sequence[float]:
    """Return a side's thresholds, checked against the ratings or scores that take part."""
    if named is None:
        try:
            return usual_thresholds(values).tolist()
        except InputError as error:
            raise InputError(error.what, where=where, fix=error.fix) from None
    rising = sorted(set(named))
    for cut in rising:
        if not values.min() < cut <= values.max() + 1e-6:
            fix = f"its values lie between {values.min():g} and {values.max():g}"
            raise InputError(f"the threshold {cut:g} separates nothing", where=where, fix=fix)
    return rising
