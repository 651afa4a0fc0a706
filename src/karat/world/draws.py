"""Random numbers that are the same bytes on every machine and in every version of numpy.

numpy promises a stable stream for the raw output of its bit generators only; `Generator.integers` and
`normal` may change between versions. So everything here is integer arithmetic, or exact dyadic floating
point, on the raw 64-bit stream of PCG64.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.errors import InputError


class Draws:
    """A stream of random numbers for one purpose.

    Parameters
    ----------
    seed
        A whole number of 0 or more.
    *purpose
        Further whole numbers: streams of the same seed with another purpose are independent, so that
        drawing more of one thing changes nothing else.

    Examples
    --------
    >>> Draws(7).integers(6, below=10).tolist()
    [6, 8, 7, 2, 3, 8]
    >>> Draws(7, 1).integers(6, below=10).tolist()
    [7, 1, 1, 1, 4, 5]
    """

    def __init__(self, seed: int, *purpose: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"the seed is {seed!r}", fix="give a whole number of 0 or more")
        self._bits = np.random.PCG64(np.random.SeedSequence([int(seed), *purpose]))

    def raw(self, size: int) -> np.ndarray:
        """Return 64-bit whole numbers."""
        return self._bits.random_raw(size)

    def integers(self, size: int, below: int | np.ndarray) -> np.ndarray:
        """Return whole numbers from 0 to below − 1; `below`, at most 2^31, may differ for each."""
        high = self.raw(size) >> np.uint64(32)
        return ((high * np.asarray(below, np.uint64)) >> np.uint64(32)).astype(np.int64)

    def chances(self, size: int, percent: int | np.ndarray) -> np.ndarray:
        """Return True with the given probability in percent."""
        return self.integers(size, 100) < percent

    def weighted(self, size: int, weights: Sequence[int]) -> np.ndarray:
        """Return indices into `weights`, each as often as its whole-numbered weight says."""
        edges = np.cumsum(weights)
        return np.searchsorted(edges, self.integers(size, int(edges[-1])), side="right")

    def uniforms(self, size: int) -> np.ndarray:
        """Return multiples of 2^-53 from 0 to less than 1."""
        return (self.raw(size) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def orders(self, size: int, length: int) -> np.ndarray:
        """Return shuffled numbers 0 to length − 1, a row for each."""
        return np.argsort(self.raw(size * length).reshape(size, length), axis=1, kind="stable")

    def noise(self, size: int) -> np.ndarray:
        """Return bell-shaped numbers with mean 0 and variance 1, as float32.

        The sum of three uniforms of 21 bits, scaled: no logarithm or cosine, whose last bit differs between
        machines. It lies within ±3 and is exact in float32.

        >>> x = Draws(1).noise(100_000)
        >>> abs(float(x.mean())) < 0.01, round(float(x.var()), 2)
        (True, 1.0)
        """
        raw = self.raw(size)
        low = np.uint64(2**21 - 1)
        total = (raw & low) + ((raw >> np.uint64(21)) & low) + ((raw >> np.uint64(42)) & low)
        # Each piece has mean (2^21 − 1) / 2: twice the total less three times that is symmetric about 0.
        centred = 2 * total.astype(np.int64) - 3 * int(low)
        return centred.astype(np.float32) * np.float32(2.0**-21)
