"""Places with ties, for grades with a leading axis of posterior draws."""

from dataclasses import replace

import numpy as np
import pytest

from karat.benchmarks import JudgedItems
from karat.measures import MEASURES, TIE_POLICIES, Measure, parse_measure
from karat.measures.semantic import Semantic
from karat.measures.ties import resolve


@pytest.mark.parametrize("policy", TIE_POLICIES)
def test_draws_equal_a_loop(policy, rng):
    ptr = np.array([0, 4, 4, 9])
    above = np.array([0, 2, 2, 5, 1, 1, 1, 7, -1])
    tied = np.array([0, 3, 3, 0, 2, 2, 2, 1, 0])
    earlier = np.array([0, 1, 3, 0, 0, 1, 2, 0, 0])
    outside = np.array([False] * 8 + [True])
    size = np.array([10, 10, 10])
    items = JudgedItems(
        "i2t", np.arange(3), ptr, np.arange(9), np.zeros(9), None, size, outside,
        above=above, tied=tied, earlier=earlier, depth=size,
    )  # fmt: skip
    draws = rng.choice([0, 0.5, 1], size=(7, 9))
    together = resolve(replace(items, grade=draws), policy)
    for name in MEASURES:
        kind = MEASURES[name]
        if not issubclass(kind, Measure) or issubclass(kind, Semantic):
            continue  # a similarity has no posterior draws
        measure = parse_measure(f"{name}@3" if kind.cutoff is not None else name)
        values = measure(together)
        if name == "Judged":
            values = np.broadcast_to(values, (7, 3))
        assert values.shape == (7, 3)
        for draw, row in zip(draws, values):
            one = resolve(replace(items, grade=draw), policy)
            np.testing.assert_allclose(row, measure(one), err_msg=str(measure))
