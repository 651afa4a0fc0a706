"""How often do random swaps of two runs' values give a difference as large as the one seen?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.scores.evidence import Evidence


class Swaps:
    """Counts large differences of pairs of columns after swaps.

    Of columns that are sums over clusters a swap only turns signs, so that one product per column
    serves all of its pairs; others (medians) are pooled anew for each pair.

    Parameters
    ----------
    evidence
        The columns.
    pairs
        Numbers of two columns each.
    least
        Per pair, how large a difference counts, in either direction.
    """

    def __init__(self, evidence: Evidence, pairs: Sequence[tuple[int, int]], least: np.ndarray) -> None:
        self.evidence, self.least = evidence, least
        shares, keys = evidence.shares()
        self.quick = np.array([keys[a] is not None and keys[a] == keys[b] for a, b in pairs], bool)
        first, second = np.array(pairs, np.int64).reshape(-1, 2)[self.quick].T
        self.slow = [pair for pair, quick in zip(pairs, self.quick) if not quick]
        # Only the columns that are asked about, numbered anew.
        asked, at = np.unique(np.concatenate([first, second]), return_inverse=True)
        self.shares = np.ascontiguousarray(shares[:, asked].T)
        self.first, self.second = np.split(at, 2)

    def count(self, flips: np.ndarray) -> np.ndarray:
        """Return, per pair, how many rows of `flips` [B, C] give a large difference."""
        counts = np.zeros(len(self.quick), np.int64)
        counts[self.quick] = self._count_quick(flips)
        if self.slow:
            drawn = np.abs(self.evidence.swapped_differences(self.slow, flips))
            counts[~self.quick] = (drawn >= self.least[~self.quick, None]).sum(axis=1)
        return counts

    def _count_quick(self, flips: np.ndarray) -> np.ndarray:
        from karat.stats.kernels import count_large_differences

        found = np.zeros(len(self.first), np.int64)
        if len(found):
            swapped = self.shares.sum(axis=1)[:, None] - 2 * (self.shares @ flips.T.astype(np.float64))
            count_large_differences(swapped, self.first, self.second, self.least[self.quick], found)
        return found
