"""Score against gallery size: what R@K would be if there were fewer wrong answers to choose from.

Papers compare R@1 over 1,000 images with R@1 over 5,000 by drawing small galleries at random. No drawing is
needed: the expectation has a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from karat.benchmarks import Benchmark, is_direction
from karat.errors import InputError
from karat.scores.column import Column
from karat.scores.scorecard import Scorecard
from karat.stats import Intervals, Sample, Samples, means_ends

FIRST_PLACE = ("MeanR", "MedR")
"""The measures whose values per query are the place of the first relevant item."""


RESAMPLES = 1000
"""Of the intervals: they are drawn, not read to the last digit."""


@dataclass(frozen=True, eq=False)
class GalleryCurve:
    """R@K of one run over random parts of the gallery, with intervals over queries.

    Parameters
    ----------
    run, truth, direction, k
        What.
    sizes
        How many items the gallery has.
    values, low, high
        R@K at each size, and the ends of its interval.
    """

    run: str
    truth: str
    direction: str
    k: int
    sizes: np.ndarray
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray


def expected_recall(
    place: np.ndarray, relevant: np.ndarray, gallery: np.ndarray, sizes: np.ndarray, ks: Sequence[int]
) -> np.ndarray:
    """Return R@K in expectation over random galleries of each size, [ks, sizes, queries].

    The gallery keeps the query's R relevant items and n = size − R of its M = N − R other items. If d of
    these rank above the first relevant item, the number of them that stay is hypergeometric, and

        R@K = P(at most K − 1 stay) = Σ_{j < K} C(d, j) C(M − d, n − j) / C(M, n).

    At size N this is the plain R@K.

    Parameters
    ----------
    place
        Of the first relevant item, counted from 1, so that d = place − 1; infinite or beyond the gallery
        where it was not found.
    relevant, gallery
        R and N of each query; without a relevant item the answer is 0.
    sizes, ks
        Of the smaller galleries, and every K of R@K.

    Examples
    --------
    Of ten items the relevant one is third: two of nine others rank above it. Among five items it is first
    when none of the two is among the four that stay: (7·6·5·4)/(9·8·7·6) = 5/18.

    >>> expected_recall(np.array([3.0]), np.array([1]), np.array([10]), np.array([5, 10]), [1]).round(4)
    array([[[0.2778],
            [0.    ]]])
    """
    placed = np.isfinite(place) & (place <= gallery) & (relevant > 0)
    others = np.where(placed, gallery - relevant, 0).astype(np.int64)
    above = np.where(placed, np.minimum(np.where(placed, place, 1) - 1, others), 0).astype(np.int64)
    # Queries share few combinations of these numbers, so each combination is computed once.
    base = int(gallery.max(initial=0)) + 1
    cases, case = np.unique((above * base + others) * base + relevant, return_inverse=True)
    rest, r = np.divmod(cases, base)
    d, m = np.divmod(rest, base)
    n = np.clip(np.asarray(sizes)[:, None] - r, 0, m)
    return np.where(placed, at_most(np.asarray(ks) - 1, d, m, n, log_factorials(base))[..., case], 0.0)


def at_most(
    most: np.ndarray, d: np.ndarray, m: np.ndarray, n: np.ndarray, log_factorial: np.ndarray
) -> np.ndarray:
    """Return the chance that at most 0, 1, … of n items drawn from m belong to a given d, [most, ...]."""

    def log_choose(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return log_factorial[a] - log_factorial[b] - log_factorial[a - b]

    all_ways, total = log_choose(m, n), np.zeros(n.shape)
    out = np.empty((len(most), *n.shape))
    for j in range(int(most.max(initial=0)) + 1):
        possible = (j <= d) & (n - j <= m - d) & (j <= n)
        ways = log_choose(d, np.where(j <= d, j, 0)) + log_choose(m - d, np.where(possible, n - j, 0))
        total += np.where(possible, np.exp(np.where(possible, ways - all_ways, 0.0)), 0.0)
        out[most == j] = np.minimum(total, 1.0)
    return out


@lru_cache(maxsize=2)
def log_factorials(number: int) -> np.ndarray:
    """Return the logarithms of the first factorials, from 0!; of both directions they are kept.

    >>> np.exp(log_factorials(5)).round(6).tolist()
    [1.0, 1.0, 2.0, 6.0, 24.0]
    """
    return np.array([math.lgamma(k) for k in range(1, number + 1)])


def gallery_sizes(largest: int) -> np.ndarray:
    """Return up to eight sizes to show, evenly spaced in proportion, up to the whole gallery.

    >>> gallery_sizes(25_000).tolist()
    [100, 200, 500, 1000, 2000, 5000, 10000, 25000]
    """
    steps = [base * 10**power for power in range(9) for base in (1, 2, 5)]
    below = [step for step in steps if 1 < step <= 0.75 * largest]
    return np.array([*below[-7:], largest])


def first_places(card: Scorecard) -> dict[tuple[str, str, str], Column]:
    """Return the columns that hold the place of the first relevant item, by run, truth and direction."""
    by_place: dict[tuple[str, str, str], Column] = {}
    for column in card:
        if str(column.measure) in FIRST_PLACE and column.values is not None:
            by_place.setdefault((column.run, column.truth, column.direction), column)
    return by_place


def counted(benchmark: Benchmark, truth: str, direction: str) -> tuple[np.ndarray, np.ndarray]:
    """Return, per query in a column's order, how many items are relevant and how many there are."""
    relevant, size = [], []
    everything = benchmark.items(direction).size
    for items in benchmark.truth(truth).judged_by_fold(direction, everything):
        inside = (items.grade > 0) & ~items.outside
        relevant.append(np.bincount(items.number[inside], minlength=len(items.queries)))
        size.append(items.size)
    return np.concatenate(relevant), np.concatenate(size)


def gallery_curves(
    card: Scorecard, ks: Sequence[int] = (1,), intervals: Intervals | None = None
) -> list[GalleryCurve]:
    """Return R@K against gallery size for every run, truth and direction that has places.

    Parameters
    ----------
    card
        A scorecard with MeanR or MedR, whose values per query are the place of the first relevant item;
        ties must be fixed (any policy but "expected"), and unjudged pairs count as misses.
    ks
        Which K of R@K.
    intervals
        How intervals are made; by default 95%, percentile, 1,000 resamples of images.

    Examples
    --------
    >>> import karat
    >>> from karat.benchmarks import Ids, Judgments, Provenance, Truth
    >>> own = Judgments(range(40), range(40), sources=[Provenance("original")])
    >>> truth = Truth("own", own, {"i2t": np.arange(40)})
    >>> ids = Ids(range(40), kind="image"), Ids(range(40), kind="caption")
    >>> bench = Benchmark("tiny", *ids, {"own": truth})
    >>> scores = 2 * np.eye(40) + np.random.default_rng(1).normal(size=(40, 40))
    >>> card = karat.evaluate(karat.load_run(scores), bench, ["MeanR"], direction="i2t")
    >>> curve = gallery_curves(card)[0]
    >>> curve.sizes.tolist(), curve.values.round(2).tolist()
    ([2, 5, 10, 20, 40], [0.91, 0.76, 0.64, 0.52, 0.42])
    """
    if card.ties == "expected" or card.unjudged == "left_out":
        raise InputError(
            "places are not whole numbers of the whole gallery",
            fix='evaluate with ties="pessimistic" and unjudged="misses"',
        )
    options = intervals or Intervals(resamples=RESAMPLES)
    columns = [
        column
        for (_, truth, direction), column in first_places(card).items()
        if not card.benchmark.truth(truth).implicit
        and is_direction(direction)
        # Of lists that are cut off, or without a query, the places are not known.
        and column.value is not None
    ]
    if not columns:
        return []
    known = np.unique(np.concatenate([clusters_of(column) for column in columns]))
    counts = {
        (truth, direction): counted(card.benchmark, truth, direction)
        for truth, direction in {(column.truth, column.direction) for column in columns}
    }
    plans, samples = [], []
    for column in columns:
        relevant, size = counts[column.truth, column.direction]
        grid = gallery_sizes(int(size.max()))
        plans += [(column, k, grid) for k in ks]
        cluster = np.searchsorted(known, clusters_of(column))
        samples += samples_of(column, cluster, relevant, size, grid, ks)
    column_samples = Samples(samples, len(known))
    value = column_samples.values()
    drawn = options.ends(value, *options.draw(column_samples.resampled, column_samples.clusters))
    low, high = means_ends(samples, column_samples.clusters, value, drawn, options.level)
    ends = np.cumsum([len(grid) for _, _, grid in plans])
    parts = (np.split(numbers, ends[:-1]) for numbers in (value, low, high))
    return [
        GalleryCurve(column.run, column.truth, column.direction, k, grid, *numbers)
        for (column, k, grid), *numbers in zip(plans, *parts)
    ]


def clusters_of(column: Column) -> np.ndarray:
    """Return the image that each query belongs to."""
    assert column.cluster is not None
    return column.cluster


def samples_of(
    column: Column,
    cluster: np.ndarray,
    relevant: np.ndarray,
    size: np.ndarray,
    grid: np.ndarray,
    ks: Sequence[int],
) -> list[Sample]:
    """Return the values per query of one column for every K and size, as the statistics take them."""
    assert column.values is not None
    defined = ~np.isnan(column.values)
    values = expected_recall(np.where(defined, column.values, 1.0), relevant, size, grid, ks)
    values[..., ~defined] = np.nan
    return [Sample(row, cluster, column.fold) for row in values.reshape(-1, len(defined))]
