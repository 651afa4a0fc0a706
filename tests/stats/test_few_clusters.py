"""Intervals of few clusters: exact where they can be, never without width, and none of next to nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from karat.measures.aggregates import MEDIAN
from karat.stats import bootstrap_interval, correlation
from karat.stats.few_clusters import difference_ends, exact_share, share_ends, spread_of
from karat.stats.kappa import cohen_kappa
from karat.stats.samples import Sample


@given(st.integers(1, 200), st.data())
def test_shares_of_single_queries_are_clopper_and_pearsons(n, data):
    hits = data.draw(st.integers(0, n))
    oracle = stats.binomtest(hits, n).proportion_ci(method="exact")
    assert exact_share(hits / n, n, 0.95) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


@pytest.mark.parametrize("n", [5, 10, 20, 29])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.81, 0.95, 0.99])
def test_they_hold_as_often_as_they_say(n, share):
    """Over all outcomes, weighted by their binomial probability: no draw is needed."""
    ends = [bootstrap_interval(np.repeat([1.0, 0.0], [k, n - k]), resamples=1) for k in range(n + 1)]
    inside = [end.low <= share <= end.high for end in ends]
    assert stats.binom.pmf(np.flatnonzero(inside), n, share).sum() >= 0.95


@pytest.mark.parametrize("n", [1, 2, 4])
def test_next_to_nothing_has_no_interval(n):
    found = bootstrap_interval(np.ones(n))
    assert np.isnan([found.low, found.high]).all()
    assert repr(found) == f"1 (no interval, n = {n})"


def test_medians_need_ten():
    assert np.isnan(bootstrap_interval(np.arange(9.0), aggregate=MEDIAN).low)
    assert bootstrap_interval(np.arange(10.0), aggregate=MEDIAN).low < 4.5


def test_near_the_border_many_clusters_do_not_help(rng):
    """One miss among a thousand: every third such sample has none, and no percentile interval."""
    values = np.ones(1000)
    values[7] = 0
    found = bootstrap_interval(values)
    oracle = stats.binomtest(999, 1000).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))
    values[:500] = 0
    assert bootstrap_interval(values).method == "percentile"


def test_clusters_that_agree_count_once():
    """Five captions that succeed or fail together are one query."""
    hits = np.array([1.0, 1, 1, 0, 1, 0, 1, 1])
    alone = bootstrap_interval(hits)
    together = bootstrap_interval(np.repeat(hits, 5), np.repeat(np.arange(8), 5))
    assert together.effective == 8
    assert together.low < alone.low + 0.01
    assert together.high > alone.high - 0.01


def test_the_error_is_that_of_a_ratio(rng):
    """Clusters of different sizes: against the delta method, written out."""
    cluster = np.repeat(np.arange(12), rng.integers(1, 6, 12))
    values = rng.random(len(cluster))
    sums, counts = np.bincount(cluster, values), np.bincount(cluster)
    away = sums - values.mean() * counts
    expected = np.sqrt(12 / 11 * (away**2).sum()) / counts.sum()
    spread = spread_of([Sample(values, cluster)], 12)
    assert spread.error == pytest.approx(expected)
    low, high = share_ends(values.mean(), spread, 0.95)
    assert low < values.mean() < high


def test_a_difference_of_few_is_students(rng):
    first, second = rng.random(12), rng.random(12)
    spread = spread_of([Sample(first - second, np.arange(12))], 12)
    ends, _ = difference_ends(float((first - second).mean()), (0.0, 0.0), spread, 0.95)
    oracle = stats.ttest_rel(first, second).confidence_interval()
    assert ends == pytest.approx((oracle.low, oracle.high))


def test_orders_of_three_systems_have_no_interval():
    found = correlation([1, 2, 3], [1, 2, 3])
    assert found.value == 1
    assert np.isnan([found.low, found.high]).all()
    assert repr(found) == "1 (no interval, n = 3)"
    assert np.isnan(correlation(np.arange(40), np.arange(40)).low)


def test_perfect_agreement_may_have_missed_a_disagreement():
    """Twenty items: a sixth of all could be of a kind that was not seen."""
    found = cohen_kappa(np.arange(20) % 2, np.arange(20) % 2)
    unseen = 1 - 0.025 ** (1 / 20)
    yes = 0.5 * (1 - unseen)
    table = np.array([[yes, 0], [unseen, yes]])
    chance = table.sum(axis=0) @ table.sum(axis=1)
    assert found.low == pytest.approx((np.trace(table) - chance) / (1 - chance))
    assert found.high == 1


def test_small_values_are_not_few_hits(rng):
    """A mean average precision of 0.6% on 1,261 images is far from sparse: it is resampled."""
    small = bootstrap_interval(0.006 * rng.exponential(size=1261).clip(max=100))
    assert small.method == "percentile"
    rare = bootstrap_interval((rng.random(1261) < 0.004).astype(float))
    assert rare.method == "Clopper–Pearson"
