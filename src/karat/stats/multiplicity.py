"""Many tests at once: Holm's correction, the stars of the papers' tables, who beats whom, and places."""

from __future__ import annotations

import numpy as np


def holm(p: np.ndarray) -> np.ndarray:
    """Return p-values corrected for how many there are; the chance of any false alarm stays at the level.

    The k-th smallest of m is multiplied by m − k + 1, capped at 1, and never below the one before.
    NaN (a test that could not be made) stays and is not counted. Holm 1979.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=np.float64)
    flat = p.ravel()
    known = np.flatnonzero(~np.isnan(flat))
    order = known[np.argsort(flat[known], kind="stable")]
    factor = np.arange(len(order), 0, -1)
    corrected = np.full(len(flat), np.nan)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(flat[order] * factor))
    return corrected.reshape(p.shape)


STARS = {"*": 0.1, "**": 0.05, "***": 0.01}
"""The marks of Hodosh's tables, and up to which p-value each is given."""


def stars(p: float) -> str:
    """Return the star notation of Hodosh's tables: * p ≤ 0.1, ** p ≤ 0.05, *** p ≤ 0.01.

    >>> [stars(p) for p in (0.2, 0.1, 0.05, 0.001)]
    ['', '*', '**', '***']
    """
    return "*" * sum(p <= level for level in STARS.values())


def star_legend(p: str = "p") -> str:
    """Say what the stars mean, given what the p-value is called.

    >>> star_legend("Holm p")
    '* Holm p ≤ 0.1, ** ≤ 0.05, *** ≤ 0.01'
    """
    first, *others = (f"≤ {level:g}" for level in STARS.values())
    return ", ".join([f"* {p} {first}", *(f"{mark} {level}" for mark, level in zip(list(STARS)[1:], others))])


def who_beats_whom(difference: np.ndarray, p: np.ndarray, alpha: float = 0.05) -> np.ndarray:
    """Return whether each system is significantly better than each other, bool [R, R].

    Parameters
    ----------
    difference
        Row minus column, positive where the row is better, [R, R].
    p
        Corrected p-values, [R, R]; NaN beats none.
    alpha
        The level.
    """
    with np.errstate(invalid="ignore"):
        return (difference > 0) & (p <= alpha)


def place_intervals(beats: np.ndarray) -> np.ndarray:
    """Return the best and the worst place that each system can have, [R, 2].

    A system comes after all that beat it and before all that it beats. If the p-values are corrected
    so that the chance of any false win is α, all these intervals hold together with probability
    1 − α (Mogstad, Romano, Shaikh & Wilhelm, Review of Economic Studies 2024).

    >>> wins = np.zeros((3, 3), bool)
    >>> wins[0, 2] = wins[1, 2] = True
    >>> place_intervals(wins).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    return np.stack([1 + beats.sum(axis=0), len(beats) - beats.sum(axis=1)], axis=1)


def tied_for_first(beats: np.ndarray) -> np.ndarray:
    """Return the systems that no other beats, bool [R]: none of them is shown to be worse than the first.

    >>> wins = np.zeros((3, 3), bool)
    >>> wins[0, 2] = True
    >>> tied_for_first(wins).tolist()
    [True, True, False]
    """
    return np.logical_not(beats.any(axis=0))
