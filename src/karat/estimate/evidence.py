"""Evidence: from estimated totals to the ends of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.estimate.interval_estimate import IntervalEstimate
from karat.estimate.totals import Totals, kish
from karat.estimate.unit_values import LabelQuestion
from karat.stats import BORDER, FEWEST, exact_share, unseen_share

LEAST_FREE = 3.0
"""The fewest degrees of freedom that the spread of the contributions can lead to."""


@dataclass(frozen=True, eq=False)
class DrawnEvidence:
    """What drawn labels say about the scores of all runs.

    Parameters
    ----------
    question
        What was asked.
    kind
        The estimator, for the method's name.
    totals
        The estimates, and what their variances are made of.
    moved
        [versions, runs]: the estimates under other error rates of the annotators.
    queries
        Whether units are queries, rather than pairs.
    looked_at
        Per candidate, whether the measure looks at it.
    notes
        What a reader should know.
    """

    question: LabelQuestion
    kind: str
    totals: Totals
    moved: np.ndarray
    queries: bool
    looked_at: np.ndarray
    notes: Sequence[str]

    def contrast(self, per_run: np.ndarray, a: int, b: int | None) -> np.ndarray:
        """Return the row of a run, or the difference of two rows."""
        return per_run[a] if b is None else per_run[a] - per_run[b]

    def variance(self, a: int, b: int | None) -> tuple[float, float]:
        """Return the variance of a score, or of a difference, and its degrees of freedom."""
        totals = self.totals
        moves = self.contrast(totals.moves, a, b)
        design, free = spread(moves, len(moves) - totals.free, unseen=not self.queries)
        parts = [(design, free)]
        if self.question.target == "population":
            clusters = self.contrast(totals.clusters, a, b)
            count = len(clusters)
            between, free = spread(clusters * np.sqrt(count / max(count - 1, 1)), count - 1)
            fixed = design - float((self.contrast(totals.single, a, b) ** 2).sum())
            parts = [(max(between + fixed, design), free)]
        else:
            units = totals.units
            off = (units.weight * units.noise).transpose(1, 0, 2)
            noise = self.contrast(off, a, b)
            parts.append((float(((noise**2).mean(axis=0) * totals.counted).sum()), np.inf))
        # Subtracting the bias would add more to the variance, unless hundreds of queries are drawn.
        bias = (self.contrast(totals.units.weight * totals.units.bias, a, b) * totals.counted).sum()
        parts.append((float(bias) ** 2, np.inf))
        if len(self.moved) > 1:
            parts.append((float(self.contrast(self.moved.T, a, b).var(ddof=1)), len(self.moved) - 1.0))
        total = sum(part for part, _ in parts)
        lost = sum(part**2 / freedom for part, freedom in parts)
        return total, total**2 / lost if lost > 0 else np.inf

    def estimate(self, a: int, b: int | None = None) -> IntervalEstimate:
        """Return the estimate of a run's score, or of the difference of two."""
        totals = self.totals
        units, value = totals.units, float(self.contrast(totals.value, a, b))
        # Queries count for a difference as they do for a score: it is their values that differ.
        weight = units.weight[a] if len(units.value) > 1 else self.contrast(units.weight, a, b)
        known = units.known & (weight != 0)
        counted = np.abs(weight * totals.counted)[known]
        effective = round(kish(counted))
        ends = self.ends(value, a, b, weight, int(known.sum()))
        if known.sum() < FEWEST and (weight[~units.known] != 0).any():
            ends = (np.nan, np.nan)
        low, high = self.limits(a, b)
        return self.question.estimate(
            a,
            b,
            float(np.clip(value, low, high)),
            ends,
            self.kind,
            (int((self.looked_at & self.question.labels.vetted).sum()), effective),
            self.looked_at,
            weight=tuple(float(c) for c in totals.coefficients[a, 1:]) if b is None else (),
        )

    def limits(self, a: int, b: int | None) -> tuple[float, float]:
        """Return what the score, or the difference, can be at all."""
        widest = (0.0 if b is None else -1.0), 1.0
        units = self.totals.units
        if self.question.target == "population" or units.noise.any():
            return widest
        sure = np.nansum(np.where(units.known, units.weight * units.value, 0.0), axis=1)
        rest = np.where(units.known, 0.0, units.weight)
        if b is None:
            return float(sure[a]), float(sure[a] + rest[a].sum())
        apart = float(sure[a] - sure[b])
        if len(units.value) > 1:
            return apart - float(rest[b].sum()), apart + float(rest[a].sum())
        rest = rest[a] - rest[b]
        return apart + float(np.minimum(rest, 0).sum()), apart + float(np.maximum(rest, 0).sum())

    def ends(self, value: float, a: int, b: int | None, weight: np.ndarray, n: int) -> tuple[float, float]:
        """Return the ends of the interval."""
        from scipy.special import ndtri, stdtrit

        question, totals = self.question, self.totals
        variance, free = self.variance(a, b)
        tail = (1 + question.level) / 2
        t = float(stdtrit(max(free, 1.0), tail)) if np.isfinite(free) else float(ndtri(tail))
        low, high = self.limits(a, b)
        open_weight = float(np.abs(weight[~totals.units.known]).sum())
        if variance <= 1e-18:
            # No two draws differ in what they say: others may have gone unseen.
            reach = unseen_share(max(n, 1), question.level) * open_weight
            ends = value - reach, value + reach
        else:
            reach = t * np.sqrt(variance)
            ends = value - reach, value + reach
            inside = min(max(value, 0.0), 1.0)
            if b is None and 0 < inside < 1:
                size = inside * (1 - inside) / variance
                if size * min(inside, 1 - inside) < BORDER:
                    ends = exact_share(inside, size * (float(ndtri(tail)) / t) ** 2, question.level)
        unknown = totals.uncovered
        if unknown.any():
            w = weight[unknown]
            m = np.clip(self.contrast(totals.fitted, a, None)[unknown], 0.0, 1.0)
            ends = (
                ends[0] - float(np.maximum(w * m, w * (m - 1)).sum()),
                ends[1] + float(np.maximum(w * (1 - m), -w * m).sum()),
            )
        return max(low, ends[0]), min(high, ends[1])


def spread(moves: np.ndarray, most_free: float, unseen: bool = False) -> tuple[float, float]:
    """Return the sum of squares and its degrees of freedom, by its own variance (Satterthwaite 1946).

    Good predictions of labels leave many small errors and a few large ones, of which a sample may miss some.
    It then shows too small a variance, and too little doubt about it: the squares that it has look alike.
    With `unseen`, one more square like the largest is expected.

    >>> spread(np.array([1.0, -1.0, 1.0, -1.0]), 3)
    (4.0, 3.0)
    >>> moves = np.r_[3.0, np.ones(40)]
    >>> [round(spread(moves, 40, unseen)[1], 1) for unseen in (False, True)]
    [40.0, 33.5]
    """
    squares = moves**2
    total = float(squares.sum())
    apart = float((squares**2).sum()) - total**2 / max(len(moves), 1)
    if unseen:
        apart += float(squares.max(initial=0.0)) ** 2
    free = 2 * total**2 / apart if apart > 1e-12 * total**2 else np.inf
    return total, float(max(min(free, most_free), min(LEAST_FREE, max(most_free, 1.0))))
