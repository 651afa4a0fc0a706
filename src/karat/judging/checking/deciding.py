"""From shares or probabilities of ratings to a verdict; what the ways of aggregating have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat._util import Param, whole
from karat.judging.checking.grouped import Grouped

AGREE = 1e-9
"""Shares are compared with thresholds up to rounding: two thirds reach 2 / 3."""


def disagreement(counts: np.ndarray) -> np.ndarray:
    """Return the share of each row's pairs of answers that differ, NaN with fewer than two.

    >>> disagreement(np.array([[3, 0], [2, 1], [1, 0]])).round(3).tolist()
    [0.0, 0.667, nan]
    """
    counts = counts.astype(np.float64)
    total = counts.sum(axis=1)
    same, pairs = (counts * (counts - 1)).sum(axis=1), total * (total - 1)
    return np.where(total > 1, 1 - same / np.maximum(pairs, 1), np.nan)


def decide(shares: np.ndarray, grouped: Grouped, threshold: float) -> dict[str, Any]:
    """Return the verdict of shares or probabilities over the ratings: first the side, then the rating.

    A pair is relevant when the shares of all relevant ratings together reach the threshold. Its rating is
    the one of that side with the largest share; of equal ones, the nearest to the mean rating of the
    shares, then the lower. So two kinds of "yes" never lose against one "no" by splitting their votes.
    """
    relevant = grouped.grades > 0
    relevance = shares @ relevant
    side = (relevance >= threshold - AGREE) & (relevance > 0)
    on_side = relevant[None] == side[:, None]
    top = np.where(on_side, shares, -1.0)
    best = on_side & (top >= top.max(axis=1, keepdims=True) - AGREE)
    away = np.abs(grouped.ratings[None] - (shares @ grouped.ratings)[:, None])
    # argmin takes the first: ratings are sorted, so the lower of two that are equally far.
    chosen = np.where(best, np.round(away, 9), np.inf).argmin(axis=1)
    return {
        "grade": grouped.grades[chosen],
        "rating": grouped.ratings[chosen],
        "relevance": np.clip(relevance, 0.0, 1.0),
    }


def share(value: Any) -> float:
    """Return a share from 0 to 1; for `Param.type`."""
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError(value)
    return number


def amount(value: Any) -> float:
    """Return a number from 0; for `Param.type`."""
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError(value)
    return number


def times(value: Any) -> int:
    """Return a whole number from 1; for `Param.type`."""
    number = whole(value)
    if number < 1:
        raise ValueError(value)
    return number


# As messages call them: "threshold is 7; give a share from 0 to 1".
for _type, _name in ((share, "share from 0 to 1"), (amount, "number from 0"), (times, "whole number from 1")):
    _type.__name__ = _name


THRESHOLD = Param("threshold", share, "from which relevance on a pair is relevant", default=0.5)
