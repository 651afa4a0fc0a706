"""Many columns, pooled again and again under the same resampled or swapped clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.stats.backends import BACKENDS, Backend, Other, Pair
from karat.stats.samples import Sample


class Pooled:
    """Columns of values per query that share their clusters.

    Parameters
    ----------
    samples
        The columns.
    clusters
        How many clusters there are.

    Examples
    --------
    Two systems, three queries, of which the last two belong to one image:

    >>> cluster = np.array([0, 1, 1])
    >>> both = Pooled([Sample(np.array([1.0, 0.0, 1.0]), cluster), Sample(np.zeros(3), cluster)], 2)
    >>> both.values().round(3).tolist()
    [0.667, 0.0]
    >>> both.resampled(np.array([[2.0, 0.0], [0.0, 2.0]])).tolist()
    [[1.0, 0.5], [0.0, 0.0]]
    >>> both.swapped([(0, 1)], np.array([[1, 0]], np.uint8)).round(3).tolist()
    [[[0.333]], [[0.333]]]
    """

    def __init__(self, samples: Sequence[Sample], clusters: int) -> None:
        self.clusters = clusters
        self.size = len(samples)
        groups: dict[type[Backend], list[int]] = {}
        for number, sample in enumerate(samples):
            groups.setdefault(BACKENDS.get(sample.pool, Other), []).append(number)
        self._backends = [
            (backend([samples[number] for number in numbers], clusters), numbers)
            for backend, numbers in groups.items()
        ]

    def values(self) -> np.ndarray:
        """Return every column as it is, [S]."""
        return self.resampled(np.ones((1, self.clusters)))[:, 0]

    def resampled(self, weights: np.ndarray) -> np.ndarray:
        """Return every column under weights [B, C]: [S, B]; NaN where nothing of it was drawn."""
        out = np.empty((self.size, len(weights)))
        for backend, numbers in self._backends:
            out[numbers] = backend.resampled(weights)
        return out

    def swapped(self, pairs: Sequence[Pair], flips: np.ndarray) -> np.ndarray:
        """Return both columns of each pair when flipped clusters [B, C] change hands: [2, P, B]."""
        out = np.empty((2, len(pairs), len(flips)))
        for backend, numbers in self._backends:
            at = {number: place for place, number in enumerate(numbers)}
            mine = [p for p, (first, _) in enumerate(pairs) if first in at]
            if mine:
                out[:, mine] = backend.swapped([(at[pairs[p][0]], at[pairs[p][1]]) for p in mine], flips)
        return out
