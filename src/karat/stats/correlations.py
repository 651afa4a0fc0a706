"""Do two scores rise together? Kendall's tau-b, Spearman's rho and Pearson's r, with intervals.

`correlation` compares metrics over a few dozen systems, every pair of them in memory; `item_correlations` two
scores of tens of thousands of items, which may come in clusters. The coefficients are functions of weights on
the rows: whole weights mean repeated rows, so that a bootstrap is one matrix product instead of a loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from karat._util import check_choice, threads
from karat.errors import InputError
from karat.stats.estimate import Estimate
from karat.stats.few_clusters import FEWEST_OTHER
from karat.stats.item_kinds import Kinds, as_numbers, number_clusters
from karat.stats.resampling import Intervals, Resampling, drawn, leave_one_out
from karat.stats.samples import divide


@dataclass(frozen=True, repr=False)
class Correlation(Estimate):
    """A correlation with its interval, and the p-value of no association (NaN for two systems).

    >>> Correlation(0.72, 0.51, 0.88, 0.95, "percentile", 25, 25, p=1e-7)
    0.72 (0.51 to 0.88, 95% percentile, n = 25)
    """

    p: float = np.nan


ITEM_COEFFICIENTS = ("pearson", "spearman", "tau")


def correlation(
    x: Any,
    y: Any,
    coefficient: str = "tau",
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    method: str = "percentile",
) -> Correlation:
    """Return the correlation of two metrics over systems, with its bootstrap interval over systems.

    Systems that lack either value (NaN) do not count. Where a metric gives all systems the same value
    the correlation is not defined: NaN; resamples where that happens are left out of the interval. Fewer than
    ten systems have no interval, nor have systems that lie on a line: every resample would say the same.

    Parameters
    ----------
    x, y
        One value per system.
    coefficient
        "tau" (Kendall's tau-b), "spearman" or "pearson".
    level, resamples, seed, method
        Of the interval; `method` is "percentile" or "bca".

    Examples
    --------
    >>> correlation([1, 2, 3, 4, 5], [1, 3, 2, 4, 5]).value
    0.8
    """
    columns = [as_numbers(x, "x"), as_numbers(y, "y")]
    if any(column.ndim != 1 for column in columns) or len(columns[0]) != len(columns[1]):
        shapes = " and ".join(str(column.shape) for column in columns)
        raise InputError(f"x and y have the shapes {shapes}", fix="give both one value per system")
    matrix = correlation_matrix(
        np.column_stack(columns), coefficient, level=level, resamples=resamples, seed=seed, method=method
    )
    return matrix[0, 1]


def correlation_matrix(
    values: Any,
    coefficient: str = "tau",
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    method: str = "percentile",
) -> np.ndarray:
    """Return the `Correlation` of every pair of columns, an array of objects [metrics, metrics].

    All pairs see the same resamples of systems. A pair uses the systems that have both values.

    Parameters
    ----------
    values
        A row per system and a column per metric; NaN where there is no value.
    coefficient, level, resamples, seed, method
        See `correlation`.

    Examples
    --------
    >>> table = np.array([[1, 1, 4.0], [2, 2, 3], [3, 3, 2], [4, 4, 1]])
    >>> [[round(c.value, 3) for c in row] for row in correlation_matrix(table, resamples=10)]
    [[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    coefficient = check_choice(str(coefficient), tuple(COEFFICIENTS), "coefficient")
    intervals = Intervals(method, level, resamples, seed)
    table = as_numbers(values, "values")
    if table.ndim != 2 or np.isinf(table).any():
        raise InputError(
            "values is not a table of finite numbers", fix="give a row per system, NaN for missing values"
        )
    systems, metrics = table.shape
    matrix = np.empty((metrics, metrics), object)
    for a, b in combinations(range(metrics), 2):
        pair = table[:, [a, b]]
        known_rows = ~np.isnan(pair).any(axis=1)
        known, n = pair[known_rows], int(known_rows.sum())
        value, low, high = np.full(3, np.nan)
        if n:
            statistic = COEFFICIENTS[coefficient](known)
            value = statistic(np.ones((1, n)))[0]
        if not np.isnan(value):
            blocks = Resampling(systems, resamples, seed).blocks()
            draws = drawn(statistic, (block[:, known_rows] for block in blocks))
            left = drawn(statistic, leave_one_out(n)) if intervals.method == "bca" else None
            low, high = intervals.ends(value, draws, left)
            if n < FEWEST_OTHER or low == high:
                low = high = np.nan
        p = np.nan if np.isnan(value) else p_value(known, coefficient, float(value))
        ends = (float(low), float(high), level, intervals.shown)
        matrix[a, b] = matrix[b, a] = Correlation(float(value), *ends, n, n, p)
    for a in range(metrics):
        n = int((~np.isnan(table[:, a])).sum())
        matrix[a, a] = Correlation(1.0, 1.0, 1.0, level, "itself", n, n)
    return matrix


def p_value(table: np.ndarray, coefficient: str, value: float) -> float:
    """Return the p-value of no association, as scipy.stats has it; NaN for fewer than three systems."""
    if len(table) < 3:
        return np.nan
    p = tau_p(table) if coefficient == "tau" else r_p(value, len(table))
    # Where the points lie on a line, p is smaller than any float: it is never 0.
    return max(p, float(np.finfo(np.float64).tiny))


def tau_p(table: np.ndarray) -> float:
    """Return the p-value of Kendall's tau: exact for up to 33 systems without ties, otherwise of the normal
    approximation (Kendall, Rank Correlation Methods, 1970).

    Without ties all n! orders are equally likely: the j-th system is in 0 to j − 1 discordant pairs
    with those before it, each number as likely as the others.

    >>> round(tau_p(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])), 6)
    0.333333
    """
    n = len(table)
    pairs = n * (n - 1) // 2
    signs = [np.sign(np.subtract.outer(column, column)) for column in table.T]
    excess = int((signs[0] * signs[1]).sum()) // 2
    fewer = (pairs - abs(excess)) // 2
    ties = [counts[counts > 1] for counts in (np.unique(c, return_counts=True)[1] for c in table.T)]
    if not any(map(len, ties)) and (n <= 33 or fewer <= 1):
        chances = np.ones(1)
        for j in range(2, n + 1):
            chances = np.convolve(chances, np.full(j, 1 / j))[: fewer + 1]
        return min(1.0, 2 * float(chances.sum()))
    tied, triples, spread = (
        [float((t * (t - 1.0) * factor(t)).sum()) for t in ties]
        for factor in (lambda t: 1, lambda t: t - 2, lambda t: 2 * t + 5)
    )
    m = n * (n - 1.0)
    variance = (m * (2 * n + 5) - sum(spread)) / 18 + math.prod(tied) / (2 * m)
    variance += math.prod(triples) / (9 * m * (n - 2))
    return math.erfc(abs(excess) / math.sqrt(2 * variance))


def r_p(r: float, n: int) -> float:
    """Return the p-value of Pearson's r, or of Spearman's ρ: (r + 1) / 2 is beta-distributed around ½.

    >>> round(r_p(0.5, 10), 6)
    0.141113
    """
    # Imported late: the core stays light.
    from scipy.special import betainc

    # Sums of floats round: what comes this close to a line is one.
    away = 0.0 if 1 - abs(r) < 1e-15 else 1 - abs(r)
    return 2 * float(betainc(n / 2 - 1, n / 2 - 1, away / 2))


def item_correlations(
    x: Any, y: Any, *, clusters: Any = None, intervals: Intervals | None = None
) -> dict[str, Estimate]:
    """Return Pearson's r, Spearman's ρ and Kendall's τ-b of two scores of the same items.

    Items that lack either score (NaN) do not count. Where a score is the same for all items the
    correlation is not defined: NaN; resamples where that happens are left out of the interval. All three
    see the same resamples.

    Parameters
    ----------
    x, y
        One number per item.
    clusters
        Per item, what it belongs to; items of one cluster are drawn together. Every item is drawn by
        itself by default.
    intervals
        How intervals are made; by default 95%, percentile, 10,000 resamples.

    Examples
    --------
    >>> estimates = item_correlations([1, 2, 3, 4, 5], [1, 3, 2, 4, 5], intervals=Intervals(resamples=100))
    >>> {name: round(estimate.value, 3) for name, estimate in estimates.items()}
    {'pearson': 0.9, 'spearman': 0.9, 'tau': 0.8}
    """
    columns = [as_numbers(x, "x"), as_numbers(y, "y")]
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
        shapes = " and ".join(str(column.shape) for column in columns)
        raise InputError(f"x and y have the shapes {shapes}", fix="give both one number per item")
    table = np.column_stack(columns)
    if np.isinf(table).any():
        raise InputError("x or y holds an infinite number", fix="give finite numbers, NaN for missing values")
    known_rows = ~np.isnan(table).any(axis=1)
    cluster = number_clusters(clusters, len(table), known_rows)
    chosen = intervals or Intervals()
    if not known_rows.any():
        nothing = Estimate(np.nan, np.nan, np.nan, chosen.level, chosen.shown, 0, 0)
        return dict.fromkeys(ITEM_COEFFICIENTS, nothing)
    # The side with more values is sorted, the other is searched: the fewer it has, the quicker.
    distinct = [len(np.unique(column[known_rows])) for column in columns]
    known = table[known_rows] if distinct[0] >= distinct[1] else table[known_rows][:, ::-1]
    alike, kind = np.unique(known, axis=0, return_inverse=True)
    statistic = correlations_of(alike)
    estimates = Kinds(kind.ravel(), len(alike), cluster).estimates(statistic, chosen)
    return dict(zip(ITEM_COEFFICIENTS, estimates))


def correlations_of(table: np.ndarray) -> Any:
    """Return what computes the three coefficients, [3, b], of two columns [n, 2] under weights [b, n].

    The rows are sorted by the first column. Whole weights mean repeated rows.

    >>> rows = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [4.0, 4.0]])
    >>> correlations_of(rows)(np.array([[1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 1.0, 1.0]])).round(3).tolist()
    [[0.8, 0.943], [0.8, 1.0], [0.667, 1.0]]
    """
    # Imported late: numba takes a third of a second.
    from karat.stats.item_kernels import weighted_correlations

    # Moving and scaling a column does not change r, and keeps its sums small.
    middle, spread = table.mean(axis=0), np.ptp(table, axis=0)
    x, y = np.ascontiguousarray(((table - middle) / np.where(spread > 0, spread, 1)).T)
    ranks = [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in table.T]
    levels = np.array([rank.max() + 1 for rank in ranks])

    def statistic(weights: np.ndarray) -> np.ndarray:
        out = np.empty((len(ITEM_COEFFICIENTS), len(weights)))
        rows = np.ascontiguousarray(weights)
        with threads() as loop:
            loop(
                lambda begin, end: weighted_correlations(
                    rows, begin, end, x, y, ranks[0], ranks[1], levels, out
                ),
                0,
                len(rows),
            )
        return out

    return statistic


def tau_b(table: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return what computes Kendall's tau-b of two columns [n, 2] under weights [b, n].

    τ_b = Σ w_i w_j s_ij t_ij / √(Σ w_i w_j |s_ij| · Σ w_i w_j |t_ij|) over pairs i < j with the signs
    s_ij of x_i − x_j and t_ij of y_i − y_j (Kendall, Biometrika 1945). Rows that are drawn twice tie
    with themselves on both sides and drop out by themselves.

    >>> rows = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [4.0, 4.0]])
    >>> tau_b(rows)(np.array([[1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 1.0, 1.0]])).round(3).tolist()
    [0.667, 1.0]
    """
    s, t = (np.sign(np.subtract.outer(column, column)) for column in table.T)

    def statistic(weights: np.ndarray) -> np.ndarray:
        both, first, second = (((weights @ m) * weights).sum(axis=1) for m in (s * t, np.abs(s), np.abs(t)))
        return np.clip(divide(both, np.sqrt(first * second)), -1, 1)

    return statistic


def spearman(table: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return what computes Spearman's ρ of two columns [n, 2] under weights [b, n].

    Pearson's r of the mid-ranks, which change with the weights: the rank of i is
    Σ_j w_j [x_j < x_i] + ½ Σ_j w_j [x_j = x_i], up to a constant.

    >>> rows = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [4.0, 4.0]])
    >>> spearman(rows)(np.ones((1, 4))).round(3).tolist()
    [0.8]
    """
    steps = [(np.sign(np.subtract.outer(column, column)) + 1) / 2 for column in table.T]

    def statistic(weights: np.ndarray) -> np.ndarray:
        x, y = (weights @ step.T - weights.sum(axis=1, keepdims=True) / 2 for step in steps)
        return weighted_pearson(weights, x, y)

    return statistic


def pearson(table: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return what computes Pearson's r of two columns [n, 2] under weights [b, n]."""
    # Moving and scaling a column does not change r, and keeps its sums small.
    middle, spread = table.mean(axis=0), np.ptp(table, axis=0)
    x, y = ((table - middle) / np.where(spread > 0, spread, 1)).T
    return lambda weights: weighted_pearson(weights, x, y)


def weighted_pearson(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Pearson's r of values [n] or [b, n] under weights [b, n]; NaN where one is constant."""
    total = weights.sum(axis=1, keepdims=True)
    dx, dy = (v - divide((weights * v).sum(axis=1, keepdims=True), total) for v in (x, y))
    # A column that is constant where there is weight is told by its values, not by rounded sums.
    there = weights > 0
    varies = [
        np.where(there, v, -np.inf).max(axis=1) > np.where(there, v, np.inf).min(axis=1) for v in (x, y)
    ]
    both, first, second = ((weights * a * b).sum(axis=1) for a, b in ((dx, dy), (dx, dx), (dy, dy)))
    r = np.clip(divide(both, np.sqrt(first) * np.sqrt(second)), -1, 1)
    return np.where(varies[0] & varies[1], r, np.nan)


COEFFICIENTS = {"tau": tau_b, "spearman": spearman, "pearson": pearson}
"""By name: what makes a statistic of weights [b, n] from two columns [n, 2]."""
