"""The draws behind intervals: the same whatever the blocks, and fair."""

import numpy as np
import pytest

from karat.stats import resampling
from karat.stats.resampling import Resampling, leave_one_out


def test_draws_do_not_depend_on_blocks(monkeypatch):
    whole = np.concatenate(list(Resampling(7, 50, seed=5).blocks()))
    monkeypatch.setattr(resampling, "BLOCK", 20)
    assert (np.concatenate(list(Resampling(7, 50, seed=5).blocks())) == whole).all()
    assert (whole.sum(axis=1) == 7).all()
    assert (np.concatenate(list(Resampling(7, 50, seed=6).blocks())) != whole).any()
    assert np.concatenate(list(leave_one_out(3))).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_draws_are_fair():
    weights = np.concatenate(list(Resampling(10, 20_000, seed=1).blocks()))
    # A multinomial weight has mean 1 and variance 1 - 1/C, and two of them the covariance -1/C.
    assert weights.mean(axis=0) == pytest.approx(np.ones(10), abs=0.03)
    covariance = np.cov(weights.T)
    assert np.diag(covariance) == pytest.approx(np.full(10, 0.9), abs=0.04)
    assert covariance[0, 1] == pytest.approx(-0.1, abs=0.03)
