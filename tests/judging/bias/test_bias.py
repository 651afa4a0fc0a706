"""B_Θ, self bias and non-self bias."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.judging import bias_from_table


@given(st.integers(1, 4), st.integers(0, 10**6))
def test_bias_is_its_equation(n, seed):
    rng = np.random.default_rng(seed)
    names = [f"s{k}" for k in range(n)]
    subsets = [s for size in range(n + 1) for s in combinations(names, size)]
    order = rng.permutation(len(subsets))
    scores = {subsets[k]: dict(zip(names, rng.random(n).tolist())) for k in order}
    table = bias_from_table(scores)
    true = scores[tuple(names)]
    by_size = {}
    for row in range(len(subsets)):
        inside = table.names(row)
        off = {name: abs(scores[inside][name] - true[name]) for name in names}
        parts = (names, inside, [name for name in names if name not in inside])
        expected = [sum(off[name] for name in part) / len(part) if part else np.nan for part in parts]
        found = [table.bias[row], table.self_bias[row], table.other_bias[row]]
        np.testing.assert_allclose(found, expected, atol=1e-12)
        by_size.setdefault(len(inside), []).append(expected)
    for point in table.curve():
        rows = np.array(by_size[point.size])
        assert point.subsets == len(rows)
        means = [None if np.isnan(column).all() else column.mean() for column in rows.T]
        assert [point.bias, point.self_bias, point.other_bias] == pytest.approx(means)
        assert table.bias[table.least(point.size)] == pytest.approx(rows[:, 0].min())
    assert table.records()[-1]["bias"] == 0
    assert table.records()[-1]["other_bias"] is None


TWO = {"a": {"a": 1.0, "b": 0.0}, ("a", "b"): {"a": 1.0, "b": 0.5}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": {"a": 1.0}}, "on the labels of a are of other models"),
        ({"c": {"a": 1.0, "b": 0.0}}, "on the labels of c are of other models"),
        ({("b", "a"): {"a": 1.0, "b": 0.0}}, "a subset is a duplicate"),
    ],
)
def test_wrong_tables(change, message):
    with pytest.raises(InputError, match=message):
        bias_from_table(TWO | change)


def test_a_table_without_all_systems():
    with pytest.raises(InputError, match="labels of all models"):
        bias_from_table({"a": {"a": 1.0, "b": 0.0}})
    with pytest.raises(InputError, match="no scores"):
        bias_from_table({})
    with pytest.raises(InputError, match="no subset of 3"):
        bias_from_table(TWO).least(3)
