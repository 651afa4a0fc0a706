"""Which clusters change hands: coin flips for randomisation tests, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from karat.stats.resampling import BLOCK, check_count, check_seed
from karat.validation import InputError


@dataclass(frozen=True)
class Flips:
    """Fair coins for every cluster, the same ones every time that one asks.

    Where all 2^C outcomes are fewer than the samples asked for, each is listed once and the test
    is exact.

    Parameters
    ----------
    clusters
        How many coins.
    samples
        How often they are thrown.
    seed
        Of the throws.

    Examples
    --------
    >>> np.concatenate(list(Flips(2).blocks())).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """

    clusters: int
    samples: int = 100_000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.clusters < 1:
            raise InputError("there is nothing to compare", fix="give at least one value")
        check_count("samples", self.samples, usual=100_000)
        check_seed(self.seed)

    @property
    def exact(self) -> bool:
        """Whether all outcomes are listed."""
        return self.clusters < 60 and 1 << self.clusters <= self.samples

    @property
    def floor(self) -> float:
        """The smallest p-value that can come out: a swap of everything is as extreme as none."""
        return 2 / (1 << self.clusters) if self.exact else 1 / (self.samples + 1)

    def p_value(self, as_large: np.ndarray) -> np.ndarray:
        """Return p from the number of outcomes that are at least as large as what was seen.

        The outcome that was seen is one of all those listed; to drawn ones it is added: a p-value
        is never 0.

        >>> Flips(1000, samples=99).p_value(np.array([0, 4])).tolist()
        [0.01, 0.05]
        """
        if self.exact:
            return as_large / (1 << self.clusters)
        return (as_large + 1) / (self.samples + 1)

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield whether each cluster is flipped, uint8 [some samples, clusters]."""
        for packed in self.packed(max(1, BLOCK // self.clusters)):
            yield np.unpackbits(packed, axis=1, count=self.clusters, bitorder="little")

    def packed(self, rows: int) -> Iterator[np.ndarray]:
        """Yield the same flips as bits, eight clusters to a byte, `rows` samples at a time."""
        # Whole words of 64 coins: then the throws do not depend on the size of the blocks.
        width = 8 * -(-self.clusters // 64)
        rng = np.random.default_rng(self.seed)
        total = 1 << self.clusters if self.exact else self.samples
        for begin in range(0, total, rows):
            count = min(rows, total - begin)
            if self.exact:
                yield np.arange(begin, begin + count, dtype="<u8").view(np.uint8).reshape(count, 8)
            else:
                yield np.frombuffer(rng.bytes(count * width), np.uint8).reshape(count, width)

    def sums(self, shares: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the sum of the flipped clusters' shares, sample by sample, in blocks.

        Eight clusters at a time are looked up in a table of their 256 sums: an eighth of the
        additions, and nothing to unpack.

        >>> np.concatenate(list(Flips(2).sums(np.array([1.0, 10.0])))).tolist()
        [0.0, 1.0, 10.0, 11.0]
        """
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
        padded = np.zeros(64 * -(-self.clusters // 64))
        padded[: self.clusters] = shares
        tables = padded.reshape(-1, 8) @ bits.T.astype(np.float64)
        for packed in self.packed(max(1, 8 * BLOCK // len(padded))):
            total = np.zeros(len(packed))
            for table, byte in zip(tables, np.ascontiguousarray(packed.T)):
                total += table[byte]
            yield total
