"""Ways to fuse rankings: how many points one run gives to each item of a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from karat._util import Param, Registry, whole


@dataclass(frozen=True, eq=False)
class Ballot:
    """What one run says about all items of some queries, queries by items.

    Parameters
    ----------
    ranks
        Places from 0; items that score the same share the mean of their places, and so do, behind
        all others, the items that a cut-off list does not name.
    scores
        The scores; only methods that need them may look, since ranked lists have none.
    listed
        Whether the run names the item at all.
    """

    ranks: np.ndarray
    scores: np.ndarray
    listed: np.ndarray


@dataclass(frozen=True)
class FusionMethod:
    """A way to fuse: items are ranked by the weighted sum of the points that each run gives them.

    Parameters
    ----------
    about
        A line on what it does.
    points
        From a ballot and the method's parameters to points, queries by items.
    needs_scores
        Whether it looks at scores, not places alone.
    params
        Its parameters, as data.
    """

    about: str
    points: Callable[..., np.ndarray]
    needs_scores: bool = False
    params: tuple[Param, ...] = ()


FUSIONS: Registry[FusionMethod] = Registry("fusion method", group="karat.fusions")
"""By name: the ways to fuse."""


def borda(ballot: Ballot) -> np.ndarray:
    """Return N − r for the item in place r of N, counted from 0 (Hodosh et al. 2013, §4.1.3)."""
    return ballot.ranks.shape[1] - ballot.ranks


def reciprocal_rank(ballot: Ballot, k: int = 60) -> np.ndarray:
    """Return 1 / (k + r + 1) for place r from 0, 0 for items not listed (Cormack et al. 2009)."""
    return np.where(ballot.listed, 1.0 / (k + 1.0 + ballot.ranks), 0.0)


def scores_themselves(ballot: Ballot) -> np.ndarray:
    """Return the scores: fit for runs of one scale, such as cosines of one model."""
    return ballot.scores


def standard_scores(ballot: Ballot) -> np.ndarray:
    """Return scores less their mean over the query's items, in standard deviations; 0 where all are equal."""
    centred = ballot.scores - ballot.scores.mean(axis=1, keepdims=True)
    return divided(centred, ballot.scores.std(axis=1, keepdims=True), ballot.scores)


def unit_range(ballot: Ballot) -> np.ndarray:
    """Return scores stretched to 0 … 1 over the query's items; 0 where all are equal."""
    low, high = (f(axis=1, keepdims=True) for f in (ballot.scores.min, ballot.scores.max))
    return divided(ballot.scores - low, high - low, ballot.scores)


def divided(values: np.ndarray, by: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return values by their spread; 0 where the spread is no more than the rounding of the scores."""
    noise = 8 * np.finfo(scores.dtype).eps * np.abs(scores).max(axis=1, keepdims=True)
    return np.divide(values, by, out=np.zeros_like(values), where=by > noise)


K = Param("k", whole, "how flat the weights of the first places are", default=60)
FUSIONS.add("borda", FusionMethod("N − place, summed", borda))
FUSIONS.add("rrf", FusionMethod("1 / (k + place), summed", reciprocal_rank, params=(K,)), ["reciprocal-rank"])
FUSIONS.add("mean", FusionMethod("mean of the scores", scores_themselves, True), ["scores"])
FUSIONS.add("zscore", FusionMethod("mean of standardised scores", standard_scores, True), ["z"])
FUSIONS.add("minmax", FusionMethod("mean of scores stretched to 0 … 1", unit_range, True), ["min-max"])
