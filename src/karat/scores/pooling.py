"""From values per query to one number, with its bounds, or the reason why there is none."""

from __future__ import annotations

import numpy as np

from karat.benchmarks import Benchmark, Direction
from karat.measures import Measure
from karat.measures.ranked import Ranked
from karat.validation import plural


def pool_folds(measure: Measure, values: np.ndarray, folds: np.ndarray) -> float | None:
    """Return the mean over folds of what each pools to; None when no query has a value."""
    pooled = [measure.pool(values[folds == fold])[0] for fold in np.unique(folds)]
    known = [value for value in pooled if not np.isnan(value)]
    return float(np.mean(known)) if known else None


def pooled(
    measure: Measure,
    values: np.ndarray,
    folds: np.ndarray,
    ranked: list[Ranked],
    queries: np.ndarray,
    benchmark: Benchmark,
    direction: Direction,
) -> tuple[float | None, str | None]:
    """Return the aggregate, or why there is none."""
    unanswered = np.concatenate([measure.unanswered(part) for part in ranked])
    depth = np.concatenate([part.depth for part in ranked])
    if unanswered.any():
        first = int(np.flatnonzero(unanswered)[0])
        asked = plural(int(unanswered.sum()), "image" if direction == "i2t" else "caption")
        return None, (
            f"the ranking of {asked} ends too early, "
            f"first {benchmark.queries(direction)[queries[first]]} with {int(depth[first]):,} known places"
        )
    value = pool_folds(measure, values, folds)
    if value is None:
        return None, "no query has a relevant item"
    if not np.isfinite(value):
        return None, "the rankings end before the first relevant item of too many queries"
    return value, None


def bounds_of(
    measure: Measure, value: float, values: np.ndarray, folds: np.ndarray, upper: list[Ranked]
) -> tuple[float | None, float | None]:
    """Return the bounds: the score itself, and what it is if every unjudged pair is relevant.

    Over the queries that have a value; for these the normaliser is fixed.
    """
    if any(measure.unanswered(part).any() for part in upper):
        return None, None
    best = np.where(np.isnan(values), np.nan, np.concatenate([measure(part) for part in upper]))
    other = pool_folds(measure, best, folds)
    if other is None or not np.isfinite(other):
        return None, None
    return (value, other) if measure.better == "high" else (other, value)
