"""Do two scores of many items rise together? Pearson, Spearman and Kendall with intervals over items.

`karat.stats.correlation` compares metrics over a few dozen systems and keeps every pair of them in memory.
Here there are tens of thousands of items, which may come in clusters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.runs.threads import threads
from karat.stats.estimate import Estimate
from karat.stats.intervals import Intervals
from karat.stats.kinds import Kinds, as_numbers, number_clusters
from karat.validation import InputError

COEFFICIENTS = ("pearson", "spearman", "tau")


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
    >>> found = item_correlations([1, 2, 3, 4, 5], [1, 3, 2, 4, 5], intervals=Intervals(resamples=100))
    >>> {name: round(one.value, 3) for name, one in found.items()}
    {'pearson': 0.9, 'spearman': 0.9, 'tau': 0.8}
    """
    columns = [as_numbers(x, "x"), as_numbers(y, "y")]
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
        shapes = " and ".join(str(column.shape) for column in columns)
        raise InputError(f"x and y have the shapes {shapes}", fix="give both one number per item")
    table = np.column_stack(columns)
    if np.isinf(table).any():
        raise InputError("x or y holds an infinite number", fix="give finite numbers, NaN for none")
    kept = ~np.isnan(table).any(axis=1)
    cluster = number_clusters(clusters, len(table), kept)
    made = intervals or Intervals()
    if not kept.any():
        nothing = Estimate(np.nan, np.nan, np.nan, made.level, made.shown, 0, 0)
        return dict.fromkeys(COEFFICIENTS, nothing)
    # The side with more values is sorted, the other is searched: the fewer it has, the quicker.
    distinct = [len(np.unique(column[kept])) for column in columns]
    known = table[kept] if distinct[0] >= distinct[1] else table[kept][:, ::-1]
    alike, kind = np.unique(known, axis=0, return_inverse=True)
    statistic = correlations_of(alike)
    found = Kinds(kind.ravel(), len(alike), cluster).estimates(statistic, made)
    return dict(zip(COEFFICIENTS, found))


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
        out = np.empty((len(COEFFICIENTS), len(weights)))
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
