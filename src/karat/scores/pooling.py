"""From values per query to one number, with its bounds, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.benchmarks import Benchmark, Direction
from karat.measures import Measure
from karat.scores.batches import Batch
from karat.validation import plural


def pool_folds(measure: Measure, values: np.ndarray, folds: np.ndarray) -> float | None:
    """Return the mean over folds of what each pools to; None when no query has a value."""
    pooled = [measure.pool(values[folds == fold])[0] for fold in np.unique(folds)]
    known = [value for value in pooled if not np.isnan(value)]
    return float(np.mean(known)) if known else None


def pooled(
    measure: Measure, batches: Sequence[Batch], folds: np.ndarray, benchmark: Benchmark, direction: Direction
) -> tuple[float | None, str | None]:
    """Return the aggregate, or why there is none."""
    unanswered = np.concatenate([batch.unanswered[measure] for batch in batches])
    if unanswered.any():
        first = int(np.flatnonzero(unanswered)[0])
        query = np.concatenate([batch.queries for batch in batches])[first]
        depth = int(np.concatenate([batch.depth for batch in batches])[first])
        asked = plural(int(unanswered.sum()), "image" if direction == "i2t" else "caption")
        return None, (
            f"the ranking of {asked} ends too early, "
            f"first {benchmark.queries(direction)[query]} with {plural(depth, 'known place')}"
        )
    value = pool_folds(measure, np.concatenate([batch.values[measure] for batch in batches]), folds)
    if value is None:
        return None, f"no query has {measure.wants}"
    if not np.isfinite(value):
        return None, "the rankings end before the first relevant item of too many queries"
    return value, None


def bounds_of(
    measure: Measure, value: float | None, batches: Sequence[Batch], folds: np.ndarray
) -> tuple[float | None, float | None]:
    """Return the bounds: the score itself, and what it is if every unjudged pair is relevant.

    Over the queries that have a value; for these the normaliser is fixed.
    """
    if value is None or any(
        measure not in batch.upper or batch.upper_unanswered[measure].any() for batch in batches
    ):
        return None, None
    ends = [np.where(np.isnan(batch.values[measure]), np.nan, batch.upper[measure]) for batch in batches]
    other = pool_folds(measure, np.concatenate(ends), folds)
    if other is None or not np.isfinite(other):
        return None, None
    return (value, other) if measure.better == "high" else (other, value)
