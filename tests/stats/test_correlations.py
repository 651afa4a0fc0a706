"""Tau-b, Spearman and Pearson against scipy: over systems and over many items, plain and on repeated rows."""

import re
import subprocess
import sys
import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

import karat
from karat import KaratError
from karat.stats import Intervals
from karat.stats.correlations import (
    COEFFICIENTS,
    ITEM_COEFFICIENTS,
    correlation,
    correlation_matrix,
    correlations_of,
    item_correlations,
)

ORACLES = {"tau": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}
FEW = Intervals(resamples=50)
values = st.one_of(st.integers(-3, 3).map(float), st.floats(-100, 100).map(lambda x: round(x, 3)))
systems = st.lists(st.tuples(values, values, st.integers(0, 4)), min_size=3, max_size=25)


def oracle(name, x, y):
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ORACLES[name](x, y).statistic


@settings(deadline=None, max_examples=200)
@given(systems, st.sampled_from(sorted(ORACLES)))
def test_weights_are_repeated_systems(rows, name):
    x, y, times = (np.array(column) for column in zip(*rows))
    statistic = COEFFICIENTS[name](np.column_stack([x, y]))
    plain, repeated = statistic(np.stack([np.ones(len(x)), times]).astype(float))
    assert plain == pytest.approx(oracle(name, x, y), abs=1e-12, nan_ok=True)
    expected = oracle(name, np.repeat(x, times), np.repeat(y, times))
    assert repeated == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", sorted(ORACLES))
def test_value_interval_and_p(rng, name):
    x = rng.normal(size=25)
    y = x + rng.normal(size=25)
    found = correlation(x, y, name, resamples=2000)
    expected = ORACLES[name](x, y)
    assert found.value == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.low < found.value < found.high
    assert (found.n, found.method) == (25, "percentile")
    skewed = correlation(x, y, name, resamples=2000, method="bca")
    assert skewed.method == "BCa"
    assert skewed.low == pytest.approx(found.low, abs=0.15)


@pytest.mark.parametrize("name", sorted(ORACLES))
@pytest.mark.parametrize("ties", [False, True])
def test_p_equals_scipy(rng, name, ties):
    for n in [*range(3, 45), 60, 120, 180]:
        for noise in (0.0, 0.1, 1.0, 10.0):
            x = rng.integers(0, 1 + n // 2, n).astype(float) if ties else rng.permutation(n).astype(float)
            y = np.round(x + noise * rng.normal(size=n)) if ties else x + noise * rng.normal(size=n)
            if np.ptp(x) == 0 or np.ptp(y) == 0:
                continue
            for sign in (1, -1):
                expected = ORACLES[name](x, sign * y)
                found = correlation(x, sign * y, name, resamples=1)
                assert found.p > 0
                if name == "pearson" and noise == 0:
                    # On a line: scipy's p depends on how its sums round.
                    assert found.p < 1e-300
                    continue
                assert found.p == pytest.approx(expected.pvalue, abs=1e-12)
                if abs(expected.statistic) < 0.99:
                    assert found.p == pytest.approx(expected.pvalue, rel=1e-10)


def test_p_does_not_load_scipy_stats(tmp_path):
    """It takes most of a second."""
    check = (
        "import sys; from karat.stats import correlation\n"
        "for name in ('tau', 'spearman', 'pearson'): correlation([1, 2, 3, 4], [1, 3, 2, 4], name)\n"
        "assert 'scipy.stats' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", check], check=True, cwd=tmp_path)


def test_missing_values_are_left_out_pair_by_pair(rng):
    table = rng.normal(size=(12, 3))
    table[0, 0] = table[1, 1] = table[2, 1] = np.nan
    found = correlation_matrix(table, resamples=50)
    assert [[one.n for one in row] for row in found] == [[11, 9, 11], [9, 10, 10], [11, 10, 12]]
    assert found[0, 1].value == pytest.approx(stats.kendalltau(*table[3:, :2].T).statistic, abs=1e-12)
    assert found[0, 1] is found[1, 0]


def test_what_is_not_defined():
    assert np.isnan(correlation([1, 1, 1], [1, 2, 3]).value)
    assert np.isnan(correlation([1, np.nan], [np.nan, 2]).value)
    two = correlation([1, 2], [3, 4], resamples=20)
    assert two.value == 1
    assert np.isnan(two.p)
    assert 0 < correlation([1, 2, 3], [2, 4, 6], "pearson", resamples=20).p < 1e-6


def test_mistakes():
    for arguments, message in (
        (([1, np.inf], [1, 2]), "values is not a table of finite numbers"),
        (([1, 2, 3], [1, 2]), "x and y have the shapes (3,) and (2,); give both one value per system"),
        (([[1, 2]], [[1, 2]]), "x and y have the shapes (1, 2) and (1, 2)"),
        (([1, 2], ["a", "b"]), "y is not an array of numbers"),
        (([1, 2], [1, 2], 3), "coefficient is '3'"),
        (([1, 2], [1, 2], "phi"), "coefficient is 'phi'; choose one of tau, spearman, pearson"),
    ):
        with pytest.raises(karat.KaratError, match=re.escape(message)):
            correlation(*arguments)


def columns(rng, n, x_values, y_values):
    """Two columns that rise together, with ties."""
    x = rng.integers(0, x_values, n)
    y = np.round(0.3 * y_values * x / x_values + rng.integers(0, y_values, n))
    return x.astype(float), y.astype(float)


@pytest.mark.parametrize(("x_values", "y_values"), [(4, 6), (1000, 3), (3, 10**6), (10**6, 10**6)])
def test_values_are_scipys(rng, x_values, y_values):
    x, y = columns(rng, 300, x_values, y_values)
    found = item_correlations(x, y, intervals=FEW)
    for name, oracle in ORACLES.items():
        assert found[name].value == pytest.approx(oracle(x, y)[0], abs=1e-12)
        assert found[name].n == found[name].effective == 300
        assert found[name].low <= found[name].high


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2), st.integers(0, 3)), min_size=1, max_size=30))
def test_weights_are_repeated_rows(rows):
    """Brute force: the rows listed as often as they weigh."""
    table = np.unique(np.array(rows, dtype=float)[:, :2], axis=0)
    weights = np.resize([row[2] for row in rows], len(table)).astype(float)
    x, y = np.repeat(table, weights.astype(int), axis=0).T
    got = correlations_of(table)(weights[None])[:, 0]
    if len(np.unique(x)) < 2 or len(np.unique(y)) < 2:
        assert np.isnan(got).all()
        return
    assert got == pytest.approx([ORACLES[name](x, y)[0] for name in ITEM_COEFFICIENTS], abs=1e-9)


def test_intervals_are_those_of_a_plain_bootstrap(rng):
    x, y = columns(rng, 120, 50, 10**6)
    found = item_correlations(x, y, intervals=Intervals(resamples=2000))
    for name, oracle in ORACLES.items():
        draws = [oracle(x[at], y[at])[0] for at in rng.integers(0, 120, (2000, 120))]
        low, high = np.quantile(draws, [0.025, 0.975])
        assert found[name].low == pytest.approx(low, abs=0.03)
        assert found[name].high == pytest.approx(high, abs=0.03)


def test_items_of_one_cluster_are_drawn_together(rng):
    """Every item four times: as single items the interval is too narrow by half."""
    x, y = (np.repeat(column, 4) for column in columns(rng, 100, 50, 10**6))
    cluster = np.repeat(np.arange(100), 4)
    made = Intervals(resamples=500)
    alone, together = (item_correlations(x, y, clusters=c, intervals=made) for c in (None, cluster))
    for name in ITEM_COEFFICIENTS:
        assert together[name].value == alone[name].value
        assert together[name].effective == 100
        width = [one[name].high - one[name].low for one in (alone, together)]
        assert 1.6 < width[1] / width[0] < 2.4


def test_bca_and_seeds(rng):
    x, y = columns(rng, 60, 9, 10**6)
    made = Intervals("bca", resamples=300)
    first, again = (item_correlations(x, y, intervals=made) for _ in range(2))
    assert first == again
    assert first["tau"].method == "BCa"
    assert first["tau"].low < first["tau"].value < first["tau"].high


def test_what_is_missing_does_not_count():
    found = item_correlations([1, 2, np.nan, 4, 3], [1, 2, 3, np.nan, 3], intervals=FEW)
    assert found["tau"].n == 3
    assert found["pearson"].value == pytest.approx(1)
    nothing = item_correlations([np.nan], [1.0], intervals=FEW)["pearson"]
    assert nothing.n == 0
    assert np.isnan(nothing.value)


def test_a_constant_side_is_not_defined():
    # 0.1 + 0.2 and 0.3 differ by rounding only in sums, not as given.
    for found in item_correlations([0.1] * 10, np.arange(10.0), intervals=FEW).values():
        assert np.isnan([found.value, found.low, found.high]).all()


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [1, 2, 3], r"shapes \(2,\) and \(3,\)"),
        ([[1, 2]], [[1, 2]], "one number per item"),
        ([1, "good"], [1, 2], "x is not an array of numbers"),
        ([1, np.inf], [1, 2], "infinite"),
    ],
)
def test_item_mistakes(x, y, message):
    with pytest.raises(KaratError, match=message):
        item_correlations(x, y)
