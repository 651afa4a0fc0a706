"""Pivoted incomplete Cholesky: exact at full rank, greedy, and never more columns than it needs."""

import numpy as np
import pytest

from karat.baselines import KCCA, IncompleteCholesky
from karat.errors import InputError


def gaussian(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.exp(-((x[:, None] - y) ** 2).sum(axis=-1) / 4)


class Columns:
    """A kernel that is asked for columns and remembers which."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x
        self.asked: list[int] = []

    def __call__(self, index: np.ndarray) -> np.ndarray:
        self.asked += index.tolist()
        return gaussian(self.x, self.x[index])


@pytest.mark.parametrize("block", [1, 7, 64])
def test_full_rank_gives_the_kernel_and_new_rows(rng, block):
    x, new = rng.normal(size=(30, 3)), rng.normal(size=(4, 3))
    low = IncompleteCholesky(30, tolerance=0, block=block).fit(Columns(x), np.ones(30))
    np.testing.assert_allclose(low.features_ @ low.features_.T, gaussian(x, x), atol=1e-9)
    assert low.residual_ < 1e-9
    assert len(set(low.pivots_.tolist())) == len(low.pivots_)
    np.testing.assert_allclose(low.transform(gaussian(x, x[low.pivots_])), low.features_, atol=1e-6)
    rows = low.transform(gaussian(new, x[low.pivots_]))
    np.testing.assert_allclose(rows @ low.features_.T, gaussian(new, x), atol=1e-6)


@pytest.mark.parametrize("block", [1, 8])
def test_kcca_of_full_rank_features_equals_the_dense_path(rng, block):
    x = rng.normal(size=(40, 4))
    y = x @ rng.normal(size=(4, 4)) + 0.5 * rng.normal(size=(40, 4))
    new_x, new_y = rng.normal(size=(6, 4)), rng.normal(size=(6, 4))
    dense = KCCA(0.2, 10, power=1).fit(gaussian(x, x), gaussian(y, y))
    sides = [IncompleteCholesky(40, tolerance=0, block=block).fit(Columns(z), np.ones(40)) for z in (x, y)]
    low = KCCA(0.2, 10, power=1, inputs="features").fit(sides[0].features_, sides[1].features_)
    np.testing.assert_allclose(low.correlations_, dense.correlations_, atol=1e-8)
    new = [side.transform(gaussian(n, z[side.pivots_])) for side, n, z in zip(sides, (new_x, new_y), (x, y))]
    np.testing.assert_allclose(
        low.similarity(*new), dense.similarity(gaussian(new_x, x), gaussian(new_y, y)), atol=1e-6
    )


def test_single_columns_are_taken_greedily(rng):
    x = rng.normal(size=(25, 2))
    left = gaussian(x, x)
    low = IncompleteCholesky(6, block=1).fit(Columns(x), np.ones(25))
    for pivot in low.pivots_:
        assert pivot == np.argmax(np.diag(left).round(12))
        left = left - np.outer(left[:, pivot], left[pivot]) / left[pivot, pivot]
    assert low.residual_ == pytest.approx(np.trace(left) / 25)


def test_the_error_falls_with_the_rank_and_few_columns_are_asked_for(rng):
    x = rng.normal(size=(300, 2))
    residuals = []
    for rank in (2, 5, 20, 60):
        columns = Columns(x)
        low = IncompleteCholesky(rank).fit(columns, np.ones(300))
        assert len(low.pivots_) <= rank
        assert len(columns.asked) < 300
        gap = gaussian(x, x) - low.features_ @ low.features_.T
        assert low.residual_ == pytest.approx(np.trace(gap) / 300, abs=1e-9)
        assert np.linalg.eigvalsh(gap).min() > -1e-9  # what is left is semidefinite
        residuals.append(low.residual_)
    assert (np.diff(residuals) < 0).all()
    assert residuals[-1] < 1e-3


def test_it_stops_at_the_rank_of_the_kernel(rng):
    x = rng.normal(size=(50, 4))
    low = IncompleteCholesky(50).fit(lambda index: x @ x[index].T, (x * x).sum(axis=1))
    assert len(low.pivots_) == 4
    same = IncompleteCholesky(50).fit(lambda index: np.ones((50, len(index))), np.ones(50))
    assert same.features_.shape == (50, 1)


@pytest.mark.parametrize(
    ("diagonal", "columns", "message"),
    [
        ([1.0, -1.0], None, "reach from -1 to 1"),
        ([0.0, 0.0], None, "reach from 0 to 0"),
        ([[1.0], [1.0]], None, "one number per item"),
        ([1.0, np.nan], None, "is nan"),
        ([1.0, 1.0], lambda index: np.ones((3, len(index))), r"return all 2 items \(rows\) with the 2"),
        ([1.0, 1.0], lambda index: np.full((2, len(index)), np.inf), "is inf"),
    ],
)
def test_mistakes_are_named(diagonal, columns, message):
    with pytest.raises(InputError, match=message):
        IncompleteCholesky().fit(columns, diagonal)


def test_wrong_parameters_and_rows_are_named():
    with pytest.raises(InputError, match="rank is 0"):
        IncompleteCholesky(0).fit(lambda index: np.eye(2)[:, index], np.ones(2))
    with pytest.raises(InputError, match="not fitted"):
        IncompleteCholesky().transform(np.ones((1, 2)))
    low = IncompleteCholesky().fit(lambda index: np.eye(2)[:, index], np.ones(2))
    with pytest.raises(InputError, match="has 3 columns, but was trained with 2"):
        low.transform(np.ones((1, 3)))


def test_a_kernel_that_is_not_semidefinite_is_refused():
    table = np.eye(6)
    table[0, 1:] = table[1:, 0] = 0.9
    assert np.linalg.eigvalsh(table)[0] < -0.5
    with pytest.raises(InputError, match="not positive semidefinite"):
        IncompleteCholesky(6).fit(lambda index: table[:, index], np.ones(6))
