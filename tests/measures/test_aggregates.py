"""Aggregating with weights is aggregating repeated values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.measures.aggregates import MEAN, MEDIAN


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=9),
    st.lists(st.lists(st.integers(0, 4), min_size=9, max_size=9), min_size=1, max_size=4),
)
def test_weights_repeat_values(values, weights):
    values = np.array(values, dtype=float)
    weights = np.array(weights)[:, : len(values)]
    for aggregate, plain in ((MEAN, np.mean), (MEDIAN, np.median)):
        for ours, w in zip(aggregate(values, weights), weights):
            repeated = np.repeat(values, w)
            assert ours == pytest.approx(plain(repeated)) if len(repeated) else np.isnan(ours)
        assert aggregate(values)[0] == pytest.approx(plain(values))


def test_undefined_values_are_left_out():
    values = np.array([np.nan, 4.0, 2.0])
    assert MEAN(values)[0] == MEDIAN(values)[0] == 3
    assert np.isnan(MEAN(np.array([np.nan]))[0])
    assert np.isnan(MEDIAN(np.array([np.nan]))[0])
    assert MEDIAN(np.array([1.0, 2.0, np.inf]))[0] == 2
