"""Relevance by place: how probable it is that a pair is relevant, given the answers and its place in a run.

The answers about pair i give the probability p_i that it is relevant, where every pair has the same chance
before it is judged: the mean p of all. So they support "relevant" by the factor
L_i = (p_i / (1 − p_i)) / (p / (1 − p)). Let instead that chance depend on where a run ranks the pair,
logit π_i = a + Σ_d b_d[bin of the place in direction d]. The coefficients are those that make the answers
most probable, Σ_i log(π_i L_i + 1 − π_i) − (ridge / 2) Σ b², by EM with a Newton step of the logistic
regression in each round; and q_i = π_i L_i / (π_i L_i + 1 − π_i). Without coefficients b it is p_i again.

The run is not believed: what its places are worth is estimated from the answers. It holds if annotators err
independently of the run, given what is true; a machine judge that is the run's own model does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BINS = np.array([1, 2, 3, 5, 9, 17, 33])
"""Where bins of places begin; a place that is not known has a bin of its own."""
RIDGE = 1.0
"""The weight of the assumption that places tell nothing: as much as a few answers."""
ROUNDS, TOLERANCE = 500, 1e-8


def relevance_by_place(probability: np.ndarray, places: Sequence[np.ndarray]) -> np.ndarray:
    """Return the probability that each pair is relevant, given the answers and its places in a run.

    Parameters
    ----------
    probability
        Given the answers alone, above 0 and below 1.
    places
        Per direction, the place of each pair, counted from 1; 0 where it is not known.

    Examples
    --------
    Half of the pairs are probably relevant, and a run ranks them first; where the answers leave it open, its
    place tells:

    >>> probability = np.array([0.95] * 40 + [0.05] * 40 + [0.5] * 2)
    >>> place = np.array([1] * 40 + [20] * 40 + [1, 20])
    >>> relevance_by_place(probability, [place])[[0, 40, 80, 81]].round(2).tolist()
    [1.0, 0.0, 0.93, 0.07]
    """
    from scipy.special import expit, logit

    if not len(probability):
        return probability
    columns = [np.ones((len(probability), 1))]
    for place in places:
        columns.append(np.eye(len(BINS) + 1)[np.searchsorted(BINS, place, side="right")])
    table = np.concatenate(columns, axis=1)
    before = logit(probability.mean())
    support = logit(probability) - before
    weights = np.zeros(table.shape[1])
    weights[0] = before
    ridge = np.full(len(weights), RIDGE)
    ridge[0] = 0.0
    for _ in range(ROUNDS):
        chance = expit(table @ weights)
        slope = table.T @ (expit(table @ weights + support) - chance) - ridge * weights
        curvature = (table * (chance * (1 - chance))[:, None]).T @ table + np.diag(ridge)
        # Where nearly all pairs are on one side the curvature is flat, and a whole step goes too far.
        step = np.clip(np.linalg.solve(curvature, slope), -2, 2)
        weights += step
        if np.abs(step).max() < TOLERANCE:
            break
    return expit(table @ weights + support)
