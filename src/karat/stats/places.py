"""Many systems: who beats whom, which places each can have, who is tied for first."""

from __future__ import annotations

import numpy as np


def who_beats_whom(difference: np.ndarray, p: np.ndarray, alpha: float = 0.05) -> np.ndarray:
    """Return whether each system is significantly better than each other, bool [R, R].

    Parameters
    ----------
    difference
        Row minus column, positive where the row is better, [R, R].
    p
        Corrected p-values, [R, R]; NaN beats nobody.
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
    """Return the systems that nobody beats, bool [R]: first place belongs to one of them.

    >>> wins = np.zeros((3, 3), bool)
    >>> wins[0, 2] = True
    >>> tied_for_first(wins).tolist()
    [True, True, False]
    """
    return np.logical_not(beats.any(axis=0))
