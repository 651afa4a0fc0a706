"""Paired tests: do two systems differ on the same queries?

McNemar's test asks whether one of them wins too many of the queries on which they disagree; Fisher's
randomisation test, whether a coin toss of their labels would give such a difference. The third one, the
paired bootstrap, is in `karat.stats.bootstrap`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from karat._util import Loop, stage, threads
from karat.errors import InputError
from karat.measures import MEAN, Aggregate
from karat.stats.estimate import how_many
from karat.stats.resampling import BLOCK, check_count, check_seed
from karat.stats.samples import Sample, Samples

TOLERANCE = 1e-9
"""Differences that agree to this share of the scores are the same: sums of floats depend on their order."""


@dataclass(frozen=True)
class PairedTest:
    """Whether two systems differ on the same queries.

    Parameters
    ----------
    difference
        The first system's score minus the second's.
    p
        How often a difference at least this large, in either direction, comes from chance alone.
    test
        Which test.
    n
        How many queries were compared.
    effective
        How many of them move independently: the clusters.

    Examples
    --------
    >>> PairedTest(0.021, 0.0131, "randomisation", 1000, 1000)
    difference +0.021, p = 0.0131 (randomisation, n = 1,000)
    """

    difference: float
    p: float
    test: str
    n: int
    effective: int

    def __repr__(self) -> str:
        made = f"{self.test}, {how_many(self.n, self.effective)}"
        return f"difference {self.difference:+.4g}, p = {self.p:.3g} ({made})"


def mcnemar(first: np.ndarray, second: np.ndarray, kind: Literal["exact", "mid-p"] = "mid-p") -> PairedTest:
    """Test whether two systems that succeed or fail on each query differ.

    With b and c the queries that only the first and only the second answers, b is binomial with
    n = b + c and probability 1/2 under the null hypothesis; exact p = 2 P(X ≤ min(b, c)), at most
    1; mid-p takes half of P(X = min(b, c)) away on each side, which is less conservative and still
    keeps its level in practice (Fagerland, Lydersen & Laake 2013). Queries are taken to be
    independent: for captions that come five to an image use `randomisation_test` with clusters.
    McNemar 1947; Hodosh §4.2.1.

    Parameters
    ----------
    first, second
        1 where a system succeeds and 0 where it fails, such as R@1 per query; NaN is left out.
    kind
        "exact" or "mid-p".

    Examples
    --------
    Twelve queries won, four lost:

    >>> ours, theirs = np.repeat([1.0, 0.0, 1.0], [12, 4, 50]), np.repeat([0.0, 1.0, 1.0], [12, 4, 50])
    >>> mcnemar(ours, theirs, "exact")
    difference +0.1212, p = 0.0768 (McNemar exact, n = 66)
    >>> mcnemar(ours, theirs)
    difference +0.1212, p = 0.049 (McNemar mid-p, n = 66)
    """
    if kind not in ("exact", "mid-p"):
        raise InputError(f"kind is {kind!r}", fix="choose exact or mid-p")
    first, second, _ = paired_values(first, second, None)
    if not (is_binary(first) and is_binary(second)):
        raise InputError(
            "McNemar's test needs values that are 0 or 1", fix="use a randomisation test for this measure"
        )
    won, lost = int((first > second).sum()), int((first < second).sum())
    p = binomial_p(won, lost, kind)
    return PairedTest(float(first.mean() - second.mean()), p, f"McNemar {kind}", len(first), len(first))


def binomial_p(won: int, lost: int, kind: str) -> float:
    """Return the two-sided p-value of `won` against `lost`.

    >>> binomial_p(3, 3, "exact"), binomial_p(0, 0, "mid-p"), binomial_p(0, 5, "exact")
    (1.0, 1.0, 0.0625)
    """
    from scipy.special import bdtr, gammaln

    n, least = won + lost, min(won, lost)
    if n == 0:
        return 1.0
    p = 2 * float(bdtr(least, n, 0.5))
    if kind == "mid-p":
        p -= float(np.exp(gammaln(n + 1) - gammaln(least + 1) - gammaln(n - least + 1) - n * np.log(2)))
    # Where all of a thousand queries go one way, p is smaller than any float: it is never 0.
    return min(1.0, max(p, float(np.finfo(np.float64).tiny)))


def is_binary(values: np.ndarray) -> bool:
    """Whether every value that is defined is 0 or 1."""
    known = values[~np.isnan(values)]
    return bool(((known == 0) | (known == 1)).all())


def randomisation_test(
    first: np.ndarray,
    second: np.ndarray,
    clusters: np.ndarray | None = None,
    aggregate: Aggregate = MEAN,
    samples: int = 100_000,
    seed: int = 0,
) -> PairedTest:
    """Test whether two systems differ, by swapping their values at random.

    Under the null hypothesis the two values of a query could have been exchanged. In
    each of `samples` draws every cluster's values change hands with probability 1/2 and the
    difference of the aggregated scores is taken anew; p = (b + 1) / (m + 1), with b the draws whose
    difference is at least as large, in either direction. For means this equals flipping the signs
    of the differences; for medians both systems' medians are computed again (a median of
    differences is not a difference of medians). With few clusters all 2^C swaps are listed and p
    is exact. Fisher 1935; Hodosh §4.2.2 with 100,000 samples.

    Parameters
    ----------
    first, second
        Values per query of the two systems; queries where either is NaN are left out.
    clusters
        Per query, what it belongs to (the image of a caption); queries of one cluster are swapped
        together, since they are not independent. Every query is its own cluster by default.
    aggregate
        `karat.measures.MEAN` or `MEDIAN`, or any other.
    samples, seed
        How many draws, and their seed.

    Examples
    --------
    >>> ahead, behind = np.ones(5), np.zeros(5)
    >>> randomisation_test(ahead, behind)                     # 2 of 32 swaps are as extreme
    difference +1, p = 0.0625 (randomisation, n = 5)
    """
    first, second, cluster = paired_values(first, second, clusters)
    check_finite(aggregate, first, second)
    columns = [Sample(values, cluster, aggregate=aggregate) for values in (first, second)]
    both = Samples(columns, cluster.max() + 1)
    flips = Flips(both.clusters, samples, seed)
    values = both.values()
    difference = subtract(values[0], values[1])
    least = least_to_count(difference, finite_scale(values))
    if aggregate is MEAN:
        # A swap turns the sign of what a cluster adds to the difference.
        (ours, unit), (theirs, _) = (sample.shares(both.clusters) for sample in columns)
        added = ours - theirs
        drawn: Iterable[np.ndarray] = (
            unit * (added.sum() - 2 * flipped[0]) for flipped in flips.sums(added[:, None])
        )
    else:
        drawn = (subtract(*both.swapped([(0, 1)], block)[:, 0]) for block in flips.blocks())
    as_large = sum(int((np.abs(some) >= least).sum()) for some in drawn)
    p = float(flips.p_value(np.array(as_large)))
    return PairedTest(float(difference), p, "randomisation", len(first), both.clusters)


@dataclass(frozen=True)
class Flips:
    """Fair coins for every cluster, the same ones every time.

    Where all 2^C outcomes are fewer than the requested samples, each is listed once and the test
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
        for packed in self.packed(max(1, 4 * BLOCK // self.clusters)):
            yield np.unpackbits(packed, axis=1, count=self.clusters, bitorder="little")

    def packed(self, rows: int) -> Iterator[np.ndarray]:
        """Yield the same flips as bits, eight clusters to a byte, `rows` samples at a time."""
        # Whole words of 64 coins: then the throws do not depend on the size of the blocks.
        width = 8 * -(-self.clusters // 64)
        rng = np.random.default_rng(self.seed)
        total = 1 << self.clusters if self.exact else self.samples
        with stage("random swaps", total) as swaps:
            for begin in range(0, total, rows):
                count = min(rows, total - begin)
                if self.exact:
                    yield np.arange(begin, begin + count, dtype="<u8").view(np.uint8).reshape(count, 8)
                else:
                    yield np.frombuffer(rng.bytes(count * width), np.uint8).reshape(count, width)
                swaps.advance(count)

    def sums(self, added: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the sums over flipped clusters of what each adds to each column, [columns, some samples].

        >>> np.concatenate(list(Flips(2).sums(np.array([[1.0, 0.5], [10.0, 0.25]]))), axis=1).tolist()
        [[0.0, 1.0, 10.0, 11.0], [0.0, 0.5, 0.25, 0.75]]
        """
        # Imported late: numba takes a third of a second.
        from karat.stats.kernels import flipped_sums

        shared = SharedWords(added)
        words = shared.words(added)
        # A row of words fills whole lines of the processor's cache.
        padded = np.zeros((64 * -(-self.clusters // 64), 8 * -(-words.shape[1] // 8)))
        padded[: self.clusters, : words.shape[1]] = words
        # So many that filling the tables does not count: up to 8 MB of flips, and of sums.
        columns = max(1, padded.shape[1], added.shape[1])
        most = max(1, min(256 * BLOCK // len(padded), 4 * BLOCK // columns))
        with threads() as loop:
            for packed in self.packed(most):
                yield shared.columns(row_by_row(flipped_sums, loop, packed, padded).T)


def row_by_row(kernel: Any, loop: Loop, rows: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Return what a kernel gives for disjoint parts of the rows, one after the other."""
    parts: list[Any] = loop(lambda begin, end: kernel(rows[begin:end], constant), 0, len(rows))
    return np.concatenate(parts)


class SharedWords:
    """Columns of whole numbers that share float64 words, so that one addition serves several of them.

    A float64 holds whole numbers of 53 bits; sums of a few thousand hits and misses need a third of them.
    A column whose sums stay below ½ r in size, r a power of 2, leaves the multiples of r to the next column.
    Columns of other numbers have separate words.

    Parameters
    ----------
    added
        What each cluster adds to each column, [C, J].

    Examples
    --------
    >>> added = np.array([[1.0, -2.0, 0.3], [1.0, 1.0, 0.3]])
    >>> shared = SharedWords(added)
    >>> words = shared.words(added)
    >>> words.shape, shared.columns(words.sum(axis=0)[:, None])[:, 0].tolist()
    ((2, 2), [2.0, -1.0, 0.6])
    """

    def __init__(self, added: np.ndarray) -> None:
        largest = np.abs(added).sum(axis=0)
        whole = (added == np.rint(added)).all(axis=0) & np.isfinite(largest)
        radix = np.where(whole, np.ldexp(1.0, np.frexp(2 * largest)[1]), np.inf)
        self._words: list[list[tuple[int, float]]] = []
        room = 0.0
        for column in np.argsort(radix, kind="stable"):
            if radix[column] > room:
                self._words.append([])
                room = 2.0**53
            room /= radix[column]
            self._words[-1].append((int(column), float(radix[column])))

    def words(self, added: np.ndarray) -> np.ndarray:
        """Return the words [C, W] of columns [C, J]."""
        out = np.zeros((len(added), len(self._words)))
        for w, columns in enumerate(self._words):
            place = 1.0
            for column, radix in columns:
                out[:, w] += place * added[:, column]
                place *= radix
        return out

    def columns(self, words: np.ndarray) -> np.ndarray:
        """Return the columns [J, B] of sums of words [W, B]."""
        out = np.empty((sum(map(len, self._words)), words.shape[1]))
        for w, columns in enumerate(self._words):
            rest = words[w]
            for column, radix in columns[:-1]:
                higher = np.rint(rest / radix)
                out[column] = rest - higher * radix
                rest = higher
            out[columns[-1][0]] = rest
        return out


def subtract(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return first − second: exactly 0 where the two differ by rounding alone, or both are infinite.

    >>> float(0.1 + 0.2 - 0.3), float(subtract(np.array(0.1 + 0.2), np.array(0.3)))
    (5.551115123125783e-17, 0.0)
    >>> subtract(np.array([np.inf, np.inf]), np.array([np.inf, 5.0])).tolist()
    [0.0, inf]
    """
    with np.errstate(invalid="ignore"):
        difference = first - second
        scale = np.maximum(np.abs(first), np.abs(second))
        rounding = (np.abs(difference) <= TOLERANCE * scale) & np.isfinite(scale)
    # Two medians beyond the end of the rankings: nothing distinguishes them.
    return np.where(rounding | (np.isinf(first) & (first == second)), 0.0, difference)


def least_to_count(seen: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return how large a drawn difference, in either direction, has to be to count as large as the one seen.

    `scale` is the size of the scores themselves, which rounding errors are measured by.
    """
    return np.abs(seen) - TOLERANCE * scale


def finite_scale(values: np.ndarray) -> np.ndarray:
    """Return the largest finite size of values over the last axis; 0 when all are infinite."""
    return np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=-1)


def check_finite(aggregate: Aggregate, *values: np.ndarray) -> None:
    """Raise when a mean would be infinite; a median of a few infinite ranks is not."""
    if aggregate is MEAN and any(np.isinf(some).any() for some in values):
        raise InputError(
            "a value is infinite, and so would the mean be", fix="use the median, or finite values"
        )


def paired_values(
    first: np.ndarray, second: np.ndarray, clusters: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of queries that both systems have, and the numbers of their clusters."""
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(
            f"the systems have {first.shape} and {second.shape} values", fix="give one per query for each"
        )
    labels = np.arange(len(first)) if clusters is None else np.asarray(clusters)
    if labels.shape != first.shape:
        raise InputError(f"{len(labels)} clusters for {len(first)} queries", fix="give one per query")
    known = ~np.isnan(first) & ~np.isnan(second)
    if not known.any():
        raise InputError("the systems have no query in common", fix="check that values are not NaN")
    return first[known], second[known], np.unique(labels[known], return_inverse=True)[1]


def detection_reach(clusters: int, alpha: float, power: float) -> float:
    """Return how many standard errors a true difference must measure to be found with some power.

    t₁₋α/₂ + t_power (Cohen 1988, §2.2), with as many degrees of freedom as there are clusters, less one.

    >>> round(detection_reach(1000, 0.05, 0.8), 3)
    2.804
    """
    # Imported late: the core stays light.
    from scipy.special import stdtrit

    free = max(clusters - 1, 1)
    return float(stdtrit(free, 1 - alpha / 2) + stdtrit(free, power))
