"""Sequences: intervals that may be looked at after every answer, since they hold at all looks together.

The half-width is the standard error times a factor (`boundaries.py`). For uniform draws there is also a
sequence that holds exactly, at any size: a bet against every possible mean (Waudby-Smith and Ramdas 2023,
"Estimating means of bounded random variables by betting", section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.errors import InputError
from karat.estimation.statistics.boundaries import TARGET, error_rate, sequence_factor

GRID = 1000
"""How many possible means are bet against."""


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    """Intervals after each look, which hold together; `confidence_sequence` makes it.

    Parameters
    ----------
    labels
        Per look, how many labels there were.
    value
        The estimates.
    low, high
        The intervals: infinite before the burn-in is over.
    level
        The probability that all of them hold.
    frame
        How many units there are; infinite for a population.
    """

    labels: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float
    frame: float

    @classmethod
    def of_looks(
        cls, labels: np.ndarray, value: np.ndarray, low: np.ndarray, high: np.ndarray, level: float,
        frame: float,
    ) -> ConfidenceSequence:  # fmt: skip
        """Return the sequence of looks that hold together: ends never move back.

        Where two looks exclude each other, which happens in fewer projects than miss the truth, the ends
        meet.
        """
        low, high = np.maximum.accumulate(low), np.minimum.accumulate(high)
        apart = low > high
        low[apart] = high[apart] = (low[apart] + high[apart]) / 2
        return cls(labels, value, low, high, level, frame)

    @property
    def width(self) -> np.ndarray:
        """Per look, from the lower to the upper end."""
        return self.high - self.low

    def excludes(self, value: float) -> bool:
        """Whether any look so far excludes a value; what was excluded once stays so."""
        return bool((self.low > value).any() or (self.high < value).any())


def confidence_sequence(
    value: Sequence[float] | np.ndarray,
    variance: Sequence[float] | np.ndarray,
    labels: Sequence[int] | np.ndarray,
    frame: float,
    *,
    level: float = 0.95,
    **options: Any,
) -> ConfidenceSequence:
    """Return intervals that hold at all looks together, given estimates and their variances.

    Parameters
    ----------
    value, variance, labels
        Per look, in order, the estimate, its estimated variance, and the number of labels that it rests on.
        Estimates are weighted means of batches whose errors have the mean 0 given the past.
    frame, level
        As in `sequence_factor`.
    **options
        The other keyword arguments of `sequence_factor`.

    Examples
    --------
    >>> looks = confidence_sequence([0.31, 0.29], [9e-4, 1e-4], [60, 500], 4000)
    >>> looks.low.round(3).tolist(), looks.high.round(3).tolist()
    ([0.197, 0.26], [0.423, 0.32])
    """
    middle, spread, number = (np.atleast_1d(np.asarray(part)) for part in (value, variance, labels))
    factor = sequence_factor(number, frame, level=level, **options)
    # A variance of 0 says that all labels were alike so far, not that all are.
    known = (spread > 0) & np.isfinite(factor)
    half = np.full(len(middle), np.inf)
    half[known] = np.sqrt(spread[known]) * factor[known]
    half[number >= frame] = 0.0
    return ConfidenceSequence.of_looks(number, middle, middle - half, middle + half, level, frame)


def betting_sequence(
    value: np.ndarray,
    frame: int,
    *,
    low: float = 0.0,
    high: float = 1.0,
    target: int = TARGET,
    level: float = 0.95,
    grid: int = GRID,
) -> ConfidenceSequence:
    """Return intervals of a mean over `frame` units, exact for uniform draws without replacement.

    Against every possible mean m a capital of 1 is bet, half on more and half on less: K_t is multiplied by
    1 ± λ_t (x_t − m_t), where m_t is the mean of what is still to be drawn if m were true. If it is true, the
    capital exceeds 1 / (1 − level) at any time with a probability of at most 1 − level (Ville). The bets λ_t
    look at earlier draws alone.

    Parameters
    ----------
    value
        What was drawn, in order: labels, or labels less predictions.
    frame
        How many units there are.
    low, high
        Between which every value lies.
    target
        For how many labels the bets are best.
    level
        The probability that all intervals hold.
    grid
        How many means are tried; the ends are rounded outwards to them.

    Examples
    --------
    >>> drawn = np.random.default_rng(0).permutation(np.r_[np.ones(300), np.zeros(700)])
    >>> looks = betting_sequence(drawn, 1000)
    >>> [(float(looks.low[n - 1].round(3)), float(looks.high[n - 1].round(3))) for n in (50, 500, 1000)]
    [(0.014, 0.64), (0.259, 0.335), (0.299, 0.302)]
    """
    alpha = error_rate(level)
    x = (np.asarray(value, dtype=np.float64) - low) / (high - low)
    if len(x) and not (x.min() >= -1e-9 and x.max() <= 1 + 1e-9):
        raise InputError(
            f"a value lies outside of {low:g} to {high:g}", fix="give bounds that hold for every unit"
        )
    n = len(x)
    number = np.arange(1, n + 1)
    before = np.r_[0.0, np.cumsum(x)[:-1]]
    mean = (0.5 + before) / number
    scatter = np.r_[0.0, np.cumsum((x - mean) ** 2)[:-1]]
    variance = (0.25 + scatter) / number
    # As much as is best at the target, and later what is best now.
    bet = np.sqrt(2 * np.log(2 / alpha) / (variance * np.maximum(min(target, frame), number)))
    means = np.linspace(0.0, 1.0, grid + 1)
    up, down = np.zeros(grid + 1), np.zeros(grid + 1)
    bounds = np.empty((n, 2))
    possible = np.ones(grid + 1, bool)
    limit = np.log(2 / alpha)
    for t in range(n):
        rest = (frame * means - before[t]) / (frame - t)
        # Means that the draws rule out by themselves: more, or fewer, than there are units left.
        possible &= (rest > -1e-12) & (rest < 1 + 1e-12)
        rest = np.clip(rest, 0.0, 1.0)
        step = x[t] - rest
        with np.errstate(divide="ignore", invalid="ignore"):
            up += np.log1p(np.minimum(bet[t], 0.5 / rest) * step)
            down += np.log1p(-np.minimum(bet[t], 0.5 / (1 - rest)) * step)
        # Half of the capital each: either half alone suffices.
        possible &= ~(np.fmax(up, down) >= limit)
        inside = np.flatnonzero(possible)
        ends = (inside[0], inside[-1]) if len(inside) else (0, grid)
        bounds[t] = means[max(ends[0] - 1, 0)], means[min(ends[1] + 1, grid)]
    bounds = low + (high - low) * bounds
    estimate = low + (high - low) * np.cumsum(x) / number
    return ConfidenceSequence(number, estimate, bounds[:, 0], bounds[:, 1], level, frame)
