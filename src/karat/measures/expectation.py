"""Exact expectations over the places that tied items may take."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

Array = np.ndarray


TERMS: dict[str, Callable[[Array], Array]] = {
    "log": np.log,
    "harmonic": np.reciprocal,
    "discount": lambda n: 1 / np.log2(n + 1),
}


@lru_cache(maxsize=8)
def _running_sum(kind: str, size: int) -> Array:
    numbers = np.arange(1, size + 1, dtype=np.float64)
    table = np.concatenate([[0.0], np.cumsum(TERMS[kind](numbers))])
    table.setflags(write=False)
    return table


def running_sum(kind: str, upto: Array) -> Array:
    """Return Σ_{n ≤ upto} of log n ("log"), 1/n ("harmonic") or 1/log₂(n + 1) ("discount").

    >>> running_sum("harmonic", np.array([0, 1, 2])).tolist()
    [0.0, 1.0, 1.5]
    """
    index = np.asarray(upto, dtype=np.int64)
    # A power of two keeps the number of different tables small.
    size = 1 << int(index.max(initial=1)).bit_length()
    return _running_sum(kind, size)[index]


def log_choose(n: Array, k: Array) -> Array:
    """Return log C(n, k) for 0 ≤ k ≤ n."""
    return running_sum("log", n) - running_sum("log", k) - running_sum("log", n - k)


def chance_of_none(width: Array, count: Array, slots: Array) -> Array:
    """Return the chance that none of `count` items lies in `slots` of `width` places.

    C(width − count, slots) / C(width, slots), hypergeometric.

    >>> chance_of_none(np.array([4.0]), np.array([1.0]), np.array([1.0])).round(12).tolist()
    [0.75]
    """
    possible = width - count >= slots
    rest = np.where(possible, width - count, width)
    return np.where(possible, np.exp(log_choose(rest, slots) - log_choose(width, slots)), 0.0)


def mean_over_first(start: Array, width: Array, relevant: Array, value: Callable[[Array], Array]) -> Array:
    """Return E[value(place of the first relevant item)] of a tied group, for many groups.

    With T places after `start` and m relevant items, the first one lies on the p-th place with
    chance C(T − p, m − 1) / C(T, m). Groups of the same shape are computed once.
    """
    shape = np.broadcast_shapes(start.shape, width.shape, relevant.shape)
    stacked = np.stack([np.broadcast_to(x, shape).ravel() for x in (start, width, relevant)])
    kinds, which = np.unique(stacked, axis=1, return_inverse=True)
    means = np.zeros(kinds.shape[1])
    for number, (before, places, m) in enumerate(kinds.T):
        if np.isfinite(before):
            p = np.arange(1, places - m + 2)
            chance = np.exp(log_choose(places - p, m - 1) - log_choose(places, m)) if places > 1 else 1.0
            means[number] = np.sum(chance * value(before + p))
    return means[which].reshape(shape)
