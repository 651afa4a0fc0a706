"""Paired tests of whole columns: each takes pairs of columns and returns a p-value for each.

A test is a function that registers itself; `karat compare --test NAME` finds it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat._util import Registry
from karat.benchmarks import Side
from karat.measures import MEAN, Measure
from karat.scores.column import Column
from karat.scores.column_intervals import ColumnSamples, leaves_of
from karat.stats import (
    FEWEST_RESAMPLED,
    Flips,
    finite_scale,
    is_binary,
    least_to_count,
    mcnemar,
    resampled_p,
    subtract,
)

MANY_DIFFER = 64
"""Clusters beyond these change nothing in the smallest p-value of their swaps."""


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
        Its name, and its description in print.
    p_values
        From a problem to one p-value per pair; NaN where it cannot be used.
    limits
        Where it cannot be used, or what it really tests, with {one} and {many} for what is drawn; empty when
        there is nothing to note.
    concerns
        Whether that should be noted for a problem, given its p-values.
    floor
        The smallest p that it can give for a problem.
    """

    name: str
    about: str
    p_values: Callable[[Problem], np.ndarray]
    limits: str = ""
    concerns: Callable[[Problem, np.ndarray], bool] = lambda _problem, _p: False
    floor: Callable[[Problem], float] = lambda _problem: 0.0

    def notes(self, problem: Problem, p: np.ndarray, unit: Side) -> list[str]:
        """Return what a reader of these p-values should know."""
        return [self.limits.format(**vars(unit))] if self.concerns(problem, p) else []


TESTS: Registry[ColumnTest] = Registry("test", group="karat.paired_tests")


def register(test: ColumnTest) -> ColumnTest:
    """Make a test known by its name."""
    return TESTS.add(test.name, test)


def randomisation(problem: Problem) -> np.ndarray:
    """Swap the two runs' values cluster by cluster; all pairs see the same swaps."""
    flips = Flips(problem.column_samples.clusters, problem.samples, problem.seed)
    least = least_to_count(problem.differences, finite_scale(problem.values))
    pairs = np.array(problem.pairs, np.int64).reshape(-1, 2)
    kinds = problem.column_samples.kinds()
    sums = np.array([kinds[a] is not None and kinds[a] == kinds[b] for a, b in pairs], bool)
    as_large = np.zeros(len(pairs), np.int64)
    as_large[sums] = count_sums(problem.column_samples, pairs[sums], flips, least[sums])
    as_large[~sums] = count_anew(problem.column_samples, pairs[~sums], flips, least[~sums])
    return flips.p_value(as_large)


def count_sums(
    column_samples: ColumnSamples, pairs: np.ndarray, flips: Flips, least: np.ndarray
) -> np.ndarray:
    """Return, per pair of columns that are sums over clusters, how many swaps give a large difference.

    A swap only turns signs, so that one sum per column serves all of its pairs.
    """
    # Imported late: numba takes a third of a second.
    from karat.stats import count_large_differences

    counts = np.zeros(len(pairs), np.int64)
    columns, at = np.unique(pairs, return_inverse=True)
    first, second = at.reshape(-1, 2).T.copy()
    if len(pairs):
        for swapped in column_samples.swapped_sums(columns.tolist(), flips):
            count_large_differences(swapped, first, second, least, counts)
    return counts


def count_anew(
    column_samples: ColumnSamples, pairs: np.ndarray, flips: Flips, least: np.ndarray
) -> np.ndarray:
    """Return the same for other columns, such as medians: both are aggregated again after every swap."""
    counts = np.zeros(len(pairs), np.int64)
    if len(pairs):
        for block in flips.blocks():
            drawn = np.abs(column_samples.swapped_differences([(a, b) for a, b in pairs.tolist()], block))
            counts += (drawn >= least[:, None]).sum(axis=1)
    return counts


def bootstrap(problem: Problem) -> np.ndarray:
    """Test on which side of 0 the resampled differences lie; NaN for columns with too few clusters."""
    samples = problem.column_samples
    p = []
    for first, second in problem.pairs:
        if min(samples.sizes[first], samples.sizes[second]) < FEWEST_RESAMPLED:
            p.append(np.nan)
            continue
        drawn = subtract(problem.draws[first], problem.draws[second])
        p.append(resampled_p(drawn, samples.differing(first, second, most=MANY_DIFFER)))
    return np.array(p)


def few_clusters(problem: Problem, p: np.ndarray) -> bool:
    """Whether a pair had too few clusters to be resampled."""
    return bool(np.isnan(p).any())


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
        "bootstrap",
        "paired bootstrap",
        bootstrap,
        f"the paired bootstrap needs {FEWEST_RESAMPLED} {{many}} or more: with fewer it finds differences "
        "where there are none; what has fewer was not tested, and --test randomisation can test it",
        few_clusters,
        lambda problem: 2 / (problem.draws.shape[1] + 1),
    )
)
for name, kind in (("mcnemar", "mid-p"), ("mcnemar-exact", "exact")):
    register(
        ColumnTest(
            name,
            f"McNemar's test ({kind})",
            mcnemar_test(kind),
            "McNemar's test is for independent queries that succeed or fail, as those of R@1; what it cannot "
            "test is left open, as are several queries of one {one}",
            lambda _problem, p: bool(np.isnan(p).any()),
        )
    )
