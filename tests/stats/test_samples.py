"""Aggregating under weights and swaps equals repeating and exchanging values by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.measures.aggregates import MEAN, MEDIAN
from karat.stats.resampling import Resampling
from karat.stats.samples import BACKENDS, Medians, OtherAggregates, Sample, Samples, WeightedSums

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


def by_hand(aggregate, values, fold, repeat) -> float:
    """Aggregate each fold of the values, each as often as it was drawn, and average over folds."""
    folds = []
    for number in np.unique(fold[~np.isnan(values)]):
        rows = (fold == number) & ~np.isnan(values)
        some = np.repeat(values[rows], repeat[rows].astype(int))
        if len(some):
            folds.append(PLAIN[aggregate](some))
    return float(np.mean(folds)) if folds else np.nan


@pytest.mark.parametrize("aggregate", PLAIN, ids=lambda aggregate: aggregate.name)
@pytest.mark.parametrize("fast", [True, False])
@settings(max_examples=60, deadline=None)
@given(case=systems(), seed=st.integers(0, 99))
def test_weights_repeat_clusters(aggregate, fast, case, seed):
    clusters, cluster, fold, values = case
    weights = np.random.default_rng(seed).integers(0, 4, (5, clusters)).astype(float)
    samples = [Sample(v, cluster, fold, aggregate) for v in values]
    kind = BACKENDS[aggregate] if fast else OtherAggregates
    ours = kind(samples, clusters).resampled(weights)
    for s, v in enumerate(values):
        for b, w in enumerate(weights):
            assert ours[s, b] == pytest.approx(
                by_hand(aggregate, v, fold, w[cluster]), nan_ok=True, abs=1e-12
            )


@pytest.mark.parametrize("aggregate", PLAIN, ids=lambda aggregate: aggregate.name)
@pytest.mark.parametrize("fast", [True, False])
@settings(max_examples=60, deadline=None)
@given(case=systems(), seed=st.integers(0, 99))
def test_swaps_exchange_values(aggregate, fast, case, seed):
    clusters, cluster, fold, values = case
    flips = np.random.default_rng(seed).integers(0, 2, (5, clusters)).astype(np.uint8)
    samples = [Sample(v, cluster, fold, aggregate) for v in values]
    pairs = [(0, 1), (2, 0)]
    kind = BACKENDS[aggregate] if fast else OtherAggregates
    ours = kind(samples, clusters).swapped(pairs, flips)
    for p, (a, b) in enumerate(pairs):
        for row, flip in enumerate(flips):
            moved = flip[cluster] == 1
            new = np.where(moved, values[b], values[a]), np.where(moved, values[a], values[b])
            for side in range(2):
                expected = by_hand(aggregate, new[side], fold, np.ones(len(cluster)))
                assert ours[side, p, row] == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_means_and_medians_side_by_side(rng):
    cluster = rng.integers(0, 20, 60)
    values = rng.random(60)
    both = Samples([Sample(values, cluster), Sample(values, cluster, aggregate=MEDIAN)], 20)
    assert both.values() == pytest.approx([values.mean(), np.median(values)])


def test_medians_of_long_lists(rng):
    """Longer than the window of checkpoints, heavy ties, values far from the middle."""
    cluster = rng.integers(0, 400, 3000)
    ranks = np.where(rng.random(3000) < 0.6, 1.0, rng.integers(1, 1000, 3000))
    samples = [Sample(values, cluster, aggregate=MEDIAN) for values in (ranks, rng.permutation(ranks))]
    weights = np.concatenate(list(Resampling(400, 50, seed=3).blocks()))
    weights[0, :] = 0
    weights[1, :] = np.arange(400) == 7
    flips = rng.integers(0, 2, (50, 400)).astype(np.uint8)
    flips[0], flips[1] = 0, 1
    fast, slow = (kind(samples, 400) for kind in (Medians, OtherAggregates))
    assert fast.resampled(weights) == pytest.approx(slow.resampled(weights), nan_ok=True)
    assert fast.swapped([(0, 1)], flips) == pytest.approx(slow.swapped([(0, 1)], flips), nan_ok=True)


def test_columns_that_lie_in_few_clusters_are_summed_there(rng):
    """Folds, a part of the clusters here and there, and columns of everything, beside each other."""
    inside = [np.arange(100) < 10, np.arange(100) % 20 == 3, np.ones(100, bool), np.zeros(100, bool)] * 4
    columns = [np.where(here, rng.random(100), 0.0) for here in inside]
    weights = rng.integers(0, 4, (7, 100)).astype(float)
    sums = WeightedSums(columns, inside, 100)
    assert sums.under(weights) == pytest.approx(weights @ np.stack(columns, axis=1))
    assert sums.total == pytest.approx([column.sum() for column in columns])


def test_shares_add_up_to_the_column(rng):
    """Whole values over folds of one size stay whole."""
    cluster, fold = rng.integers(0, 9, 60), np.repeat([0, 2, 3], 20)
    for values, whole in ((rng.integers(0, 2, 60).astype(float), True), (rng.random(60), False)):
        sample = Sample(values, cluster, fold)
        added, unit = sample.shares(9)
        assert unit * added.sum() == pytest.approx(Samples([sample], 9).values()[0])
        assert (added == np.rint(added)).all() == whole
        sample = Sample(np.where(np.arange(60) < 25, np.nan, values), cluster, fold)
        added, unit = sample.shares(9)
        assert unit * added.sum() == pytest.approx(Samples([sample], 9).values()[0])


@pytest.mark.parametrize("aggregate", PLAIN, ids=lambda aggregate: aggregate.name)
def test_a_fold_without_values_keeps_its_place(aggregate):
    """One system has no value in the second fold: the third folds still meet each other."""
    cluster = fold = np.arange(3)
    samples = [Sample(np.array(v), cluster, fold, aggregate) for v in ([1.0, 2.0, 3.0], [1.0, np.nan, 3.0])]
    both = Samples(samples, 3)
    assert both.values().tolist() == [2, 2]
    swapped = both.swapped([(0, 1)], np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], np.uint8))
    assert swapped[:, 0].tolist() == [[2, 2, 2], [2, 2, 2]]
