"""Ancestors, distances and depths of any hierarchy, against a plain search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.lexicon.hierarchy import DEEPEST, closures
from karat.validation import InputError


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
    with pytest.raises(InputError, match="round in a circle"):
        closures(child, parent, 3)
