"""Paired tests of whole columns: each takes pairs of columns and returns a p-value for each.

A test is a function that registers itself; `karat compare --test NAME` finds it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat._util import Registry
from karat.measures import MEAN, Measure
from karat.scores.intervals import ColumnSamples, leaves_of
from karat.scores.scorecard import Column
from karat.stats import Flips, finite_scale, is_binary, least_to_count, mcnemar, sign_p, subtract


@dataclass(frozen=True, eq=False)
class Problem:
    """What is tested.

    Parameters
    ----------
    column_samples
        The columns.
    pairs
        Numbers of two columns each, of the same measure, truth and direction.
    draws
        The columns under bootstrap resamples, [T, B].
    samples, seed
        For tests that draw.
    """

    column_samples: ColumnSamples
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
        return self.column_samples.values()[np.array(self.pairs, dtype=np.int64).reshape(-1, 2)]


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
        Where it cannot be used, or what it really asks; empty when there is nothing to say.
    concerns
        Whether that should be said of a problem, given its p-values.
    floor
        The smallest p that it can give for a problem.
    """

    name: str
    about: str
    p_values: Callable[[Problem], np.ndarray]
    limits: str = ""
    concerns: Callable[[Problem, np.ndarray], bool] = lambda _problem, _p: False
    floor: Callable[[Problem], float] = lambda _problem: 0.0

    def notes(self, problem: Problem, p: np.ndarray) -> list[str]:
        """Return what a reader of these p-values should know."""
        return [self.limits] if self.concerns(problem, p) else []


TESTS: Registry[ColumnTest] = Registry("test")


def register(test: ColumnTest) -> ColumnTest:
    """Make a test known by its name."""
    return TESTS.add(test.name, test)


def randomisation(problem: Problem) -> np.ndarray:
    """Swap the two runs' values cluster by cluster; all pairs see the same swaps."""
    flips = Flips(problem.column_samples.clusters, problem.samples, problem.seed)
    least = least_to_count(problem.differences, finite_scale(problem.values))
    swaps = Swaps(problem.column_samples, problem.pairs, least)
    as_large = np.zeros(len(problem.pairs), np.int64)
    for block in flips.blocks():
        as_large += swaps.count(block)
    return flips.p_value(as_large)


class Swaps:
    """Counts large differences of pairs of columns after swaps.

    Of columns that are sums over clusters a swap only turns signs, so that one product per column
    serves all of its pairs; others (medians) are aggregated anew for each pair.

    Parameters
    ----------
    column_samples
        The columns.
    pairs
        Numbers of two columns each.
    least
        Per pair, how large a difference counts, in either direction.
    """

    def __init__(
        self, column_samples: ColumnSamples, pairs: Sequence[tuple[int, int]], least: np.ndarray
    ) -> None:
        self.column_samples, self.least = column_samples, least
        shares, keys = column_samples.shares()
        self.quick = np.array([keys[a] is not None and keys[a] == keys[b] for a, b in pairs], bool)
        first, second = np.array(pairs, np.int64).reshape(-1, 2)[self.quick].T
        self.slow = [pair for pair, quick in zip(pairs, self.quick) if not quick]
        # Only the columns of these pairs, numbered anew.
        columns, at = np.unique(np.concatenate([first, second]), return_inverse=True)
        self.shares = np.ascontiguousarray(shares[:, columns].T)
        self.first, self.second = np.split(at, 2)

    def count(self, flips: np.ndarray) -> np.ndarray:
        """Return, per pair, how many rows of `flips` [B, C] give a large difference."""
        counts = np.zeros(len(self.quick), np.int64)
        counts[self.quick] = self._count_quick(flips)
        if self.slow:
            drawn = np.abs(self.column_samples.swapped_differences(self.slow, flips))
            counts[~self.quick] = (drawn >= self.least[~self.quick, None]).sum(axis=1)
        return counts

    def _count_quick(self, flips: np.ndarray) -> np.ndarray:
        from karat.stats import count_large_differences

        counts = np.zeros(len(self.first), np.int64)
        if len(counts):
            swapped = self.shares.sum(axis=1)[:, None] - 2 * (self.shares @ flips.T.astype(np.float64))
            count_large_differences(swapped, self.first, self.second, self.least[self.quick], counts)
        return counts


def bootstrap(problem: Problem) -> np.ndarray:
    """Ask on which side of 0 the resampled differences lie."""
    return np.array(
        [sign_p(subtract(problem.draws[first], problem.draws[second])) for first, second in problem.pairs]
    )


def mcnemar_test(kind: str) -> Callable[[Problem], np.ndarray]:
    """Return McNemar's test of one kind, for columns whose values are 0 or 1."""

    def p_values(problem: Problem) -> np.ndarray:
        columns = problem.column_samples.columns
        return np.array([of_pair(columns[first], columns[second]) for first, second in problem.pairs])

    def of_pair(first: Column, second: Column) -> float:
        a, b = first.values, second.values
        if a is None or b is None or not (is_binary(a) and is_binary(b)) or first.effective < first.n:
            return np.nan
        return mcnemar(a, b, kind).p  # type: ignore[arg-type]

    return p_values


def has_medians(problem: Problem, p: np.ndarray) -> bool:
    """Whether a column is aggregated by anything but the mean."""
    columns = (problem.column_samples.columns[first] for first, _ in problem.pairs)
    leaves = (leaf for column in columns for leaf in leaves_of(column))
    return any(isinstance(leaf.measure, Measure) and leaf.measure.aggregate is not MEAN for leaf in leaves)


register(
    ColumnTest(
        "randomisation",
        "Fisher's randomisation test",
        randomisation,
        "of median ranks the randomisation test asks whether the two runs' ranks could be exchanged: ranks "
        "that spread differently around one median count too; --test bootstrap asks about the medians alone",
        has_medians,
        lambda problem: Flips(problem.column_samples.clusters, problem.samples).floor,
    )
)
register(
    ColumnTest(
        "bootstrap", "paired bootstrap", bootstrap, floor=lambda problem: 2 / (problem.draws.shape[1] + 1)
    )
)
for name, kind in (("mcnemar", "mid-p"), ("mcnemar-exact", "exact")):
    register(
        ColumnTest(
            name,
            f"McNemar's test ({kind})",
            mcnemar_test(kind),
            "McNemar's test is for independent queries that succeed or fail, such as R@1 of images; "
            "what it cannot test is left open, as are captions that share an image",
            lambda _problem, p: bool(np.isnan(p).any()),
        )
    )
