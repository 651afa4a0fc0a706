"""Boundaries: how many standard errors a confidence sequence reaches to either side.

The error of an estimate after n of N labels is a martingale divided by its clock A = n / (N − n): batches'
errors are martingale differences, weighted by 1 / |O_next| − 1 / |O| (`totals.py`), and the martingale's
variance grows with A. So the half-width is the standard error times a factor of the clock. With
t = A_n / A_target and α = 1 − level it is

    mixture   √((1 + κt) / (κt) · log((1 + κt) / α²)),     κ = log(1 + κ) − 2 log α
    line      √(2 log(2 / α)) · (√t + 1 / √t) / 2

The mixture is that of Robbins (1970) in the asymptotic form of Waudby-Smith, Arbour, Sinha, Kennedy and
Ramdas (2024, "Time-uniform central limit theory and asymptotic confidence sequences", theorem 2.2), here with
the clock of draws without replacement, so that it closes when everything is labelled. κ makes it narrowest
near the target, where it has 3.04 standard errors instead of 1.96. The line is the boundary of one martingale
for each side: 2.72 standard errors at the target, narrower than the mixture while t is within a factor of 2.8
of it, and wider elsewhere. Ends never move back: what one look has excluded stays so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from karat._util import check_choice
from karat.errors import InputError

TARGET = 500
"""The number of labels at which a sequence is narrowest, unless another is chosen before the first look.

Projects and plans use this one, whatever their rule or budget: a rule may change between looks, and a target
that changed with it would break the promise. Off the target the mixture is little wider: with 100 and 5,000
labels out of 50,000 it has 3.35 and 3.26 standard errors instead of 3.04."""
BURN_IN = 50
"""The fewest labels before the first look: with fewer, the estimated variance is not to be trusted."""


def best_scale(level: float = 0.95) -> float:
    """Return κ*, with which a normal mixture is narrowest where its clock has reached the target.

    >>> round(best_scale(), 3)
    8.212
    """
    alpha, scale = error_rate(level), 8.0
    for _ in range(60):
        scale = float(np.log1p(scale) - 2 * np.log(alpha))
    return scale


def mixture_factor(clock: np.ndarray, level: float = 0.95) -> np.ndarray:
    """Return how many standard errors wide a normal mixture is at times that are 1 at the target.

    >>> mixture_factor(np.array([0.1, 1.0, 10.0])).round(2).tolist()
    [3.82, 3.04, 3.25]
    """
    scaled = best_scale(level) * np.asarray(clock, dtype=np.float64)
    return np.sqrt((1 + scaled) / scaled * (np.log1p(scaled) - 2 * np.log(1 - level)))


def line_factor(clock: np.ndarray, level: float = 0.95) -> np.ndarray:
    """Return the same for a straight line that is narrowest at the target.

    >>> line_factor(np.array([0.1, 1.0, 10.0])).round(2).tolist()
    [4.72, 2.72, 4.72]
    """
    root = np.sqrt(np.asarray(clock, dtype=np.float64))
    return np.sqrt(2 * np.log(2 / (1 - level))) * (root + 1 / root) / 2


BOUNDARIES = {"mixture": mixture_factor, "line": line_factor}
"""Factors of the standard error by name, given the clock and the level."""


def clock_of(labels: np.ndarray, frame: float) -> np.ndarray:
    """Return n / (N − n), which goes on to infinity as everything is labelled; n for an endless frame.

    >>> clock_of(np.array([0, 50, 100]), 100).tolist()
    [0.0, 1.0, inf]
    """
    labels = np.asarray(labels, dtype=np.float64)
    if np.isinf(frame):
        return labels
    with np.errstate(divide="ignore"):
        return labels / np.maximum(frame - labels, 0.0)


def sequence_factor(
    labels: np.ndarray,
    frame: float,
    *,
    target: int | None = None,
    level: float = 0.95,
    boundary: str | None = None,
    burn_in: int = BURN_IN,
) -> np.ndarray:
    """Return how many standard errors a confidence sequence reaches to either side.

    Parameters
    ----------
    labels
        How many labels there are; of whole queries, how many queries.
    frame
        How many units there are; infinite for a population.
    target
        At how many labels it should be narrowest, chosen before the first look.
    level
        The probability that all intervals hold.
    boundary
        One of `BOUNDARIES`; by default "line" where a target is given, and otherwise "mixture", at 500.
    burn_in
        The fewest labels before the first look: before, the factor is infinite.

    Examples
    --------
    >>> sequence_factor(np.array([40, 250, 500, 1000]), 4000).round(2).tolist()
    [inf, 3.09, 3.04, 3.08]
    >>> sequence_factor(np.array([40, 250, 500, 1000]), 4000, target=500).round(2).tolist()
    [inf, 2.92, 2.72, 2.96]
    """
    error_rate(level)
    chosen = boundary or ("mixture" if target is None else "line")
    factor = BOUNDARIES[check_choice(chosen, tuple(BOUNDARIES), "boundary")]
    goal = TARGET if target is None else target
    if goal < 1:
        raise InputError(f"target is {goal}", fix="give a number of labels from 1")
    labels = np.asarray(labels)
    # A target beyond the frame would lie at infinity.
    aim = clock_of(np.asarray(min(goal, 0.9 * frame)), frame)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = factor(clock_of(labels, frame) / aim, level)
    return np.where((labels < min(burn_in, frame)) | (labels >= frame), np.inf, out)


def sequence_level(labels: int, frame: float, *, level: float = 0.95, **options: Any) -> float:
    """Return the level of a fixed-time interval that is as wide as a confidence sequence.

    An interval with this level, `interval_estimates(…, level=…)`, is one look of the sequence, with all that
    it does for small samples and for scores near 0 and 1. Below the burn-in it is 1.

    Parameters
    ----------
    labels, frame, level
        As in `sequence_factor`.
    **options
        The other keyword arguments of `sequence_factor`.

    Examples
    --------
    >>> round(sequence_level(500, 4000), 4), round(sequence_level(500, 4000, target=500), 4)
    (0.9976, 0.9934)
    """
    from scipy.special import ndtr

    if labels >= frame:
        return level
    return float(2 * ndtr(sequence_factor(np.asarray(labels), frame, level=level, **options)) - 1)


def error_rate(level: float) -> float:
    """Return 1 − level, or raise."""
    if not 0.5 <= level < 1:
        raise InputError(f"level is {level:g}", fix="give a share from 0.5 to below 1, such as 0.95")
    return 1 - level
