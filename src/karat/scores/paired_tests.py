"""Paired tests of whole columns: each takes pairs of columns and returns a p-value for each.

A test is a function that registers itself; `karat compare --test NAME` finds it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.registry import Registry
from karat.scores.evidence import Evidence
from karat.scores.scorecard import Column
from karat.scores.swaps import Swaps
from karat.stats.bootstrap import sign_p
from karat.stats.flips import Flips
from karat.stats.mcnemar import is_binary, mcnemar
from karat.stats.randomisation import least_to_count, subtract


@dataclass(frozen=True, eq=False)
class Problem:
    """What is tested.

    Parameters
    ----------
    evidence
        The columns.
    pairs
        Numbers of two columns each, of the same measure, truth and direction.
    draws
        The columns under bootstrap resamples, [T, B].
    samples, seed
        For tests that draw.
    """

    evidence: Evidence
    pairs: Sequence[tuple[int, int]]
    draws: np.ndarray
    samples: int
    seed: int

    @property
    def differences(self) -> np.ndarray:
        """First minus second of each pair, [P]."""
        return subtract(*self.values.T)

    @cached_property
    def values(self) -> np.ndarray:
        """Both values of each pair, [P, 2]."""
        return self.evidence.values()[np.array(self.pairs, dtype=np.int64).reshape(-1, 2)]


@dataclass(frozen=True)
class ColumnTest:
    """A paired test by name.

    Parameters
    ----------
    name, about
        As it is asked for, and as it is printed.
    p_values
        From a problem to one p-value per pair; NaN where it cannot be used.
    limits
        Where it cannot be used, or what it assumes; empty when there is nothing to say.
    """

    name: str
    about: str
    p_values: Callable[[Problem], np.ndarray]
    limits: str = ""


TESTS: Registry[ColumnTest] = Registry("test")


def register(test: ColumnTest) -> ColumnTest:
    """Make a test known by its name."""
    return TESTS.add(test.name, test)


def randomisation(problem: Problem) -> np.ndarray:
    """Swap the two runs' values cluster by cluster; all pairs see the same swaps."""
    flips = Flips(problem.evidence.clusters, problem.samples, problem.seed)
    least = least_to_count(problem.differences, np.abs(problem.values).max(axis=1))
    swaps = Swaps(problem.evidence, problem.pairs, least)
    as_large = np.zeros(len(problem.pairs), np.int64)
    for block in flips.blocks():
        as_large += swaps.count(block)
    return flips.p_value(as_large)


def bootstrap(problem: Problem) -> np.ndarray:
    """Ask on which side of 0 the resampled differences lie."""
    return np.array(
        [sign_p(subtract(problem.draws[first], problem.draws[second])) for first, second in problem.pairs]
    )


def mcnemar_test(kind: str) -> Callable[[Problem], np.ndarray]:
    """Return McNemar's test of one kind, for columns whose values are 0 or 1."""

    def p_values(problem: Problem) -> np.ndarray:
        columns = problem.evidence.columns
        return np.array([of_pair(columns[first], columns[second]) for first, second in problem.pairs])

    def of_pair(first: Column, second: Column) -> float:
        a, b = first.values, second.values
        if a is None or b is None or not (is_binary(a) and is_binary(b)) or first.effective < first.n:
            return np.nan
        return mcnemar(a, b, kind).p  # type: ignore[arg-type]

    return p_values


BINARY_ONLY = (
    "McNemar's test is for independent queries that succeed or fail, such as R@1 of images; "
    "what it cannot test is left open, as are captions that share an image"
)
register(ColumnTest("randomisation", "Fisher's randomisation test", randomisation))
register(ColumnTest("bootstrap", "paired bootstrap", bootstrap))
register(ColumnTest("mcnemar", "McNemar's test (mid-p)", mcnemar_test("mid-p"), BINARY_ONLY))
register(ColumnTest("mcnemar-exact", "McNemar's test (exact)", mcnemar_test("exact"), BINARY_ONLY))
