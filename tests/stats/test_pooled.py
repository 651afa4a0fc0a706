"""Pooling under weights and swaps equals repeating and exchanging values by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.measures.pools import MEAN, MEDIAN
from karat.stats import backends, resampling
from karat.stats.pooled import Pooled
from karat.stats.resampling import Resampling, leave_one_out
from karat.stats.samples import Sample

PLAIN = {MEAN: np.mean, MEDIAN: np.median}


@st.composite
def systems(draw):
    """Three systems on the same queries, with clusters, folds, ties and undefined values."""
    n = draw(st.integers(1, 14))
    clusters = draw(st.integers(1, 6))

    def numbers(low: int, high: int) -> np.ndarray:
        return np.array(draw(st.lists(st.integers(low, high), min_size=n, max_size=n)))

    cluster, fold = numbers(0, clusters - 1), numbers(0, 1)
    undefined = numbers(0, 4) == 0
    undefined[0] = False
    values = [np.where(undefined, np.nan, numbers(1, 9) / draw(st.sampled_from([1, 3]))) for _ in range(3)]
    return clusters, cluster, fold, values


def by_hand(pool, values, fold, repeat) -> float:
    """Pool each fold of the values, each as often as it was drawn, and average over folds."""
    pooled = []
    for number in np.unique(fold[~np.isnan(values)]):
        rows = (fold == number) & ~np.isnan(values)
        some = np.repeat(values[rows], repeat[rows].astype(int))
        if len(some):
            pooled.append(PLAIN[pool](some))
    return float(np.mean(pooled)) if pooled else np.nan


@pytest.mark.parametrize("pool", PLAIN, ids=lambda pool: pool.name)
@pytest.mark.parametrize("fast", [True, False])
@settings(max_examples=60, deadline=None)
@given(case=systems(), seed=st.integers(0, 99))
def test_weights_repeat_clusters(pool, fast, case, seed):
    clusters, cluster, fold, values = case
    weights = np.random.default_rng(seed).integers(0, 4, (5, clusters)).astype(float)
    samples = [Sample(v, cluster, fold, pool) for v in values]
    kind = backends.BACKENDS[pool] if fast else backends.Other
    ours = kind(samples, clusters).resampled(weights)
    for s, v in enumerate(values):
        for b, w in enumerate(weights):
            assert ours[s, b] == pytest.approx(by_hand(pool, v, fold, w[cluster]), nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("pool", PLAIN, ids=lambda pool: pool.name)
@pytest.mark.parametrize("fast", [True, False])
@settings(max_examples=60, deadline=None)
@given(case=systems(), seed=st.integers(0, 99))
def test_swaps_exchange_values(pool, fast, case, seed):
    clusters, cluster, fold, values = case
    flips = np.random.default_rng(seed).integers(0, 2, (5, clusters)).astype(np.uint8)
    samples = [Sample(v, cluster, fold, pool) for v in values]
    pairs = [(0, 1), (2, 0)]
    kind = backends.BACKENDS[pool] if fast else backends.Other
    ours = kind(samples, clusters).swapped(pairs, flips)
    for p, (a, b) in enumerate(pairs):
        for row, flip in enumerate(flips):
            moved = flip[cluster] == 1
            new = np.where(moved, values[b], values[a]), np.where(moved, values[a], values[b])
            for side in range(2):
                expected = by_hand(pool, new[side], fold, np.ones(len(cluster)))
                assert ours[side, p, row] == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_means_and_medians_side_by_side(rng):
    cluster = rng.integers(0, 20, 60)
    values = rng.random(60)
    both = Pooled([Sample(values, cluster), Sample(values, cluster, pool=MEDIAN)], 20)
    assert both.values() == pytest.approx([values.mean(), np.median(values)])


def test_medians_of_long_lists(rng):
    """Longer than the window of checkpoints, heavy ties, values far from the middle."""
    cluster = rng.integers(0, 400, 3000)
    ranks = np.where(rng.random(3000) < 0.6, 1.0, rng.integers(1, 1000, 3000))
    samples = [Sample(values, cluster, pool=MEDIAN) for values in (ranks, rng.permutation(ranks))]
    weights = np.concatenate(list(Resampling(400, 50, seed=3).blocks()))
    weights[0, :] = 0
    weights[1, :] = np.arange(400) == 7
    flips = rng.integers(0, 2, (50, 400)).astype(np.uint8)
    flips[0], flips[1] = 0, 1
    fast, slow = (kind(samples, 400) for kind in (backends.Medians, backends.Other))
    assert fast.resampled(weights) == pytest.approx(slow.resampled(weights), nan_ok=True)
    assert fast.swapped([(0, 1)], flips) == pytest.approx(slow.swapped([(0, 1)], flips), nan_ok=True)


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


@pytest.mark.parametrize("pool", PLAIN, ids=lambda pool: pool.name)
def test_a_fold_without_values_keeps_its_place(pool):
    """One system has no value in the second fold: the third folds still meet each other."""
    cluster = fold = np.arange(3)
    samples = [Sample(np.array(v), cluster, fold, pool) for v in ([1.0, 2.0, 3.0], [1.0, np.nan, 3.0])]
    both = Pooled(samples, 3)
    assert both.values().tolist() == [2, 2]
    swapped = both.swapped([(0, 1)], np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], np.uint8))
    assert swapped[:, 0].tolist() == [[2, 2, 2], [2, 2, 2]]
