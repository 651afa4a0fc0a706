"""Tau-b, Spearman and Pearson against scipy, plain and on repeated rows."""

import re
import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

import karat
from karat.stats.coefficients import COEFFICIENTS
from karat.stats.correlation import correlation, correlation_matrix

ORACLES = {"tau": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}
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
        (([1, 2], ["a", "b"]), "y holds more than numbers"),
        (([1, 2], [1, 2], 3), "coefficient is '3'"),
        (([1, 2], [1, 2], "phi"), "coefficient is 'phi'; choose one of tau, spearman, pearson"),
    ):
        with pytest.raises(karat.KaratError, match=re.escape(message)):
            correlation(*arguments)
