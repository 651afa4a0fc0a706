"""From one value per query to one number: weighted means and medians, NaN left out.

Weights have a row per resample, so that a bootstrap of any measure is one call.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Aggregate(Protocol):
    """Aggregates per-query values; `weights` of shape [B, Q] gives B numbers, None the plain one."""

    name: str

    def __call__(self, values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return the aggregated values, shape [B]; NaN where nothing is defined."""
        ...


def _prepare(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    defined = ~np.isnan(values)
    if weights is None:
        weights = np.ones((1, len(values)))
    return values[defined], weights[:, defined].astype(np.float64)


class Mean:
    """The weighted mean.

    >>> MEAN(np.array([1.0, np.nan, 2.0])).tolist()
    [1.5]
    """

    name = "mean"

    def __call__(self, values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return Σ w v / Σ w of each row of `weights`."""
        values, weights = _prepare(values, weights)
        total = weights.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights @ values) / total


class Median:
    """The weighted median: what `np.median` gives when each value is repeated weight times.

    >>> MEDIAN(np.array([1.0, 3.0, 10.0, 2.0])).tolist()
    [2.5]
    >>> MEDIAN(np.array([1.0, 3.0, 10.0]), np.array([[3, 1, 1], [0, 1, 1]])).tolist()
    [1.0, 6.5]
    """

    name = "median"

    def __call__(self, values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return the value at half of the weight, or the mean of the two around it."""
        values, weights = _prepare(values, weights)
        order = np.argsort(values, kind="stable")
        out = np.full(len(weights), np.nan)
        for row, w in enumerate(weights):
            # Row by row: a [B, Q] array of running sums would need gigabytes.
            running = np.cumsum(w[order])
            if len(running) and running[-1] > 0:
                half = running[-1] / 2
                low = np.searchsorted(running, half, side="left")
                high = min(np.searchsorted(running, half, side="right"), len(running) - 1)
                out[row] = values[order[low]] / 2 + values[order[high]] / 2
        return out


MEAN = Mean()
MEDIAN = Median()
