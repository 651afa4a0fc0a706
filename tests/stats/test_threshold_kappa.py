"""Kappa over thresholds, and which thresholds are chosen."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score, precision_score, recall_score

from karat.stats import Intervals, kappa_over_thresholds, score_thresholds


def test_thresholds_equal_scikit_learn(rng):
    first, second = rng.integers(1, 5, 80), rng.integers(0, 4, 80) / 3
    second = np.where(rng.random(80) < 0.6, (first - 1) / 3, second)
    table = kappa_over_thresholds(
        first, second, [2, 3, 4], [1 / 3, 2 / 3, 1], intervals=Intervals(resamples=200)
    )
    for (row, column), one in np.ndenumerate(table.kappa):
        a, b = first >= [2, 3, 4][row], second >= [1 / 3, 2 / 3, 1][column] - 1e-9
        assert one.value == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
        assert one.low < one.value < one.high
        at = (row, column)
        assert table.precision[at] == pytest.approx(precision_score(a, b))
        assert table.recall[at] == pytest.approx(recall_score(a, b))
        assert table.f1[at] == pytest.approx(f1_score(a, b))
    assert table.best == max(np.ndindex(3, 3), key=lambda at: table.kappa[at].value)


def test_thresholds_never_cut_above_a_value_they_name():
    thirds = np.repeat(np.arange(31) / 30, 3)
    for cut in score_thresholds(thirds):
        assert (thirds >= cut).sum() >= (thirds >= thirds[thirds >= cut].min()).sum()
    assert score_thresholds(np.r_[np.zeros(99), 1e-9 * np.arange(1, 20)]).min() > 0
