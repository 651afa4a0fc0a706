"""Krippendorff's alpha against the package krippendorff, and its bootstrap against repeated items."""

import re

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import karat
from karat.stats.alpha import SCALES, Disagreement, krippendorff_alpha

cells = st.one_of(st.just(np.nan), st.integers(1, 4).map(float), st.sampled_from([0.1, -7.3, 250.0]))
tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 15), st.integers(1, 5)), elements=cells)


def point(table, scale):
    return krippendorff_alpha(table, scale, resamples=1).value


def expected(table, scale):
    """What the package says; it raises where we say NaN."""
    import krippendorff

    paired = table[(~np.isnan(table)).sum(axis=1) >= 2]
    if len(np.unique(paired[~np.isnan(paired)])) < 2:
        return np.nan
    return krippendorff.alpha(paired.T, level_of_measurement=scale)


@settings(deadline=None, max_examples=150)
@given(tables, st.sampled_from(SCALES))
def test_equals_the_package(table, scale):
    assert point(table, scale) == pytest.approx(expected(table, scale), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("scale", SCALES)
def test_large_tables_with_gaps(rng, scale):
    table = np.round(rng.normal(3, 1, (400, 1)) + rng.normal(0, 0.7, (400, 6)))
    table[rng.random(table.shape) < 0.4] = np.nan
    assert point(table, scale) == pytest.approx(expected(table, scale), abs=1e-12)
    order = rng.permuted(table, axis=1)
    assert point(order, scale) == pytest.approx(point(table, scale), abs=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_weights_are_repeated_items(rng, scale):
    table = rng.integers(1, 5, (20, 3)).astype(float)
    table[0, 2] = table[5, 0] = np.nan
    rows = np.sort(np.where(np.isnan(table), np.inf, table), axis=1)
    alpha = Disagreement(rows, scale)
    times = rng.multinomial(20, np.full(20, 1 / 20), size=20)
    for row, value in zip(times, alpha(times.astype(float))):
        assert value == pytest.approx(point(np.repeat(table, row, axis=0), scale), abs=1e-12)


def test_the_interval(rng):
    table = np.round(rng.normal(3, 1, (300, 1)) + rng.normal(0, 0.7, (300, 3)))
    table[:50, 1] = np.nan
    found = krippendorff_alpha(table, "ordinal", resamples=2000)
    assert found.low < found.value < found.high
    assert (found.n, found.effective) == (300, 300)
    assert krippendorff_alpha(table, "ordinal", resamples=2000) == found
    again = krippendorff_alpha(table, "ordinal", resamples=2000, method="bca")
    assert again.low == pytest.approx(found.low, abs=0.02)
    copied = krippendorff_alpha(
        np.repeat(table, 4, axis=0), "ordinal", resamples=2000, clusters=np.repeat(np.arange(300), 4)
    )
    assert (copied.n, copied.effective) == (1200, 300)
    assert copied.high - copied.low == pytest.approx(found.high - found.low, rel=0.15)


@pytest.mark.parametrize("scale", SCALES)
def test_edge_cases(scale):
    assert np.isnan(point(np.ones((3, 2)), scale))
    assert np.isnan(point(np.full((3, 2), np.nan), scale))
    assert np.isnan(point(np.array([[1, np.nan], [np.nan, 2]]), scale))
    assert np.isnan(point(np.array([[1, 1, 1], [2, np.nan, np.nan]]), scale))
    assert point(np.array([[1, 1], [2, 2.0]]), scale) == 1
    assert point(np.array([[0.1, 0.1], [0.3, 0.3]]), scale) == 1


@pytest.mark.parametrize(
    ("table", "scale", "message"),
    [
        ([1, 2], "nominal", "ratings has 1 dimension"),
        ([[1, np.inf]], "nominal", "a rating is infinite"),
        ([[1, 2]], "ratio", "scale is 'ratio'; choose one of nominal, ordinal, interval"),
        ([[1, 2]], 3, "scale is '3'; choose one of nominal, ordinal, interval"),
        ([[1, "good"]], "nominal", "ratings is not an array of numbers"),
        ([[1, 2], [3]], "nominal", "ratings is not an array of numbers"),
    ],
)
def test_mistakes(table, scale, message):
    with pytest.raises(karat.KaratError, match=re.escape(message)):
        krippendorff_alpha(table, scale)
