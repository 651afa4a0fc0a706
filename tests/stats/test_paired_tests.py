"""Paired tests against scipy, statsmodels and the list of all swaps."""

import os
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from karat.errors import InputError
from karat.measures.aggregates import MEAN, MEDIAN
from karat.stats import Intervals, compare_values, mcnemar, paired_tests, randomisation_test
from karat.stats.paired_tests import Flips, SharedWords, binomial_p


def paired_bootstrap(first, second, clusters=None, aggregate=MEAN, resamples=10_000, seed=0):
    made = Intervals(resamples=resamples, seed=seed)
    return compare_values(first, second, clusters, aggregate=aggregate, test="bootstrap", intervals=made)


PLAIN = {MEAN: np.mean, MEDIAN: np.median}


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_exact_equals_statsmodels(won, lost):
    table = [[3, won], [lost, 5]]
    assert binomial_p(won, lost, "exact") == pytest.approx(
        statsmodels_mcnemar(table, exact=True).pvalue, abs=1e-12
    )


@given(st.integers(0, 200), st.integers(0, 200))
def test_mid_p_takes_half_of_what_was_seen(won, lost):
    n, least = won + lost, min(won, lost)
    expected = 2 * (stats.binom.cdf(least, n, 0.5) - stats.binom.pmf(least, n, 0.5) / 2)
    assert binomial_p(won, lost, "mid-p") == pytest.approx(min(1, expected) if n else 1, rel=1e-9)


def test_mcnemar_refuses_what_is_not_binary():
    with pytest.raises(InputError, match="0 or 1"):
        mcnemar(np.array([0.5, 1.0]), np.array([0.0, 1.0]))
    with pytest.raises(InputError, match="kind"):
        mcnemar(np.array([1.0]), np.array([0.0]), kind="chi2")


@pytest.mark.parametrize("aggregate", PLAIN, ids=lambda aggregate: aggregate.name)
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=12))
def test_few_clusters_are_enumerated(aggregate, rows):
    first, second, clusters = np.array(rows, dtype=float).T
    values, owner = np.unique(clusters, return_inverse=True)

    def difference(flip) -> float:
        moved = np.array(flip)[owner] == 1
        return PLAIN[aggregate](np.where(moved, second, first)) - PLAIN[aggregate](
            np.where(moved, first, second)
        )

    seen = difference([0] * len(values))
    all_swaps = [difference(flip) for flip in product([0, 1], repeat=len(values))]
    expected = np.mean([abs(d) >= abs(seen) - 1e-9 for d in all_swaps])
    found = randomisation_test(first, second, clusters, aggregate)
    assert found.p == pytest.approx(expected)
    assert found.difference == pytest.approx(seen)
    assert (found.n, found.effective) == (len(rows), len(values))


def test_randomisation_equals_scipy_exact(rng):
    first, second = rng.random(9), rng.random(9)
    oracle = stats.permutation_test(
        (first, second),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        n_resamples=600,
    )
    assert randomisation_test(first, second).p == pytest.approx(oracle.pvalue)


def test_randomisation_is_close_to_scipy_random(rng):
    first = (rng.random(300) < 0.5).astype(float)
    second = (rng.random(300) < 0.42).astype(float)
    oracle = stats.permutation_test(
        (first, second),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        batch=2_000,
        rng=1,
    )
    ours = randomisation_test(first, second)
    assert 0.01 < ours.p < 0.2
    assert ours.p == pytest.approx(oracle.pvalue, abs=0.01)
    assert ours == randomisation_test(first, second, seed=0)
    assert ours.p == pytest.approx(randomisation_test(first, second, seed=1).p, abs=0.005)


def test_swapping_medians_is_not_a_median_of_differences():
    """One system is ahead on most queries, but both have the same median."""
    first = np.array([1.0, 2.0, 50.0, 50.0, 90.0, 91.0])
    second = np.array([3.0, 4.0, 50.0, 50.0, 92.0, 93.0])
    assert randomisation_test(first, second, aggregate=MEDIAN).p == 1
    assert randomisation_test(first, second).p < 0.2


def test_p_is_never_zero():
    found = randomisation_test(np.ones(200), np.zeros(200), samples=999)
    assert found.p == pytest.approx(1 / 1000)
    assert paired_bootstrap(np.ones(50), np.zeros(50), resamples=999).p == pytest.approx(2 / 1000)


def test_flips_do_not_depend_on_blocks(monkeypatch):
    whole = np.concatenate(list(Flips(11, 300, seed=2).blocks()))
    listed = np.concatenate(list(Flips(5, 300).blocks()))
    monkeypatch.setattr(paired_tests, "BLOCK", 64)
    assert (np.concatenate(list(Flips(11, 300, seed=2).blocks())) == whole).all()
    assert (np.concatenate(list(Flips(5, 300).blocks())) == listed).all()
    assert len(np.unique(listed, axis=0)) == len(listed) == 32
    assert whole.shape == (300, 11)
    assert whole.mean() == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(("clusters", "columns"), [(3, 1), (70, 5), (700, 90)])
def test_sums_over_flipped_clusters_equal_a_product(rng, monkeypatch, clusters, columns):
    """Hits and misses, which share words; larger whole numbers; fractions; more columns than a tile has."""
    added = rng.integers(-5, 6, (clusters, columns)).astype(float)
    added[:, 2::7] *= 10_000_001
    added[:, 3::4] += rng.random((clusters, len(range(columns)[3::4])))
    flips = Flips(clusters, samples=300, seed=4)
    expected = np.concatenate(list(flips.blocks())).astype(float) @ added
    found = np.concatenate(list(flips.sums(added)), axis=1)
    whole = (added == np.rint(added)).all(axis=0)
    assert (found[whole] == expected.T[whole]).all()
    assert (np.abs(found - expected.T) <= 1e-14 * np.abs(added).sum(axis=0)[:, None]).all()
    monkeypatch.setattr(paired_tests, "BLOCK", 64)
    assert (np.concatenate(list(flips.sums(added)), axis=1) == found).all()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(3), raising=False)
    assert (np.concatenate(list(flips.sums(added)), axis=1) == found).all()


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2**52), st.lists(st.floats(-1, 1), min_size=4, max_size=4)),
        min_size=1,
        max_size=12,
    )
)
def test_words_hold_every_sum_of_their_columns(columns):
    """Columns whose sums are as large as may be, up to the last bit of a float64."""
    added = np.array([np.rint(size / 4 * np.array(shares)) for size, shares in columns]).T
    shared = SharedWords(added)
    words = shared.words(added)
    for flip in product([0, 1], repeat=4):
        sums = np.array(flip, float) @ words
        assert (shared.columns(sums[:, None])[:, 0] == np.array(flip, float) @ added).all()


def test_an_infinite_column_keeps_to_itself():
    added = np.array([[1.0, np.inf, 2.0], [1.0, 3.0, -2.0]])
    listed = np.concatenate(list(Flips(2).sums(added)), axis=1)
    assert listed[[0, 2]].tolist() == [[0, 1, 1, 2], [0, 2, -2, 0]]
    assert next(Flips(2).sums(np.zeros((2, 0)))).shape == (0, 4)


def test_undefined_queries_are_left_out(rng):
    first, second = rng.random(60), rng.random(60)
    holes = np.r_[first, np.nan, 0.3], np.r_[second, 0.2, np.nan]
    assert randomisation_test(*holes) == randomisation_test(first, second)
    assert paired_bootstrap(*holes) == paired_bootstrap(first, second)


@pytest.mark.parametrize(
    ("first", "second", "clusters", "message"),
    [
        ([1.0, 0.0], [1.0], None, "one per query"),
        ([np.nan], [1.0], None, "in common"),
        ([1.0, 0.0], [1.0, 0.0], [1], "1 clusters for 2"),
    ],
)
def test_wrong_input_is_a_sentence(first, second, clusters, message):
    with pytest.raises(InputError, match=message):
        randomisation_test(np.array(first), np.array(second), clusters)


def test_paired_bootstrap_agrees_with_the_interval_of_the_difference(rng):
    first, second = rng.random(200) + 0.05, rng.random(200)
    from karat.stats import bootstrap_interval

    found = paired_bootstrap(first, second)
    at_p = bootstrap_interval(first - second, level=1 - found.p)
    assert min(abs(at_p.low), abs(at_p.high)) == pytest.approx(0, abs=2e-3)


def test_infinite_medians_are_large_differences():
    """Ranks beyond the end of a list are infinite; a median there is further away than any number."""
    near, far = np.full(60, 2.0), np.r_[np.full(31, 13.0), np.full(29, np.inf)]
    finite = np.where(np.isinf(far), 999, far)
    found, expected = (paired_bootstrap(near, one, aggregate=MEDIAN) for one in (far, finite))
    assert (found.difference.value, found.p) == (expected.difference.value, expected.p)
    assert randomisation_test(far, far, aggregate=MEDIAN).p == 1
    for test in (randomisation_test, paired_bootstrap):
        with pytest.raises(InputError, match="infinite"):
            test(near, far)


def test_mcnemar_is_never_zero():
    for kind in ("exact", "mid-p"):
        assert 0 < mcnemar(np.ones(1100), np.zeros(1100), kind).p < 1e-300


def test_wrong_draws_are_sentences():
    with pytest.raises(InputError, match="seed is -1"):
        randomisation_test(np.ones(3), np.zeros(3), seed=-1)
    with pytest.raises(InputError, match="samples is 0"):
        randomisation_test(np.ones(3), np.zeros(3), samples=0)
    with pytest.raises(InputError, match="seed is -1"):
        paired_bootstrap(np.ones(60), np.zeros(60), seed=-1)


def test_two_images_are_not_resampled():
    """Two images gave p = 0.0002: the floor of the draws, while all swaps of two images give 0.5."""
    with pytest.raises(InputError, match="2 clusters for the paired bootstrap, which needs 50"):
        paired_bootstrap(np.ones(2), np.zeros(2))
    with pytest.raises(InputError, match="randomisation"):
        paired_bootstrap(np.ones(245), np.zeros(245), np.arange(245) // 5)
    assert randomisation_test(np.ones(2), np.zeros(2)).p == 0.5


@pytest.mark.parametrize("differing", [1, 2, 5, 9])
def test_resampling_claims_no_more_than_all_swaps(differing):
    """Of 1,000 queries a few differ, all in favour of one: no p is smaller than the exact one."""
    first, second = np.zeros(1000), np.zeros(1000)
    first[:differing] = 1
    exact = stats.binomtest(differing, differing).pvalue
    assert paired_bootstrap(first, second).p >= exact - 1e-12
    assert mcnemar(first, second, "exact").p == pytest.approx(exact)
