"""Do two metrics order systems alike? Kendall's tau-b, Spearman's rho and Pearson's r with intervals."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from karat.stats.coefficients import COEFFICIENTS
from karat.stats.estimate import Estimate
from karat.stats.intervals import Intervals, drawn
from karat.stats.kinds import as_numbers
from karat.stats.resampling import Resampling, leave_one_out
from karat.validation import InputError, check_choice


@dataclass(frozen=True, repr=False)
class Correlation(Estimate):
    """A correlation with its interval, and the p-value of there being none (NaN where scipy gives none).

    >>> Correlation(0.72, 0.51, 0.88, 0.95, "percentile", 25, 25, p=1e-7)
    0.72 (0.51 to 0.88, 95% percentile, n = 25)
    """

    p: float = np.nan


SCIPY = {"tau": "kendalltau", "spearman": "spearmanr", "pearson": "pearsonr"}


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
    the correlation is not defined: NaN; resamples where that happens are left out of the interval.

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
    found = correlation_matrix(
        np.column_stack(columns), coefficient, level=level, resamples=resamples, seed=seed, method=method
    )
    return found[0, 1]


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
        raise InputError("values is not a table of finite numbers", fix="give a row per system, NaN for none")
    systems, metrics = table.shape
    found = np.empty((metrics, metrics), object)
    for a, b in combinations(range(metrics), 2):
        pair = table[:, [a, b]]
        kept = ~np.isnan(pair).any(axis=1)
        known, n = pair[kept], int(kept.sum())
        value, low, high = np.full(3, np.nan)
        if n:
            statistic = COEFFICIENTS[coefficient](known)
            value = statistic(np.ones((1, n)))[0]
        if not np.isnan(value):
            blocks = Resampling(systems, resamples, seed).blocks()
            draws = drawn(statistic, (block[:, kept] for block in blocks))
            left = drawn(statistic, leave_one_out(n)) if intervals.method == "bca" else None
            low, high = intervals.ends(value, draws, left)
        p = np.nan if np.isnan(value) else p_value(known, coefficient)
        ends = (float(low), float(high), level, intervals.shown)
        found[a, b] = found[b, a] = Correlation(float(value), *ends, n, n, p)
    for a in range(metrics):
        n = int((~np.isnan(table[:, a])).sum())
        found[a, a] = Correlation(1.0, 1.0, 1.0, level, "itself", n, n)
    return found


def p_value(table: np.ndarray, coefficient: str) -> float:
    """Return scipy's p-value of no association; NaN for fewer than three systems."""
    # Imported late: scipy.stats takes nearly a second.
    from scipy import stats

    if len(table) < 3:
        return np.nan
    with warnings.catch_warnings():
        # Of columns that are nearly constant.
        warnings.simplefilter("ignore")
        p = float(getattr(stats, SCIPY[coefficient])(table[:, 0], table[:, 1]).pvalue)
    # Pearson's formula rounds to 0 where the points lie on a line.
    return max(p, float(np.finfo(np.float64).tiny))
