"""R@K over random smaller galleries: the formula against counting all of them."""

from itertools import combinations

import numpy as np
import pytest

import karat
from karat.errors import InputError
from karat.scores.gallery_curve import expected_recall, gallery_curves, gallery_sizes
from karat.stats import Intervals

from made import make_benchmark, make_run


def counted_by_hand(order: list[int], relevant: set[int], size: int, k: int) -> float:
    """Try every gallery that keeps the relevant items."""
    others = [item for item in order if item not in relevant]
    n = max(0, size - len(relevant))
    hits = []
    for kept in combinations(others, min(n, len(others))):
        ranking = [item for item in order if item in relevant or item in kept]
        hits.append(any(item in relevant for item in ranking[:k]))
    return float(np.mean(hits))


@pytest.mark.parametrize("seed", range(6))
def test_the_formula_counts_all_galleries(seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(9).tolist()
    relevant = set(rng.choice(9, size=1 + seed % 3, replace=False).tolist())
    place = 1 + min(order.index(item) for item in relevant)
    sizes = np.arange(1, 10)
    ks = [1, 2, 3]
    found = expected_recall(np.array([float(place)]), np.array([len(relevant)]), np.array([9]), sizes, ks)
    for row, k in zip(found[..., 0], ks):
        assert row == pytest.approx([counted_by_hand(order, relevant, size, k) for size in sizes])


def test_what_was_not_found_is_missed_at_every_size():
    place = np.array([np.inf, 11.0, 2.0])
    found = expected_recall(place, np.array([1, 0, 0]), np.array([10, 10, 10]), np.array([2, 10]), [1])
    assert (found == 0).all()


def test_the_whole_gallery_gives_the_plain_score():
    bench = make_benchmark(60)
    runs = [make_run(bench, 1.5, 1, "a"), make_run(bench, 1.0, 2, "b")]
    card = karat.evaluate(runs, bench, ["R@1", "R@5", "MeanR"])
    curves = gallery_curves(card, (1, 5), Intervals(resamples=200))
    # Two runs, two truths, two directions, two K.
    assert len(curves) == 16
    for curve in curves:
        plain = card.value(f"R@{curve.k}", truth=curve.truth, direction=curve.direction, run=curve.run)
        assert curve.values[-1] == pytest.approx(plain)
        assert (np.diff(curve.values) <= 1e-12).all()
        assert (curve.low <= curve.values + 1e-12).all()
        assert (curve.values <= curve.high + 1e-12).all()


def test_places_must_be_whole():
    bench = make_benchmark(20)
    card = karat.evaluate(make_run(bench, 1, 1, "a"), bench, ["MeanR"], ties="expected")
    with pytest.raises(InputError, match="pessimistic"):
        gallery_curves(card)


def test_sizes_end_with_the_whole_gallery():
    assert gallery_sizes(1).tolist() == [1]
    assert gallery_sizes(5).tolist() == [2, 5]
    assert gallery_sizes(1000).tolist() == [5, 10, 20, 50, 100, 200, 500, 1000]
