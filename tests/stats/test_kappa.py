"""Cohen's kappa against scikit-learn and statsmodels, and its bootstrap against repeated items."""

import re
import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import karat
from karat.stats.item_kinds import Kinds
from karat.stats.kappa import cohen_kappa, disagreement, kappa_of

ratings = st.integers(1, 5).flatmap(
    lambda k: st.lists(st.tuples(st.integers(0, k - 1), st.integers(0, k - 1)), min_size=1, max_size=40)
)


def point(*columns, **options):
    return cohen_kappa(*columns, resamples=1, **options).value


@settings(deadline=None, max_examples=150)
@given(ratings, st.sampled_from([None, "linear", "quadratic"]))
def test_equals_scikit_learn(pairs, weights):
    from sklearn.metrics import cohen_kappa_score

    first, second = np.array(pairs).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one category only: scikit-learn warns and gives NaN, too
        expected = cohen_kappa_score(first, second, weights=weights)
    assert point(first, second, weights=weights) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(deadline=None, max_examples=60)
@given(ratings, st.integers(0, 3))
def test_equals_statsmodels_for_a_given_matrix(pairs, seed):
    from statsmodels.stats.inter_rater import cohens_kappa

    first, second = np.array(pairs).T
    size = max(first.max(), second.max()) + 1
    table = np.zeros((size, size))
    np.add.at(table, (first, second), 1)
    worse = np.random.default_rng(seed).uniform(0.5, 3, (size, size)) * (1 - np.eye(size))
    with np.errstate(all="ignore"):
        plain = cohens_kappa(table, return_results=False)
        weighted = cohens_kappa(table, weights=worse, return_results=False)
    scale = range(size)
    assert point(first, second, categories=scale) == pytest.approx(plain, abs=1e-12, nan_ok=True)
    assert point(first, second, weights=worse, categories=scale) == pytest.approx(
        weighted, abs=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_weights_are_repeated_items(rng, weights):
    first, second = rng.integers(0, 4, (2, 30))
    cells, kind = np.unique(4 * first + second, return_inverse=True)
    times = rng.multinomial(30, np.full(30, 1 / 30), size=20)
    counts = np.array([np.bincount(kind, row, len(cells)) for row in times])
    found = kappa_of(counts, cells // 4, cells % 4, disagreement(weights, 4))
    for row, value in zip(times, found):
        repeated = [np.repeat(column, row) for column in (first, second)]
        assert value == pytest.approx(point(*repeated, weights=weights, categories=range(4)), abs=1e-12)


def test_clusters_are_drawn_whole(rng):
    kind, cluster = rng.integers(0, 3, 12), np.repeat(np.arange(4), 3)
    kinds = Kinds(kind, 3, cluster)
    per_cluster = np.array([np.bincount(kind[cluster == c], minlength=3) for c in range(4)])
    drawn = np.concatenate(list(kinds.draws(50, seed=3)))
    from karat.stats.resampling import Resampling

    times = np.concatenate(list(Resampling(4, 50, 3).blocks()))
    assert (drawn == times @ per_cluster).all()
    left = np.concatenate(list(kinds.without_one()))
    assert (left == per_cluster.sum(axis=0) - per_cluster).all()


def test_many_alike_items_are_drawn_like_single_ones(rng):
    """The multinomial shortcut and drawing items one by one give the same distribution."""
    kind = rng.integers(0, 3, 60)
    short = np.concatenate(list(Kinds(kind, 3).draws(20_000, seed=0)))
    slow = np.concatenate(list(Kinds(kind, 3, np.arange(60)).draws(20_000, seed=1)))
    assert np.abs(short.mean(axis=0) - slow.mean(axis=0)).max() < 0.15
    assert np.abs(np.cov(short.T) - np.cov(slow.T)).max() < 0.6


def test_the_interval_and_what_it_was_made_of(rng):
    first = rng.integers(0, 3, 600)
    second = np.where(rng.random(600) < 0.7, first, rng.integers(0, 3, 600))
    plain = cohen_kappa(first, second, resamples=2000)
    assert plain.low < plain.value < plain.high
    assert (plain.n, plain.effective, plain.method) == (600, 600, "percentile")
    assert cohen_kappa(first, second, resamples=2000) == plain
    skewed = cohen_kappa(first, second, resamples=2000, method="bca")
    assert skewed.method == "BCa"
    assert skewed.low == pytest.approx(plain.low, abs=0.02)
    # Everything five times over: clusters keep the interval as wide as it was.
    copied = cohen_kappa(
        np.repeat(first, 5), np.repeat(second, 5), resamples=2000, clusters=np.repeat(np.arange(600), 5)
    )
    assert (copied.n, copied.effective) == (3000, 600)
    assert copied.high - copied.low == pytest.approx(plain.high - plain.low, rel=0.1)
    assert cohen_kappa(first, second, resamples=500, level=0.5).high < plain.high


def test_edge_cases():
    assert np.isnan(point([1, 1], [1, 1]))
    assert np.isnan(point([], []))
    assert np.isnan(point([np.nan, 1], [1, np.nan]))
    assert point([1, 2], [1, 2]) == 1
    assert point([1, 1], [1, 2]) == 0
    assert point([1, 2, np.nan, 2], [1, 2, 1, np.nan]) == 1
    assert point(["yes", "no", "no"], ["yes", "no", "yes"]) == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize(
    "gap", [None, np.nan, "", "nan"], ids=["None", "NaN", "empty", "numpy's text for NaN"]
)
def test_no_rating_is_no_category(gap):
    """What is missing among text is left out, on either side, and never agreed on."""
    first, second = ["yes", "no", gap, "no", gap], ["yes", "no", "yes", gap, gap]
    found = cohen_kappa(first, second, resamples=1)
    assert (found.value, found.n) == (1, 2)
    assert cohen_kappa(np.array(first, object), second, resamples=1).n == 2
    if gap is not None:
        assert cohen_kappa(np.array(first), np.array(second), resamples=1).n == 2


def test_none_among_numbers():
    found = cohen_kappa([1, 2, None, 2], [1, 2, 2, 2], resamples=1)
    assert (found.value, found.n) == (1, 3)
    assert cohen_kappa([1, 2, None], [1, None, 2], resamples=1, categories=[1, 2, 3]).n == 1
    assert cohen_kappa([True, None, False], np.array([1, 1, 0]), resamples=1).n == 2
    # A side that only has gaps is neither numbers nor text.
    for other in ([1, 2], ["a", "b"]):
        assert np.isnan(point([None, None], other))
        assert np.isnan(point([None, np.nan], other, categories=other))


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (([1, 2], [1]), {}, "the raters gave 2 ratings and 1 rating"),
        (([[1]], [1]), {}, "first has 2 dimensions"),
        (([1, 2], ["a", "b"]), {}, "one rater gave numbers and the other text"),
        (([1, 2], [1, 2]), {"weights": "cubic"}, "weights is 'cubic'"),
        (([1, 2], [1, 2]), {"weights": np.ones((3, 3))}, "weights has the shape (3, 3)"),
        (([1, 2], [1, 3]), {"categories": [1, 2]}, "the rating 3.0 is not among the categories"),
        (([1, 2], [1, 2]), {"categories": [1, 2, 2]}, "a category is listed more than once"),
        (([1, 2], [1, 2]), {"categories": [1, None]}, "a category is empty"),
        (([1, 2], [1, 2]), {"categories": ["a"]}, "ratings and categories are not both numbers"),
        (([1, 2], [1, 2]), {"categories": []}, "the rating 1.0 is not among the categories"),
        (([1, 2], [1, 2]), {"weights": [["a"]]}, "weights is not an array of numbers"),
        (([1, 2], [1, 2]), {"clusters": [1]}, "clusters has the shape (1,)"),
        ((range(2000), range(2000)), {}, "there are 2,000 categories"),
        (([1, 2], [1, 2]), {"level": 95}, "level is 95"),
        (([1, 2], [1, 2]), {"method": "normal"}, "'normal'"),
        (([1, 2], [1, 2]), {"resamples": 0}, "resamples is 0"),
    ],
)
def test_mistakes(columns, options, message):
    with pytest.raises(karat.KaratError, match=re.escape(message)):
        cohen_kappa(*columns, **options)
