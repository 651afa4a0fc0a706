"""Bootstrap intervals: the choices behind them, the draws, and the ends of percentile and BCa intervals.

Scores are functions of how often each cluster was drawn, so many scores share the same draws; the weights
come in blocks, in bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from karat._util import Workers, alone, check_choice, stage, track
from karat.errors import InputError

INTERVAL_METHODS = ("percentile", "bca")
"""How an interval is made from resampled numbers."""
BLOCK = 1 << 18
"""How many weights are held at a time: 2 MB, which stay in a processor's cache."""
MOST = 10_000_000
"""The largest allowed number of draws."""
FAR = 1e200
"""The number used for infinity where numbers are subtracted."""
Score = Callable[[np.ndarray], np.ndarray]
"""What scores are under weights [B, C]: [..., B]."""
Part = tuple[Any, ...]
"""What says which rows of weights are made: where they begin and end, and what draws them."""


@dataclass(frozen=True)
class Intervals:
    """The choices behind bootstrap intervals.

    Parameters
    ----------
    method
        "percentile", or "bca" (bias-corrected and accelerated).
    level
        How often an interval should hold.
    resamples, seed
        How many draws, and their seed.

    Examples
    --------
    >>> Intervals(method="BCa").shown, Intervals().level
    ('BCa', 0.95)
    """

    method: str = "percentile"
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "method", check_choice(self.method, INTERVAL_METHODS, "method of the intervals")
        )
        check_level(self.level)
        check_count("resamples", self.resamples, usual=10_000)
        check_seed(self.seed)

    @property
    def shown(self) -> str:
        """The method as people write it."""
        return {"bca": "BCa"}.get(self.method, self.method)

    def draw(
        self, score: Score, clusters: int, workers: Workers | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return scores under every resample, [..., B], and, where the method needs it, with each
        cluster left out, [..., C]; the draws are the same on the workers of a cluster as here."""
        resampling, bca = Resampling(clusters, self.resamples, self.seed), self.method == "bca"
        if workers is None:
            draws = drawn(score, resampling.blocks())
            return draws, drawn(score, leave_one_out(clusters)) if bca else None
        draws = drawn_by(workers, score, resampling.blocks, resampling.parts(workers.parts))
        places = spans_of_blocks(clusters, clusters, workers.parts)
        return draws, drawn_by(workers, score, partial(leave_one_out, clusters), places) if bca else None

    def draw_versions(self, scores: Iterable[Score], versions: int, clusters: int) -> np.ndarray:
        """Return scores under every resample, [..., B], where what is scored has versions too.

        The resamples are those of `draw`. Each version gets as many of them as the others, in their order, so
        that one version is needed at a time, and one version alone gives what `draw` gives.

        Parameters
        ----------
        scores
            One per version.
        versions
            How many.
        clusters
            How many there are.

        Examples
        --------
        >>> scores = [lambda weights, v=v: v * weights.mean(axis=1) for v in (1, 2)]
        >>> Intervals(resamples=5).draw_versions(scores, 2, clusters=3).tolist()
        [1.0, 1.0, 2.0, 2.0, 2.0]
        """
        blocks = Resampling(clusters, self.resamples, self.seed).blocks()
        weights = np.zeros((0, clusters))
        parts, done = [], 0
        for number, score in enumerate(track(scores, "versions of the labels", versions), start=1):
            until = self.resamples * number // versions
            while done < until:
                weights = weights if len(weights) else next(blocks)
                parts.append(drawn(score, [weights[: until - done]]))
                weights, done = weights[until - done :], done + parts[-1].shape[-1]
        return np.concatenate(parts, axis=-1)

    def ends(
        self, values: np.ndarray, draws: np.ndarray, jackknife: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the intervals of `values`, from what `draw` gave."""
        if jackknife is None:
            return percentile(draws, self.level)
        return bca(values, draws, jackknife, self.level)


def how_intervals(intervals: Intervals, drawn: str) -> str:
    """Return how intervals were made, as a sentence.

    >>> how_intervals(Intervals(), "systems")
    'In brackets: 95% percentile intervals, 10,000 resamples of systems.'
    """
    level = f"{100 * intervals.level:g}% {intervals.shown} intervals"
    return f"In brackets: {level}, {intervals.resamples:,} resamples of {drawn}."


def drawn(score: Score, blocks: Iterable[np.ndarray]) -> np.ndarray:
    """Return the scores under every row of weights, [..., B].

    Products are computed by one thread: with several, the last bits would depend on how many.
    """
    with alone():
        return np.concatenate([score(weights) for weights in blocks], axis=-1)


Maker = Callable[..., Iterator[np.ndarray]]
"""Yields the blocks of weights of a part."""


def drawn_by(workers: Workers, score: Score, make: Maker, parts: Iterable[Part]) -> np.ndarray:
    """Return what `drawn` returns, computed by the workers of a cluster part by part."""
    return np.concatenate(list(workers.map(drawn_part, (score, make), parts)), axis=-1)


def drawn_part(shared: tuple[Score, Maker], part: Part) -> np.ndarray:
    """Return the scores under the weights of a part; on a worker."""
    score, make = shared
    return drawn(score, make(*part))


def spans_of_blocks(rows: int, clusters: int, parts: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of about so many parts of rows of weights, in whole blocks.

    >>> list(spans_of_blocks(5, BLOCK // 2, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    block = max(1, BLOCK // clusters)
    step = block * max(1, rows // (block * parts))
    yield from ((begin, min(begin + step, rows)) for begin in range(0, rows, step))


@dataclass(frozen=True)
class Resampling:
    """Draws of `clusters` clusters with replacement, the same ones every time.

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

    def blocks(
        self, begin: int = 0, end: int | None = None, state: Mapping[str, Any] | None = None
    ) -> Iterator[np.ndarray]:
        """Yield the weights, float64 [some resamples, clusters], until all resamples are drawn.

        A part of them is drawn from a state of the generator, as `parts` has it.
        """
        rng = np.random.default_rng(self.seed)
        if state is not None:
            rng.bit_generator.state = state
        end = self.resamples if end is None else end
        with stage("resamples", end - begin) as resamples:
            for drawn in self._draws(rng, begin, end):
                count = len(drawn)
                drawn += self.clusters * np.arange(count)[:, None]
                weights = np.bincount(drawn.ravel(), minlength=count * self.clusters)
                yield weights.reshape(count, self.clusters).astype(np.float64)
                resamples.advance(count)

    def parts(self, number: int) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
        """Yield about so many parts of the resamples, as `blocks` takes them.

        What comes before a part has to be drawn to know how it begins; counting and scoring do not.
        """
        rng = np.random.default_rng(self.seed)
        for begin, end in spans_of_blocks(self.resamples, self.clusters, number):
            yield begin, end, rng.bit_generator.state
            for _ in self._draws(rng, begin, end):
                pass

    def _draws(self, rng: np.random.Generator, begin: int, end: int) -> Iterator[np.ndarray]:
        rows = max(1, BLOCK // self.clusters)
        for at in range(begin, end, rows):
            yield rng.integers(0, self.clusters, (min(rows, end - at), self.clusters))


def leave_one_out(clusters: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
    """Yield the jackknife's weights in blocks: every cluster once but one, all of these or some.

    >>> [block.tolist() for block in leave_one_out(2)]
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    rows = max(1, BLOCK // clusters)
    end = clusters if end is None else end
    for at in track(range(begin, end, rows), "leaving out one by one"):
        count = min(rows, end - at)
        weights = np.ones((count, clusters))
        weights[np.arange(count), at + np.arange(count)] = 0
        yield weights


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
        # One draw among B tells nothing beyond 1 / B: keeps the correction finite.
        bias = ndtri(np.clip(below, 0.5 / len(known), 1 - 0.5 / len(known)))
        d = left.mean() - left
        spread = (d**2).sum() ** 1.5
        acceleration = (d**3).sum() / (6 * spread) if spread > 0 else 0.0
        shares = ndtr(bias + (bias + z) / (1 - acceleration * (bias + z)))
        ends[(slice(None), *at)] = quantiles(known, shares)
    return ends[0], ends[1]


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
        cuts = np.nanquantile(np.where(some[..., None], known, 0.0), shares, axis=-1)
        cuts = np.where(some, cuts, np.nan)
    else:
        cuts = np.quantile(known, shares, axis=-1)
    return np.where(np.abs(cuts) > FAR / 1e9, np.copysign(np.inf, cuts), cuts)


def check_level(level: float) -> float:
    """Return a level that lies between 0 and 1, or raise."""
    if not 0 < level < 1:
        raise InputError(f"level is {level:g}", fix="give a share such as 0.95")
    return level


def check_count(name: str, value: int, usual: int) -> None:
    """Raise when a number of draws is not positive, or is too large to compute.

    >>> check_count("resamples", 0, usual=10_000)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: resamples is 0; give a whole number from 1 to 10,000,000; 10,000 is usual.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= MOST:
        raise InputError(
            f"{name} is {value!r}", fix=f"give a whole number from 1 to {MOST:,}; {usual:,} is usual"
        )


def check_seed(seed: int) -> None:
    """Raise when a seed is not a whole number of 0 or more."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"the seed is {seed!r}", fix="give a whole number of 0 or more")
