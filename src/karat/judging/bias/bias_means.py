"""Means of what is defined, and numbers as json takes them."""

from __future__ import annotations

import numpy as np


def mean_where(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return the mean of some values of each row; NaN where there are none.

    >>> mean_where(np.array([[1.0, 3.0], [1.0, 3.0]]), np.array([[True, True], [False, False]])).tolist()
    [2.0, nan]
    """
    count = where.sum(axis=1)
    total = np.where(where, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def mean_of(values: np.ndarray) -> float | None:
    """Return the mean of what is defined; None where nothing is.

    >>> mean_of(np.array([1.0, np.nan, 2.0])), mean_of(np.array([np.nan]))
    (1.5, None)
    """
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def number(value: float) -> float | None:
    """Return a plain number, None for NaN: json has no other word for it."""
    return None if np.isnan(value) else float(value)
