"""Where a scale of ratings or a score is cut into yes and no, when nobody says."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal

import numpy as np

from karat.validation import InputError

MOST_THRESHOLDS = 9
"""Of each side, unless they are named: what fits beside each other on a screen."""
SHARES = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
"""Where a score with many values is cut, as shares of the pairs below."""


def usual_thresholds(ratings: np.ndarray) -> np.ndarray:
    """Return every value above the lowest or, where there are too many, some that part the ratings evenly.

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

    They part the pairs at the shares `SHARES`: few pairs are relevant, so more of them lie near the top.

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


def round_down(value: float, digits: int = 3) -> float:
    """Return a number with so many digits, never above it.

    >>> round_down(2 / 3), round_down(-2 / 3), round_down(12345.6), round_down(0.2)
    (0.666, -0.667, 12300.0, 0.2)
    """
    exact = Decimal(f"{value:.12g}")
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_FLOOR))
