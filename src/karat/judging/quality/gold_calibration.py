"""How far probabilities of relevance can be believed, measured on gold pairs.

A probability of 0.9 should be right nine times out of ten. Dawid–Skene assumes that answers about a pair are
independent given its right rating; where they are not, because a pair is hard for everybody, its
probabilities are too extreme. Gold shows by how much: the evidence of the answers is weighted so that it fits
the gold. Gold may itself be wrong, so its error rates are estimated too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MIN_GOLD = 20
"""Gold pairs of both sides together that a calibration needs, at least a quarter of them on each side."""
EDGES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""The bins of the table."""
SUSPICIOUS = 0.05
"""The estimated share of wrong gold from which a note says so."""
PRIOR_SPREAD = 0.3
"""Standard deviation of the log weight before any gold is seen: few gold pairs change little."""
PRIOR_RIGHT = 5.0
"""Gold labels that are assumed to be right beforehand, on each side."""


@dataclass(frozen=True, eq=False)
class GoldCalibration:
    """What gold says about the probabilities of an aggregation.

    Parameters
    ----------
    gold
        How many gold pairs were used.
    weight
        What the log odds of the answers are multiplied by, at most 1.
    wrong_yes, wrong_no
        Errors of the gold itself: the estimated share of gold positives that are not relevant, and of gold
        negatives that are.
    count, claimed, actual
        Per bin of `EDGES`: how many gold pairs have a calibrated probability in it, the mean of these
        probabilities, and the share of the pairs that are gold positives; at the gold's own share of
        positives.
    """

    gold: int
    weight: float
    wrong_yes: float
    wrong_no: float
    count: np.ndarray
    claimed: np.ndarray
    actual: np.ndarray

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the verdicts should know."""
        wrong = [
            f"{rate:.0%} of the gold {side} contradict the annotators and seem to be wrong"
            for rate, side in ((self.wrong_yes, "positives"), (self.wrong_no, "negatives"))
            if rate > SUSPICIOUS
        ]
        return tuple(wrong)

    def records(self) -> list[dict[str, float | int | None]]:
        """Return a record per bin that has pairs."""
        return [
            {"from": low, "to": high, "pairs": int(n), "claimed": float(claim), "actual": float(truth)}
            for low, high, n, claim, truth in zip(EDGES, EDGES[1:], self.count, self.claimed, self.actual)
            if n
        ]


def sigmoid(values: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(−values)), without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * values))


def log_odds(probability: np.ndarray | float) -> np.ndarray:
    """Return log(p / (1 − p)), finite also for 0 and 1."""
    p = np.clip(probability, 1e-12, 1 - 1e-12)
    return np.log(p) - np.log1p(-p)


def calibrate_on_gold(evidence: np.ndarray, positive: np.ndarray) -> GoldCalibration | None:
    """Return the weight of the answers' evidence that fits the gold; None where there is too little gold.

    With the log likelihood ratio e of a pair's answers, P(relevant) = σ(logit(share) + weight · e), where
    `share` is the share of gold positives; a gold label is wrong with the rates that are fitted along. A
    weight above 1 would make probabilities more extreme and is not used: at a low prevalence the prior, which
    gold does not show, decides.

    Parameters
    ----------
    evidence
        Of each gold pair, the log likelihood ratio of its answers, relevant against not, from a fit that did
        not use its label.
    positive
        Its label.
    """
    from scipy.optimize import minimize

    n, yes = len(positive), int(positive.sum())
    if n < MIN_GOLD or min(yes, n - yes) < MIN_GOLD // 4:
        return None
    offset = float(log_odds(yes / n))
    label = positive.astype(np.float64)

    def loss(values: np.ndarray) -> float:
        relevant = sigmoid(offset + np.exp(values[0]) * evidence)
        wrong_yes, wrong_no = sigmoid(values[1]), sigmoid(values[2])
        p = np.clip(relevant * (1 - wrong_no) + (1 - relevant) * wrong_yes, 1e-9, 1 - 1e-9)
        errors = np.log(wrong_yes) + np.log(wrong_no), np.log1p(-wrong_yes) + np.log1p(-wrong_no)
        believed = 0.5 * (values[0] / PRIOR_SPREAD) ** 2 - 0.2 * errors[0] - PRIOR_RIGHT * errors[1]
        return float(believed - (label * np.log(p) + (1 - label) * np.log1p(-p)).sum())

    fitted = minimize(loss, np.array([0.0, -3.0, -3.0]), method="Nelder-Mead", options={"maxiter": 2000})
    weight = min(1.0, float(np.exp(fitted.x[0])))
    shown = sigmoid(offset + weight * evidence)
    # From P(label | relevant or not), which is fitted, to the share of wrong labels on each side.
    yes_if_not, no_if_relevant = (float(sigmoid(value)) for value in fitted.x[1:])
    wrong_yes = min(1.0, yes_if_not * float((1 - shown).sum()) / yes)
    wrong_no = min(1.0, no_if_relevant * float(shown.sum()) / (n - yes))
    bins = np.clip(np.searchsorted(EDGES, shown, side="right") - 1, 0, len(EDGES) - 2)
    count = np.bincount(bins, minlength=len(EDGES) - 1)
    with np.errstate(invalid="ignore"):
        claimed, actual = (np.bincount(bins, column, len(EDGES) - 1) / count for column in (shown, label))
    return GoldCalibration(n, weight, wrong_yes, wrong_no, count, claimed, actual)


def prevalence_of(evidence: np.ndarray, start: float) -> float:
    """Return the share of relevant pairs at which the mean probability equals that share.

    >>> round(prevalence_of(np.array([9.0, -9.0, -9.0, -9.0]), 0.5), 3)
    0.25
    """
    share = start
    for _ in range(1000):
        before, share = share, float(np.clip(sigmoid(log_odds(share) + evidence).mean(), 1e-6, 1 - 1e-6))
        if abs(share - before) < 1e-9:
            break
    return share
