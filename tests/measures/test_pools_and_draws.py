"""Pooling with weights, and grades with a leading axis of posterior draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.measures import MEASURES, TIE_POLICIES, Measure, parse_measure
from karat.measures.pools import MEAN, MEDIAN
from karat.measures.semantic import Semantic
from karat.measures.ties import Counts, resolve


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=9),
    st.lists(st.lists(st.integers(0, 4), min_size=9, max_size=9), min_size=1, max_size=4),
)
def test_weights_repeat_values(values, weights):
    values = np.array(values, dtype=float)
    weights = np.array(weights)[:, : len(values)]
    for pool, plain in ((MEAN, np.mean), (MEDIAN, np.median)):
        pooled = pool(values, weights)
        for ours, w in zip(pooled, weights):
            repeated = np.repeat(values, w)
            assert ours == pytest.approx(plain(repeated)) if len(repeated) else np.isnan(ours)
        assert pool(values)[0] == pytest.approx(plain(values))


def test_undefined_values_are_left_out():
    values = np.array([np.nan, 4.0, 2.0])
    assert MEAN(values)[0] == MEDIAN(values)[0] == 3
    assert np.isnan(MEAN(np.array([np.nan]))[0])
    assert np.isnan(MEDIAN(np.array([np.nan]))[0])
    assert MEDIAN(np.array([1.0, 2.0, np.inf]))[0] == 2


@pytest.mark.parametrize("policy", TIE_POLICIES)
def test_draws_equal_a_loop(policy, rng):
    ptr = np.array([0, 4, 4, 9])
    above = np.array([0, 2, 2, 5, 1, 1, 1, 7, -1])
    tied = np.array([0, 3, 3, 0, 2, 2, 2, 1, 0])
    earlier = np.array([0, 1, 3, 0, 0, 1, 2, 0, 0])
    outside = np.array([False] * 8 + [True])
    size = np.array([10, 10, 10])
    draws = rng.choice([0, 0.5, 1], size=(7, 9))
    together = resolve(Counts(ptr, draws, above, tied, earlier, outside, size, size), policy)
    for name in MEASURES:
        kind = MEASURES[name]
        if not issubclass(kind, Measure) or issubclass(kind, Semantic):
            continue  # a similarity has no posterior draws
        measure = parse_measure(f"{name}@3" if kind.cutoff is not None else name)
        values = measure(together)
        if name == "Judged":
            values = np.broadcast_to(values, (7, 3))
        assert values.shape == (7, 3)
        for draw, row in zip(draws, values):
            one = resolve(Counts(ptr, draw, above, tied, earlier, outside, size, size), policy)
            np.testing.assert_allclose(row, measure(one), err_msg=str(measure))
