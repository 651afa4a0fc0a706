"""Wilson's interval: how sure a share of few answers is."""

from __future__ import annotations

import numpy as np

from karat.stats import check_level


def wilson(right: np.ndarray, total: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of shares right / total; 0 and 1 where nothing was counted.

    The shares p for which (p̂ − p)² ≤ z² p (1 − p) / n (Wilson, JASA 1927). It stays within 0 and 1 and
    holds about as often as it says from a handful of answers on.

    Examples
    --------
    >>> low, high = wilson(np.array([8, 0, 0]), np.array([10, 5, 0]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.49, 0.0, 0.0], [0.943, 0.434, 1.0])
    """
    from statistics import NormalDist

    z2 = NormalDist().inv_cdf((1 + check_level(level)) / 2) ** 2
    n = np.asarray(total, dtype=np.float64)
    there = n > 0
    share = np.divide(right, n, out=np.full(n.shape, 0.5), where=there)
    middle = (n * share + z2 / 2) / (n + z2)
    half = np.sqrt(z2 * (n * share * (1 - share) + z2 / 4)) / (n + z2)
    # Where all or none are right, the end is that of the scale: rounding must not move it.
    low = np.where(there & (share > 0), middle - half, 0.0)
    return low, np.where(there & (share < 1), middle + half, 1.0)
