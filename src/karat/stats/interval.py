"""From resampled numbers to the ends of an interval: percentile and BCa."""

from __future__ import annotations

import numpy as np

from karat.validation import InputError

FAR = 1e200
METHODS = ("percentile", "bca")
"""How an interval is made from resampled numbers."""


def check_level(level: float) -> float:
    """Return a level that lies between 0 and 1, or raise."""
    if not 0 < level < 1:
        raise InputError(f"level is {level:g}", fix="give a share such as 0.95")
    return level


def percentile(draws: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the percentile interval of resampled numbers; draws that are NaN are left out.

    Parameters
    ----------
    draws
        Resampled numbers, shape [..., B].
    level
        How often it should hold.

    Examples
    --------
    >>> low, high = percentile(np.arange(101.0), level=0.9)
    >>> round(low.item(), 9), round(high.item(), 9)
    (5.0, 95.0)
    """
    tail = (1 - check_level(level)) / 2
    low, high = quantiles(draws, np.array([tail, 1 - tail]))
    return low, high


def quantiles(draws: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return quantiles over the last axis, NaN left out; NaN where nothing is left.

    Infinite draws (medians beyond the end of a ranking) are larger or smaller than all others:

    >>> quantiles(np.array([1.0, 2.0, np.inf, np.inf]), np.array([0.0, 0.5, 1.0])).tolist()
    [1.0, inf, inf]
    """
    # A stand-in, since numpy's interpolation subtracts: infinity less itself is nothing.
    known = np.clip(draws, -FAR, FAR)
    missing = np.isnan(known)
    if missing.any():
        some = ~missing.all(axis=-1)
        found = np.nanquantile(np.where(some[..., None], known, 0.0), shares, axis=-1)
        found = np.where(some, found, np.nan)
    else:
        found = np.quantile(known, shares, axis=-1)
    return np.where(np.abs(found) > FAR / 1e9, np.copysign(np.inf, found), found)


def bca(
    value: np.ndarray | float, draws: np.ndarray, jackknife: np.ndarray, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bias-corrected and accelerated interval.

    z₀ = Φ⁻¹(share of draws below the value, ties by half), a = Σ d³ / (6 (Σ d²)^{3/2}) with
    d = mean of the leave-one-out values minus each; the ends are the draws' quantiles at
    Φ(z₀ + (z₀ ± z) / (1 − a (z₀ ± z))). Efron, JASA 1987.

    Parameters
    ----------
    value
        The number itself, shape [...].
    draws
        Resampled numbers, shape [..., B].
    jackknife
        The number with each cluster left out, shape [..., C].
    level
        How often it should hold.

    Examples
    --------
    Where the draws lie evenly around the value and nothing is skewed, it is the percentile interval:

    >>> low, high = bca(50.0, np.arange(101.0), np.array([-1.0, 0.0, 1.0]), level=0.9)
    >>> round(low.item(), 9), round(high.item(), 9)
    (5.0, 95.0)
    """
    from scipy.special import ndtr, ndtri

    value, draws, jackknife = np.asarray(value), np.atleast_1d(draws), np.atleast_1d(jackknife)
    shape = draws.shape[:-1]
    ends = np.full((2, *shape), np.nan)
    z = ndtri(np.array([1 - check_level(level), 1 + level]) / 2)
    for at in np.ndindex(shape):
        known = draws[at][~np.isnan(draws[at])]
        left = jackknife[at][np.isfinite(jackknife[at])]
        if not len(known) or not len(left) or np.isnan(value[at]):
            continue
        below = ((known < value[at]).sum() + (known == value[at]).sum() / 2) / len(known)
        # One draw in a pool of B tells nothing beyond 1 / B: keeps the correction finite.
        bias = ndtri(np.clip(below, 0.5 / len(known), 1 - 0.5 / len(known)))
        d = left.mean() - left
        spread = (d**2).sum() ** 1.5
        acceleration = (d**3).sum() / (6 * spread) if spread > 0 else 0.0
        shares = ndtr(bias + (bias + z) / (1 - acceleration * (bias + z)))
        ends[(slice(None), *at)] = quantiles(known, shares)
    return ends[0], ends[1]
