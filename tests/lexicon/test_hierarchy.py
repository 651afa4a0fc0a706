"""Ancestors, distances and depths of any hierarchy, against a plain search."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.lexicon import InformationContent, hierarchy
from karat.lexicon.hierarchy import DEEPEST, closures


@st.composite
def hierarchies(draw):
    size = draw(st.integers(1, 12))
    pairs = [(child, parent) for child in range(size) for parent in range(child)]
    # Listed in any order, and some steps twice, as files may do.
    return size, draw(st.lists(st.sampled_from(pairs), max_size=30)) if pairs else []


def distances(start: int, steps: list[tuple[int, int]]) -> dict[int, int]:
    found, level, distance = {}, {start}, 0
    while level:
        found |= {node: distance for node in level if node not in found}
        level = {parent for child, parent in steps if child in level} - found.keys()
        distance += 1
    return found


def ways(start: int, steps: list[tuple[int, int]]) -> set[int]:
    """The lengths of all ways to a root."""
    parents = {parent for child, parent in steps if child == start}
    return {1 + length for parent in parents for length in ways(parent, steps)} or {0}


@given(hierarchies())
def test_every_hierarchy(hierarchy):
    size, steps = hierarchy
    child, parent = np.array(steps, np.int64).reshape(-1, 2).T
    found = closures(child, parent, size)
    for row in range(size):
        own = slice(found["above_start"][row], found["above_start"][row + 1])
        expected = distances(row, steps)
        near = sorted(expected, key=lambda node: (expected[node], node))
        assert found["above"][own].tolist() == near
        assert found["above_distance"][own].tolist() == [expected[node] for node in near]
        assert found["min_depth"][row] == min(ways(row, steps))
        assert found["max_depth"][row] == max(ways(row, steps))


def test_the_longest_chain():
    steps = np.arange(DEEPEST + 1)
    found = closures(steps[1:], steps[:-1], len(steps))
    assert found["above_distance"].max() == found["max_depth"].max() == DEEPEST
    steps = np.arange(DEEPEST + 2)
    with pytest.raises(InputError, match=f"longer than {DEEPEST} steps"):
        closures(steps[1:], steps[:-1], len(steps))


@pytest.mark.parametrize("circle", [[(0, 0)], [(0, 1), (1, 0)], [(2, 1), (1, 0), (0, 2)]])
def test_circles(circle):
    child, parent = np.array(circle).T
    with pytest.raises(InputError, match="form a cycle"):
        closures(child, parent, 3)


@pytest.mark.parametrize("simulate_root", [True, False])
def test_path_similarity(wn, pairs, two_sets, simulate_root):
    theirs, _ = pairs
    a, b = two_sets
    mine = wn.path_similarity(a, b, simulate_root=simulate_root)
    assert mine.shape == (120, 120)
    for i, first in enumerate(a):
        for j, second in enumerate(b):
            expected = theirs(first).path_similarity(theirs(second), simulate_root=simulate_root)
            assert mine[i, j] == pytest.approx(expected or 0.0, abs=1e-12)


def test_a_matrix_in_blocks_is_the_same(wn, two_sets, brown, monkeypatch):
    whole = wn.path_similarity(*two_sets), wn.lin_similarity(*two_sets, brown)
    monkeypatch.setattr(hierarchy, "_BLOCK", 17)
    assert np.array_equal(wn.path_similarity(*two_sets), whole[0])
    assert np.array_equal(wn.lin_similarity(*two_sets, brown), whole[1])


def test_path_similarity_is_symmetric_and_one_only_to_itself(wn, two_sets):
    rows = np.unique(np.concatenate(two_sets))
    values = wn.path_similarity(rows, rows)
    assert np.array_equal(values, values.T)
    assert np.array_equal(values == 1, np.eye(len(rows), dtype=bool))


def test_nothing_with_nothing(wn, brown):
    for ask in (wn.path_similarity, lambda a, b: wn.lin_similarity(a, b, brown)):
        assert ask([], []).shape == (0, 0)
        assert ask([], [1, 2]).shape == (0, 2)
        assert ask(5, [1, 2]).shape == (1, 2)


def test_lin_similarity(wn, pairs, two_sets, brown, nltk_brown):
    theirs, _ = pairs
    a, b = (rows[wn.parts[rows] < 2] for rows in two_sets)
    mine = wn.lin_similarity(a, b, brown)
    seen = 0
    for i, first in enumerate(a):
        for j, second in enumerate(b):
            if first == second:
                assert mine[i, j] == 1
            elif wn.pos(first) != wn.pos(second) or not np.isfinite(brown.values[[first, second]]).all():
                assert mine[i, j] == 0
            else:
                expected = theirs(first).lin_similarity(theirs(second), nltk_brown)
                assert mine[i, j] == pytest.approx(expected, abs=1e-12)
                seen += 0 < expected < 1
    assert seen > 300


def test_lin_similarity_is_never_nan(wn, two_sets):
    for counts in ({}, {"dog": 1}, {"dog": 3, "cat": 2, "car": 0}):
        own = InformationContent.from_counts(wn, counts, add=0)
        values = wn.lin_similarity(*two_sets, own)
        assert ((values >= 0) & (values <= 1)).all()


def test_lin_similarity_where_all_words_are_one_thing(wn):
    own = InformationContent.from_counts(wn, {"dog": 1}, first_sense=True, add=0)
    dog, entity, cat, run = (wn.synset(name) for name in ("dog.n.01", "entity.n.01", "cat.n.01", "run.v.01"))
    values = wn.lin_similarity([dog], [entity, cat, run], own)
    assert values.tolist() == [[1, 0, 0]]


def test_hodosh_vectors(wn):
    """Equation 23 is Lin's similarity to an ancestor: 2 log P(above) / (log P(word) + log P(above))."""
    own = InformationContent.from_counts(wn, {"dog": 3, "cat": 2, "car": 5}, first_sense=True)
    dog, carnivore = wn.synset("dog.n.01"), wn.synset("carnivore.n.01")
    expected = 2 * math.log(6 / 11) / (math.log(4 / 11) + math.log(6 / 11))
    assert wn.lin_similarity([dog], [carnivore], own)[0, 0] == pytest.approx(expected, abs=1e-12)
