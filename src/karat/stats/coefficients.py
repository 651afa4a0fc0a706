"""Tau-b, Spearman and Pearson of two columns as functions of weights on their rows, vectorised.

Whole weights mean repeated rows, so that a bootstrap is one matrix product instead of a loop.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from karat.stats.samples import divide


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
        both, one, two = (((weights @ m) * weights).sum(axis=1) for m in (s * t, np.abs(s), np.abs(t)))
        return np.clip(divide(both, np.sqrt(one * two)), -1, 1)

    return statistic


def pearson(table: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return what computes Pearson's r of two columns [n, 2] under weights [b, n]."""
    # Moving and scaling a column does not change r, and keeps its sums small.
    middle, spread = table.mean(axis=0), np.ptp(table, axis=0)
    x, y = ((table - middle) / np.where(spread > 0, spread, 1)).T
    return lambda weights: weighted_pearson(weights, x, y)


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


def weighted_pearson(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Pearson's r of values [n] or [b, n] under weights [b, n]; NaN where one is constant."""
    total = weights.sum(axis=1, keepdims=True)
    dx, dy = (v - divide((weights * v).sum(axis=1, keepdims=True), total) for v in (x, y))
    # A column that is constant where there is weight is told by its values, not by rounded sums.
    there = weights > 0
    varies = [
        np.where(there, v, -np.inf).max(axis=1) > np.where(there, v, np.inf).min(axis=1) for v in (x, y)
    ]
    both, one, two = ((weights * a * b).sum(axis=1) for a, b in ((dx, dy), (dx, dx), (dy, dy)))
    r = np.clip(divide(both, np.sqrt(one) * np.sqrt(two)), -1, 1)
    return np.where(varies[0] & varies[1], r, np.nan)


COEFFICIENTS = {"tau": tau_b, "spearman": spearman, "pearson": pearson}
"""By name: what makes a statistic of weights [b, n] from two columns [n, 2]."""
