"""Subsets of systems, and the labels that they would have produced."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.benchmarks import Pairs
from karat.errors import InputError
from karat.judging.bias.subsets import MOST, choose_subsets, suggested_labels
from tests.judging.plain_bias import labels_of, pool_of

QUERIES = {"i2t": range(4), "t2i": range(6)}


@given(st.integers(1, 6), st.booleans())
def test_all_subsets_once(systems, empty):
    found = choose_subsets(systems, empty=empty)
    assert found.complete
    rows = [tuple(np.flatnonzero(row)) for row in found.inside]
    assert rows == [s for k in range(not empty, systems + 1) for s in combinations(range(systems), k)]


@settings(deadline=None)
@given(st.integers(MOST + 1, 16), st.integers(1, 40), st.integers(0, 5))
def test_a_sample_of_many(systems, per_size, seed):
    found = choose_subsets(systems, per_size=per_size, seed=seed)
    assert not found.complete
    assert len(np.unique(found.inside, axis=0)) == len(found)
    counts = np.bincount(found.size, minlength=systems + 1)
    assert counts[1] == counts[systems - 1] == systems
    assert counts[systems] == 1
    assert counts.max() <= max(per_size, systems)
    assert (counts[2 : systems - 1] >= min(per_size, systems)).all()
    np.testing.assert_array_equal(found.inside, choose_subsets(systems, per_size=per_size, seed=seed).inside)


def test_a_sample_is_not_always_the_same():
    assert (choose_subsets(12, seed=1).inside != choose_subsets(12, seed=2).inside).any()


grades = st.sampled_from([0.0, 0.5, 1.0])


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 3), st.data())
def test_labels_are_what_a_subset_suggested(seed, systems, data):
    rng = np.random.default_rng(seed)
    tables = [rng.integers(0, 3, (4, 6)).astype(np.float32) for _ in range(systems)]
    pool = pool_of(tables, [f"s{k}" for k in range(systems)], 2, QUERIES)
    pairs = [(i, c) for i in range(4) for c in range(6)]
    judged = data.draw(st.dictionaries(st.sampled_from(pairs), grades))
    known = data.draw(st.dictionaries(st.sampled_from(pairs), st.sampled_from([0.5, 1.0]), max_size=4))
    labels = suggested_labels(pool, as_pairs(judged), as_pairs(known))
    subsets = choose_subsets(systems, empty=True)
    under = labels.under(subsets.inside)
    for row, inside in zip(under, subsets.inside):
        found = {(int(i), int(c)): g for i, c, g in zip(labels.image, labels.caption, row) if g > 0}
        expected = labels_of(pool, judged, known, np.flatnonzero(inside))
        assert found == {pair: grade for pair, grade in expected.items() if grade > 0}
    for system in range(systems):
        mine, others = (
            {(int(pool.image[p]), int(pool.caption[p])) for p in pool.place_pair[who]} & set(judged)
            for who in (pool.place_system == system, pool.place_system != system)
        )
        new = {pair for pair in mine - others if judged[pair] > 0 and pair not in known}
        assert labels.unique(system) == (len(mine - others), len(new))


def as_pairs(graded):
    image, caption = np.array(sorted(graded), dtype=np.int64).reshape(-1, 2).T
    return Pairs(image, caption, np.array([graded[pair] for pair in sorted(graded)], dtype=np.float64))


def test_wrong_input():
    with pytest.raises(InputError, match="no systems"):
        choose_subsets(0)
    pool = pool_of([np.eye(4, 6, dtype=np.float32)], ["a"], 1, QUERIES)
    twice = Pairs(np.zeros(2, int), np.zeros(2, int), np.ones(2))
    with pytest.raises(InputError, match="twice among the judged"):
        suggested_labels(pool, twice)
