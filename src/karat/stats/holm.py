"""Many tests at once: Holm's correction, and the stars of the papers' tables."""

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


def stars(p: float) -> str:
    """Return the star notation of Hodosh's tables: * p ≤ 0.1, ** p ≤ 0.05, *** p ≤ 0.01.

    >>> [stars(p) for p in (0.2, 0.1, 0.05, 0.001)]
    ['', '*', '**', '***']
    """
    return "*" * sum(p <= level for level in (0.1, 0.05, 0.01))
