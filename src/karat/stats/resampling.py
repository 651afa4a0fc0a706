"""Bootstrap weights: how often each cluster is drawn, resample by resample, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from karat.validation import InputError

BLOCK = 1 << 20
"""How many weights are held at a time: 8 MB."""
MOST = 10_000_000
"""The most draws that can be asked for."""


@dataclass(frozen=True)
class Resampling:
    """Draws of `clusters` clusters with replacement, the same ones every time that one asks.

    Everything that is resampled with one such object (columns, runs, differences) sees the same
    draws, so that its parts move together. The draws do not depend on the size of the blocks.

    Parameters
    ----------
    clusters
        How many clusters there are; as many are drawn.
    resamples
        How often.
    seed
        Of the draws.

    Examples
    --------
    >>> weights = np.concatenate(list(Resampling(4, resamples=3, seed=1).blocks()))
    >>> weights.shape, weights.sum(axis=1).tolist()
    ((3, 4), [4.0, 4.0, 4.0])
    """

    clusters: int
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.clusters < 1:
            raise InputError("there is nothing to resample", fix="give at least one value")
        check_count("resamples", self.resamples, usual=10_000)
        check_seed(self.seed)

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the weights, float64 [some resamples, clusters], until all resamples are drawn."""
        rng = np.random.default_rng(self.seed)
        rows = max(1, BLOCK // self.clusters)
        for begin in range(0, self.resamples, rows):
            count = min(rows, self.resamples - begin)
            drawn = rng.integers(0, self.clusters, (count, self.clusters))
            drawn += self.clusters * np.arange(count)[:, None]
            weights = np.bincount(drawn.ravel(), minlength=count * self.clusters)
            yield weights.reshape(count, self.clusters).astype(np.float64)


def check_count(name: str, value: int, usual: int) -> None:
    """Raise when a number of draws is none, or more than a machine could make.

    >>> check_count("resamples", 0, usual=10_000)
    Traceback (most recent call last):
    ...
    karat.validation.InputError: resamples is 0; give a whole number from 1 to 10,000,000; 10,000 is usual.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= MOST:
        raise InputError(
            f"{name} is {value!r}", fix=f"give a whole number from 1 to {MOST:,}; {usual:,} is usual"
        )


def check_seed(seed: int) -> None:
    """Raise when a seed is no whole number from 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"the seed is {seed!r}", fix="give a whole number from 0")


def leave_one_out(clusters: int) -> Iterator[np.ndarray]:
    """Yield the jackknife's weights in blocks: every cluster once but one.

    >>> [block.tolist() for block in leave_one_out(2)]
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    rows = max(1, BLOCK // clusters)
    for begin in range(0, clusters, rows):
        count = min(rows, clusters - begin)
        weights = np.ones((count, clusters))
        weights[np.arange(count), begin + np.arange(count)] = 0
        yield weights
