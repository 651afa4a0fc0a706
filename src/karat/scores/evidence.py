"""What a scorecard knows beyond its numbers: every column under other draws of its queries.

Columns that are combinations (RSUM, the mean of both directions) are put together again from their
parts in every draw, so medians, sums and means over folds go through one code path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from karat.measures import Combined, Measure
from karat.measures.pools import MEAN
from karat.scores.scorecard import Column
from karat.stats.pooled import Pooled
from karat.stats.randomisation import subtract
from karat.stats.samples import Sample


class Evidence:
    """Columns with a value, resampled or swapped together.

    Parameters
    ----------
    columns
        Of any runs, truths and directions of one benchmark; those without a value are left out.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = [column for column in columns if column.value is not None]
        leaves: dict[Column, int] = {}
        self._leaves_of = [
            [leaves.setdefault(leaf, len(leaves)) for leaf in leaves_of(column)] for column in self.columns
        ]
        # A query's image, or the query itself: the same number means the same thing in all columns.
        labels = [leaf.cluster for leaf in leaves if leaf.cluster is not None]
        known, number = np.unique(np.concatenate([*labels, np.zeros(0, np.int64)]), return_inverse=True)
        numbers = np.split(number, np.cumsum([len(label) for label in labels])[:-1])
        self.clusters = len(known)
        self._samples = [sample_of(leaf, cluster) for leaf, cluster in zip(leaves, numbers)]
        self.pooled = Pooled(self._samples, self.clusters)

    def values(self) -> np.ndarray:
        """Return every column as it is, [T]."""
        return self._combine(self.pooled.values())

    def resampled(self, weights: np.ndarray) -> np.ndarray:
        """Return every column under weights [B, C]: [T, B]."""
        return self._combine(self.pooled.resampled(weights))

    def swapped_differences(self, pairs: Sequence[tuple[int, int]], flips: np.ndarray) -> np.ndarray:
        """Return the difference of each pair of columns when flipped clusters change hands: [P, B]."""
        asked: dict[tuple[int, int], int] = {}
        places = [
            [
                asked.setdefault(leaf_pair, len(asked))
                for leaf_pair in zip(self._leaves_of[first], self._leaves_of[second])
            ]
            for first, second in pairs
        ]
        swapped = self.pooled.swapped(list(asked), flips)
        out = np.empty((len(pairs), len(flips)))
        for p, ((first, _), at) in enumerate(zip(pairs, places)):
            ours, theirs = (combine(self.columns[first], swapped[side][at]) for side in range(2))
            out[p] = subtract(ours, theirs)
        return out

    def shares(self) -> tuple[np.ndarray, list[bytes | None]]:
        """Return what each cluster adds to each column, [C, T], and a key of how many values it has there.

        The key is None, and the shares are 0, for columns that are no sums over clusters: medians, and
        combinations that are not linear.
        """
        shares = np.zeros((self.clusters, len(self.columns)))
        keys: list[bytes | None] = [None] * len(self.columns)
        leaf_shares: dict[int, np.ndarray] = {}
        leaf_keys: dict[int, bytes] = {}
        for t, (column, leaves) in enumerate(zip(self.columns, self._leaves_of)):
            linear = not isinstance(column.measure, Combined) or column.measure.linear
            if not linear or any(self._samples[leaf].pool is not MEAN for leaf in leaves):
                continue
            for leaf in leaves:
                if leaf not in leaf_shares:
                    leaf_shares[leaf] = self._samples[leaf].shares(self.clusters)
                    counts = np.array(self._samples[leaf].counts(self.clusters))
                    leaf_keys[leaf] = hashlib.sha256(counts.tobytes()).digest()
            shares[:, t] = combine(column, np.stack([leaf_shares[leaf] for leaf in leaves]))
            keys[t] = b"".join(leaf_keys[leaf] for leaf in leaves)
        return shares, keys

    def _combine(self, leaves: np.ndarray) -> np.ndarray:
        return np.stack([combine(column, leaves[at]) for column, at in zip(self.columns, self._leaves_of)])


def leaves_of(column: Column) -> tuple[Column, ...]:
    """Return the columns with values per query that a column is made of."""
    return column.parts if isinstance(column.measure, Combined) else (column,)


def combine(column: Column, leaves: np.ndarray) -> np.ndarray:
    """Return a column from its pooled leaves, [L, ...]."""
    return column.measure.combine(list(leaves)) if isinstance(column.measure, Combined) else leaves[0]


def sample_of(leaf: Column, cluster: np.ndarray) -> Sample:
    """Return a column's values as the statistics take them."""
    assert isinstance(leaf.measure, Measure)
    assert leaf.values is not None
    return Sample(leaf.values, cluster, leaf.fold, leaf.measure.pool)
