"""Bandit: runs are arms, and a relevant item is the reward."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from karat._util import Param, check_choice
from karat.estimation.candidates import Ranking
from karat.estimation.list_strategy import BY_QUERY, ListStrategy
from karat.estimation.strategy import register_strategy

POLICIES = ("mean", "thompson")


def policy(value: Any) -> str:
    """Return the name of a policy; for `Param.type`."""
    return check_choice(str(value), POLICIES, "policy")


def fading(value: Any) -> float:
    """Return a number from 0 to 1; for `Param.type`."""
    if not 0 <= float(value) <= 1:
        raise ValueError(value)
    return float(value)


fading.__name__ = "number from 0 to 1"


@register_strategy
class Bandit(ListStrategy):
    """Takes the next item of the run whose items were relevant most often, per query.

    The chance that a run's next item is relevant has the distribution Beta(1 + a, 1 + b), from its a
    relevant and b other items so far. The policy takes the highest mean, or the highest of one draw from
    each (Thompson sampling). With a rate below 1, an item counts less with each that follows, since lists
    get worse towards their end; 0 looks at the last item alone.
    """

    name = "bandit"
    formula = "the highest mean of Beta(1 + a_r, 1 + b_r), a_r ← rate · a_r + z, b_r ← rate · b_r + 1 − z"
    source = "Losada, Parapar and Barreiro, IP&M 2017: MM and TS; MM-NS and TS-NS with a rate below 1"
    params: ClassVar = (
        BY_QUERY,
        Param("policy", policy, "mean or thompson", "mean"),
        Param("rate", fading, "how much an item counts after the next, from 0 to 1", 0.0),
    )
    policy: str
    rate: float

    def priority(self, ranking: Ranking, relevant: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the mean of the run's distribution before each row, or a draw from it."""
        ptr = ranking.ranked.ptr
        hits, others = faded_sums(np.stack([relevant, 1 - relevant]), ptr, self.rate)
        if self.policy == "thompson":
            return rng.beta(1 + hits, 1 + others)
        return (1 + hits) / (2 + hits + others)


def faded_sums(per_row: np.ndarray, ptr: np.ndarray, rate: float) -> np.ndarray:
    """Return the sum over the earlier rows of each query, the row d before counting rate^(d − 1).

    >>> faded_sums(np.array([[1.0, 0.0, 1.0, 1.0]]), np.array([0, 4]), 0.5).tolist()
    [[0.0, 1.0, 0.5, 1.25]]
    """
    out = np.zeros(per_row.shape)
    length = np.diff(ptr)
    for place in range(1, length.max(initial=0)):
        row = ptr[:-1][length > place] + place
        out[:, row] = rate * out[:, row - 1] + per_row[:, row - 1]
    return out
