"""What a vetting strategy is: from what is known so far to the candidates that are vetted next."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from karat._util import Registry, import_all
from karat.estimation.candidates import VettedLabels
from karat.measures import Measure, Named


class VettingStrategy(Named):
    """Chooses which candidates are vetted next.

    A subclass is one file in ``karat/estimation/strategies`` that registers itself. It has no state of its
    own: everything that happened before is in the labels, in the order in which it happened.
    """

    adaptive: ClassVar[bool] = True
    """Whether the choice depends on labels or probabilities; counts over a random sample are fair."""
    of_units: ClassVar[bool] = False
    """Whether it can choose among units of several candidates, such as instances with their detections."""

    @abstractmethod
    def choose(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the numbers of `n` different candidates out of `open_rows`, or of all if these are fewer.

        Parameters
        ----------
        labels
            What is vetted so far, with the candidates.
        probability
            Per candidate, the probability that it is relevant, as the estimator sees it now; vetted ones have
            their label.
        measure
            What is estimated.
        open_rows
            The candidates that are not vetted and that the measure looks at.
        n
            How many to choose.
        rng
            Draws whatever is random, ties included.
        """


STRATEGIES: Registry[type[VettingStrategy]] = Registry(
    "strategy",
    fill=lambda: import_all("karat.estimation.strategies"),
    sort=True,
    group="karat.strategies",
)

register_strategy = STRATEGIES.register


def highest(value: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the numbers of the `n` highest values, the highest first, ties at random; NaN is the lowest.

    >>> highest(np.array([0.1, 0.5, 0.3]), 2, np.random.default_rng(0)).tolist()
    [1, 2]
    """
    value = np.where(np.isnan(value), -np.inf, value)
    n = min(n, len(value))
    if n == 0:
        return np.zeros(0, np.int64)
    least = np.partition(value, -n)[-n]
    above, level = np.flatnonzero(value > least), np.flatnonzero(value == least)
    chosen = np.r_[above, rng.choice(level, n - len(above), replace=False)]
    return chosen[np.lexsort((rng.random(n), -value[chosen]))]


def numbered(group: np.ndarray) -> np.ndarray:
    """Return how many earlier entries are of the same group.

    >>> numbered(np.array([5, 3, 5, 5])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    at = np.empty(len(group), np.int64)
    at[order] = np.arange(len(group)) - np.searchsorted(group[order], group[order])
    return at


def guessed(probability: np.ndarray) -> np.ndarray:
    """Return the probabilities, with one half where the estimator has nothing to say (NaN)."""
    return np.where(np.isnan(probability), 0.5, probability)


def sum_before(per_row: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """Return the sum over the earlier rows of each query.

    >>> sum_before(np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, 3, 4])).tolist()
    [0.0, 1.0, 3.0, 0.0]
    """
    running = np.r_[0.0, np.cumsum(per_row)]
    return running[:-1] - np.repeat(running[ptr[:-1]], np.diff(ptr))
