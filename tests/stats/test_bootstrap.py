"""Bootstrap intervals against scipy, and where they have no width."""

import numpy as np
import pytest
from scipy import stats

from karat.errors import InputError
from karat.measures.aggregates import MEDIAN
from karat.stats import Intervals, bootstrap_interval
from karat.stats.resampling import Resampling, bca, percentile


@pytest.mark.parametrize(("method", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
def test_intervals_are_close_to_scipy(method, theirs, rng):
    skewed = rng.exponential(size=60)
    oracle = stats.bootstrap((skewed,), np.mean, method=theirs, n_resamples=20_000, rng=1).confidence_interval
    ours = bootstrap_interval(skewed, method=method, resamples=20_000)
    # Two standard errors of a 2.5% quantile from 20,000 draws.
    assert ours.low == pytest.approx(oracle.low, abs=0.01)
    assert ours.high == pytest.approx(oracle.high, abs=0.015)


def test_bca_equals_scipy_on_the_same_draws(monkeypatch, rng):
    """The formula alone: scipy is handed our draws."""
    data = rng.exponential(size=40)
    rows = []
    for weights in Resampling(40, 500, seed=4).blocks():
        rows += [np.repeat(np.arange(40), w.astype(int)) for w in weights]
    module = __import__("scipy.stats._resampling", fromlist=["_bootstrap_resample"])
    monkeypatch.setattr(module, "_bootstrap_resample", lambda *_args, **_kw: data[np.array(rows)])
    oracle = stats.bootstrap((data,), np.mean, method="BCa", n_resamples=500, vectorized=True)
    ours = bootstrap_interval(data, method="bca", resamples=500, seed=4)
    assert ours.low == pytest.approx(oracle.confidence_interval.low, rel=1e-9)
    assert ours.high == pytest.approx(oracle.confidence_interval.high, rel=1e-9)


def test_clusters_widen_the_interval(rng):
    hard = np.repeat(rng.random(200) < 0.5, 5).astype(float)
    alone = bootstrap_interval(hard)
    together = bootstrap_interval(hard, np.repeat(np.arange(200), 5))
    ratio = (together.high - together.low) / (alone.high - alone.low)
    # Five equal answers are one: wider by the square root of five.
    assert ratio == pytest.approx(np.sqrt(5), rel=0.05)
    assert (together.n, together.effective) == (1000, 200)


def test_medians(rng):
    ranks = rng.integers(1, 100, 151).astype(float)
    found = bootstrap_interval(ranks, aggregate=MEDIAN)
    oracle = stats.bootstrap((ranks,), np.median, method="percentile", n_resamples=5000, rng=1)
    assert found.value == np.median(ranks)
    assert abs(found.low - oracle.confidence_interval.low) <= 2
    assert abs(found.high - oracle.confidence_interval.high) <= 2


def test_one_value_for_all_has_a_width():
    """No miss among 20: the share of misses can still be 16.8%, by the exact binomial interval."""
    exact = stats.binomtest(20, 20).proportion_ci(method="exact")
    for method in ("percentile", "bca"):
        found = bootstrap_interval(np.ones(20), method=method)
        assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
        assert found.method == "Clopper–Pearson"


def test_undefined_draws_are_left_out():
    draws = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])
    low, high = percentile(draws, 0.5)
    assert (low[0], high[0]) == (1.5, 2.5)
    assert np.isnan(low[1])
    assert np.isnan(high[1])
    low, high = bca(np.array([2.0, 2.0]), draws, np.array([[1.0, 3.0], [1.0, 3.0]]), 0.5)
    assert 1 <= low[0] <= high[0] <= 3
    assert np.isnan(low[1])


@pytest.mark.parametrize(
    ("given", "message"),
    [({"method": "t"}, "method"), ({"level": 95}, "level"), ({"resamples": 0}, "resamples")],
)
def test_wrong_choices_are_sentences(given, message):
    with pytest.raises(InputError, match=message):
        Intervals(**given)


def test_an_interval_may_have_no_upper_end():
    ranks = np.r_[np.full(31, 13.0), np.full(29, np.inf)]
    found = bootstrap_interval(ranks, aggregate=MEDIAN)
    assert (found.value, found.low, found.high) == (13, 13, np.inf)
    assert bootstrap_interval(ranks, aggregate=MEDIAN, method="bca").low == 13
    with pytest.raises(InputError, match="infinite"):
        bootstrap_interval(ranks)
