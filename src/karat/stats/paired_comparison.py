"""The paired comparison of two columns of values per query: which is better, by how much, how sure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from karat._util import Registry, check_choice
from karat.errors import InputError
from karat.measures import MEAN, Aggregate
from karat.stats.bootstrap import check_resampled, resampled_p
from karat.stats.estimate import Estimate, with_interval
from karat.stats.few_clusters import FEWEST, difference_ends, other_ends, spread_of
from karat.stats.paired_tests import (
    check_finite,
    detection_reach,
    mcnemar,
    paired_values,
    randomisation_test,
    subtract,
)
from karat.stats.resampling import Intervals
from karat.stats.samples import Sample, Samples

NOT_SHOWN = "not shown to differ"


@dataclass(frozen=True)
class PairedComparison:
    """Two columns of values of the same queries.

    Parameters
    ----------
    first, second
        The scores of both.
    difference
        The first less the second, with its interval.
    p, test
        Of the paired test.
    alpha
        The level at which one is better.
    better
        Whether "high" or "low" scores are good.
    equivalent
        Whether they are shown to differ by no more than a margin; None where none was given.
    detectable
        The smallest difference that the test would find with a given power; None where none was given.
    """

    first: float
    second: float
    difference: Estimate
    p: float
    test: str
    alpha: float
    better: str
    equivalent: bool | None = None
    detectable: float | None = None

    @property
    def verdict(self) -> str:
        """Whether the first or the second is better, or neither is shown to be."""
        if self.p > self.alpha or self.difference.value == 0:
            return NOT_SHOWN
        ahead = (self.difference.value > 0) == (self.better == "high")
        return f"the {'first' if ahead else 'second'} is better"

    def __repr__(self) -> str:
        return (
            f"difference {with_interval(self.difference, 4)}, p = {self.p:.3g} ({self.test}): {self.verdict}"
        )


def compare_values(
    first: np.ndarray,
    second: np.ndarray,
    clusters: np.ndarray | None = None,
    *,
    aggregate: Aggregate = MEAN,
    better: str = "high",
    test: str = "randomisation",
    alpha: float = 0.05,
    margin: float | None = None,
    power: float | None = None,
    intervals: Intervals | None = None,
    samples: int = 100_000,
    seed: int = 0,
) -> PairedComparison:
    """Compare two systems by their values on the same queries: as `karat.compare` does, on plain arrays.

    Of several systems, compare each pair and correct the p-values with `holm`.

    Parameters
    ----------
    first, second
        Values per query of the two systems; queries where either is NaN are left out.
    clusters
        Per query, what it belongs to, such as its image: queries of one cluster are drawn and swapped
        together. Every query is its own cluster by default.
    aggregate
        `karat.measures.MEAN` or `MEDIAN`, or any other.
    better
        Whether "high" or "low" values are good.
    test
        "randomisation", "bootstrap", "mcnemar" (mid-p) or "mcnemar-exact".
    alpha
        The level at which one system is better.
    margin
        Also say whether they are shown to differ by no more than this, in the units of the values: two
        one-sided tests at `alpha`.
    power
        Also give the smallest difference that the test would find with this probability, such as 0.8.
    intervals
        How the interval is made; 95% percentile with 10,000 resamples and this seed by default.
    samples, seed
        How many random swaps, and their seed.

    Examples
    --------
    Two systems on 300 captions of 60 images:

    >>> rng = np.random.default_rng(0)
    >>> image = np.repeat(np.arange(60), 5)
    >>> ours, theirs = (rng.random(300) < 0.55).astype(float), (rng.random(300) < 0.40).astype(float)
    >>> compared = compare_values(ours, theirs, image, margin=0.05, power=0.8)
    >>> compared
    difference 0.1067 (0.0333–0.1800), p = 0.0081 (randomisation): the first is better
    >>> compared.equivalent, round(compared.detectable, 2)
    (False, 0.11)
    """
    better = check_choice(better, ("high", "low"), "better")
    p_value = PAIRED_TESTS[test]
    check_decision(alpha, margin, power)
    intervals = intervals or Intervals(seed=seed)
    pair = ValuePair(*paired_values(first, second, clusters), aggregate, intervals, samples, seed)
    low, high = pair.ends(intervals.level)
    equivalent = None if margin is None else bool(within_margin(np.array(pair.ends(1 - 2 * alpha)), margin))
    made = intervals.level, intervals.shown, len(pair.cluster), pair.clusters
    return PairedComparison(
        float(pair.scores[0]),
        float(pair.scores[1]),
        Estimate(pair.difference, low, high, *made),
        p_value(pair),
        test,
        alpha,
        better,
        equivalent,
        None if power is None else detectable_difference(pair.drawn, pair.clusters, alpha, power),
    )


@dataclass(frozen=True, eq=False)
class ValuePair:
    """Two columns of values of the same queries, resampled together."""

    first: np.ndarray
    second: np.ndarray
    cluster: np.ndarray
    aggregate: Aggregate
    intervals: Intervals
    samples: int
    seed: int

    def __post_init__(self) -> None:
        check_finite(self.aggregate, self.first, self.second)

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.cluster.max()) + 1

    @cached_property
    def columns(self) -> list[Sample]:
        """Both columns."""
        return [
            Sample(values, self.cluster, aggregate=self.aggregate) for values in (self.first, self.second)
        ]

    @cached_property
    def scores(self) -> np.ndarray:
        """Both scores."""
        return Samples(self.columns, self.clusters).values()

    @property
    def difference(self) -> float:
        """The first score less the second."""
        return float(subtract(*self.scores))

    @cached_property
    def _draws(self) -> tuple[np.ndarray, np.ndarray | None]:
        return self.intervals.draw(Samples(self.columns, self.clusters).resampled, self.clusters)

    @property
    def drawn(self) -> np.ndarray:
        """The difference under every resample."""
        draws, _ = self._draws
        return subtract(draws[0], draws[1])

    def ends(self, level: float) -> tuple[float, float]:
        """Return the interval of the difference, which holds as often as `level` says."""
        _, jackknife = self._draws
        left_out = None if jackknife is None else (jackknife[0] - jackknife[1])[None]
        made = Intervals(self.intervals.method, level, self.intervals.resamples, self.intervals.seed)
        low, high = made.ends(np.array([self.difference]), self.drawn[None], left_out)
        ends = float(low[0]), float(high[0])
        if self.aggregate is not MEAN:
            return other_ends(ends, self.clusters)
        first, second = (spread_of([column], self.clusters) for column in self.columns)
        return difference_ends(self.difference, ends, first.less(second), level)[0]


ValueTest = Callable[[ValuePair], float]
"""From two columns to a p-value."""
PAIRED_TESTS: Registry[ValueTest] = Registry("test")


def by_swapping(pair: ValuePair) -> float:
    """Return how often swapped values differ as much."""
    given = pair.first, pair.second, pair.cluster, pair.aggregate
    return randomisation_test(*given, pair.samples, pair.seed).p


def by_resampling(pair: ValuePair) -> float:
    """Return on which side of 0 the resampled differences lie."""
    check_resampled(pair.clusters)
    return resampled_p(pair.drawn, len(np.unique(pair.cluster[pair.first != pair.second])))


def by_wins(kind: Any) -> ValueTest:
    """Return McNemar's test of one kind, for queries that are independent."""

    def p_value(pair: ValuePair) -> float:
        if pair.clusters < len(pair.cluster):
            raise InputError(
                "McNemar's test takes queries to be independent, and some are of one cluster",
                fix="use the randomisation test",
            )
        return mcnemar(pair.first, pair.second, kind).p

    return p_value


PAIRED_TESTS.add("randomisation", by_swapping)
PAIRED_TESTS.add("bootstrap", by_resampling)
PAIRED_TESTS.add("mcnemar", by_wins("mid-p"))
PAIRED_TESTS.add("mcnemar-exact", by_wins("exact"))


def check_decision(alpha: float, margin: float | None = None, power: float | None = None) -> None:
    """Raise for a level, a margin of equivalence or a power that makes no sense."""
    if margin is not None and not (margin > 0 and alpha < 0.5):
        raise InputError(
            f"margin is {margin:g}", fix="give a difference in points or ranks above 0, such as 1"
        )
    if power is not None and not 0.5 <= power < 1:
        raise InputError(f"power is {power:g}", fix="give a share from 0.5 to below 1, such as 0.8")
    if not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha}", fix="give a level such as 0.05")


def within_margin(ends: np.ndarray, margin: float) -> np.ndarray:
    """Return whether intervals [2, ...] lie within a margin of 0; those that are not known do not.

    >>> within_margin(np.array([[-0.5, -2.0, np.nan], [0.9, 0.5, 0.1]]), 1.0).tolist()
    [True, False, False]
    """
    return np.nan_to_num(np.abs(ends).max(axis=0), nan=np.inf) <= margin


def detectable_difference(drawn: np.ndarray, clusters: int, alpha: float, power: float) -> float | None:
    """Return the smallest true difference that a test at a level finds with some power.

    `detection_reach` times the standard error, which is that of the resampled differences. Nothing where no
    two clusters differ, or there are too few.
    """
    if clusters < FEWEST:
        return None
    error = float(np.nanstd(drawn)) * np.sqrt(clusters / (clusters - 1))
    reach = detection_reach(clusters, alpha, power)
    return float(reach * error) if np.isfinite(error) and error > 0 else None
