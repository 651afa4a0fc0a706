"""Correlations over many items, against scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat import KaratError
from karat.stats.intervals import Intervals
from karat.stats.item_correlation import COEFFICIENTS, correlations_of, item_correlations

ORACLES = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "tau": stats.kendalltau}
FEW = Intervals(resamples=50)


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
    assert got == pytest.approx([ORACLES[name](x, y)[0] for name in COEFFICIENTS], abs=1e-9)


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
    for name in COEFFICIENTS:
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
        ([1, "good"], [1, 2], "x holds more than numbers"),
        ([1, np.inf], [1, 2], "infinite"),
    ],
)
def test_mistakes(x, y, message):
    with pytest.raises(KaratError, match=message):
        item_correlations(x, y)
