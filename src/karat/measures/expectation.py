"""Exact expectations over the places that tied items may take."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

Array = np.ndarray


TERMS: dict[str, Callable[[Array], Array]] = {
    "harmonic": np.reciprocal,
    "discount": lambda n: 1 / np.log2(n + 1),
    "log": np.log,
}


@lru_cache(maxsize=8)
def _running_sum(kind: str, size: int) -> Array:
    numbers = np.arange(1, size + 1, dtype=np.float64)
    table = np.concatenate([[0.0], np.cumsum(TERMS[kind](numbers))])
    table.setflags(write=False)
    return table


def running_sum(kind: str, upto: Array) -> Array:
    """Return Σ_{n ≤ upto} of 1/n ("harmonic"), of 1/log₂(n + 1) ("discount"), or of log n ("log").

    >>> running_sum("harmonic", np.array([0, 1, 2])).tolist()
    [0.0, 1.0, 1.5]
    """
    index = np.asarray(upto, dtype=np.int64)
    # A power of two keeps the number of different tables small.
    size = 1 << int(index.max(initial=1)).bit_length()
    return _running_sum(kind, size)[index]


def chance_of_none(width: Array, count: Array, slots: Array) -> Array:
    """Return the chance that none of `count` items lies in `slots` of `width` places.

    C(width − count, slots) / C(width, slots), hypergeometric, as a product of min(count, slots)
    factors, which loses no digits.

    >>> chance_of_none(np.array([4.0]), np.array([1.0]), np.array([1.0])).tolist()
    [0.75]
    """
    few, many = np.minimum(count, slots), np.maximum(count, slots)
    chance = np.ones(np.broadcast_shapes(np.shape(few), np.shape(width)))
    for step in range(int(few.max(initial=0))):
        factor = np.maximum(width - many - step, 0) / np.maximum(width - step, 1)
        chance = np.where(step < few, chance * factor, chance)
    return chance


def mean_over_first(start: Array, width: Array, relevant: Array, value: Callable[[Array], Array]) -> Array:
    """Return E[value(place of the first relevant item)] of a tied group, for many groups.

    With T places after `start` and m relevant items, places 1 to p − 1 hold none with chance
    Π_{i < p − 1} (T − m − i) / (T − i), and place p then holds one with chance m / (T − p + 1).
    Groups of the same shape are computed once.
    """
    shape = np.broadcast_shapes(start.shape, width.shape, relevant.shape)
    stacked = np.stack([np.broadcast_to(x, shape).ravel() for x in (start, width, relevant)])
    kinds, which = np.unique(stacked, axis=1, return_inverse=True)
    means = np.zeros(kinds.shape[1])
    for number, (before, places, m) in enumerate(kinds.T):
        if np.isfinite(before):
            p = np.arange(1, places - m + 2)
            none_before = np.cumprod(np.r_[1.0, (places - m - p[:-1] + 1) / (places - p[:-1] + 1)])
            means[number] = np.sum(none_before * m / (places - p + 1) * value(before + p))
    return means[which].reshape(shape)
