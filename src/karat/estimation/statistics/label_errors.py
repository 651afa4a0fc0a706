"""Label errors: what aggregated answers are worth where annotators err.

Answers about a pair give a probability τ that it is relevant (Dawid–Skene), which is right on average over
the pairs that were asked about, not for pairs that a good run ranks first. What does not depend on where a
pair lies is how answers err. Let g be the probability that the answers alone give, of a pair that is
relevant or not with equal chance. Of relevant pairs its mean is t₁ = Σ τ g / Σ τ, of others t₀ = Σ (1 − τ)
g / Σ (1 − τ). So

    z̃ = (g − t₀) / (t₁ − t₀)

has the mean 1 for relevant pairs and 0 for others, wherever they lie (for one answer per pair this is the
estimator of Rogan and Gladen 1978). It is the label wherever labels enter linearly. Where they do not (RP,
AP, mAP@R), τ is combined with the predicted probability of each pair (`Recalibration`), and a bootstrap of
labels and answers says how biased that is (`answers_again`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from karat.errors import InputError

SMALLEST = 1e-6
CLIPPED, EM_STEPS, NEWTON_STEPS = (1e-4, 1 - 1e-4), 60, 25
"""How sure predictions may be, how often they are fitted anew, and the steps of a query's own part."""
LEAST_APART = 0.1
"""How far t₁ and t₀ must lie apart for labels to say anything."""


@dataclass(frozen=True, eq=False)
class AnswerErrors:
    """How probabilities from answers spread around labels.

    Parameters
    ----------
    relevant, other
        t₁ and t₀: the mean evidence of relevant pairs, and of others.
    noise_relevant, noise_other
        The variance of z̃ of relevant pairs, and of others.
    prevalence
        The mean probability.

    Examples
    --------
    >>> answer_errors(np.array([1.0, 0.0, 0.0])).label(np.array([1.0, 0.0])).tolist()
    [1.0, 0.0]
    """

    relevant: float
    other: float
    noise_relevant: float
    noise_other: float
    prevalence: float

    def odds(self, tau: np.ndarray) -> np.ndarray:
        """Return the log likelihood ratio of the answers."""
        return log_odds(tau) - log_odds(np.array(self.prevalence))

    def label(self, tau: np.ndarray) -> np.ndarray:
        """Return z̃."""
        if self.noise_relevant + self.noise_other == 0:
            return tau
        return (posterior(self.odds(tau)) - self.other) / (self.relevant - self.other)

    def noise(self, tau: np.ndarray) -> np.ndarray:
        """Return the expected variance of z̃ around the label."""
        return tau * self.noise_relevant + (1 - tau) * self.noise_other


def answer_errors(tau: np.ndarray) -> AnswerErrors:
    """Return how τ spreads around the labels, given τ of all pairs that were asked about."""
    yes, no, prevalence = tau, 1 - tau, float(tau.mean()) if len(tau) else 0.5
    if np.isin(tau, (0, 1)).all():
        return AnswerErrors(1.0, 0.0, 0.0, 0.0, 0.5)
    evidence = posterior(log_odds(tau) - log_odds(np.array(prevalence)))
    t1, t0 = (float(np.average(evidence, weights=side)) for side in (yes, no))
    if t1 - t0 < LEAST_APART:
        raise InputError(
            "the answers hardly tell relevant pairs from others",
            fix="ask more annotators about each pair, or leave out those who fail the gold check",
        )
    v1, v0 = (
        float(np.average((evidence - mean) ** 2, weights=side)) / (t1 - t0) ** 2
        for mean, side in ((t1, yes), (t0, no))
    )
    return AnswerErrors(t1, t0, v1, v0, prevalence)


@dataclass(frozen=True, eq=False)
class Recalibration:
    """Predictions whose log odds are stretched and shifted to fit answers: logit p' = a + b logit p + u.

    Predictions have learned from labels with errors, and know nothing of the query's own answers: some
    queries have many relevant items, others one. The u of each query, normal with a fitted variance, follows
    from its own answers.

    Parameters
    ----------
    line
        a and b.
    variance
        Of the u.
    """

    line: np.ndarray
    variance: float

    def refined(self, p: np.ndarray, odds: np.ndarray, query: np.ndarray) -> np.ndarray:
        """Return the probability of each label, given its answers and what was predicted without them.

        Parameters
        ----------
        p, odds
            Per pair, what was predicted, and the log likelihood ratio of its answers.
        query
            Per pair, the number of its query.
        """
        logit = self.line[0] + self.line[1] * log_odds(np.clip(p, *CLIPPED))
        _, group = np.unique(query, return_inverse=True)
        own = np.zeros(int(group.max(initial=-1)) + 1)
        for _ in range(NEWTON_STEPS):
            step, _ = intercept_step(logit + own[group], odds, group, own, self.variance)
            own += step
            if np.abs(step).max(initial=0.0) < 1e-3:
                break
        return posterior(np.clip(logit + own[group], *log_odds(np.array(CLIPPED))) + odds)


def intercept_step(
    logit: np.ndarray, odds: np.ndarray, group: np.ndarray, own: np.ndarray, variance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return one Newton step of every u, and how certain each is."""
    prior = posterior(logit)
    certain = np.bincount(group, np.maximum(prior * (1 - prior), 1e-9)) + 1 / variance
    rest = np.bincount(group, posterior(odds + logit) - prior)
    return np.clip((rest - own / variance) / certain, -1.0, 1.0), certain


def recalibration(p: np.ndarray, odds: np.ndarray, query: np.ndarray) -> Recalibration:
    """Fit a, b and the variance of u to all answers, by EM; see `Recalibration.refined`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p, query = rng.random(5000), np.arange(5000) % 100
    >>> fitted = recalibration(p, np.where(rng.random(5000) < p**2, 20.0, -20.0), query)
    >>> bool(np.abs(fitted.refined(p, np.zeros(5000), query) - p**2).mean() < 0.05)
    True
    """
    x = np.stack([np.ones(len(p)), log_odds(np.clip(p, *CLIPPED))])
    _, group = np.unique(query, return_inverse=True)
    line, own, variance = np.array([0.0, 1.0]), np.zeros(int(group.max(initial=-1)) + 1), 1.0
    for _ in range(EM_STEPS):
        logit = line @ x + own[group]
        prior = posterior(logit)
        weight = np.maximum(prior * (1 - prior), 1e-9)
        # One Newton step of the logistic regression of τ, of a and b, and of every u.
        slope = x @ (posterior(odds + logit) - prior)
        step = np.clip(np.linalg.solve((x * weight) @ x.T + 1e-6 * np.eye(2), slope), -1.0, 1.0)
        own_step, certain = intercept_step(logit, odds, group, own, variance)
        line, own = line + step, own + own_step
        before, variance = variance, float(np.clip((own**2 + 1 / certain).mean(), 1e-3, 25.0))
        if max(np.abs(step).max(), abs(variance / before - 1)) < 1e-3:
            break
    return Recalibration(line, variance)


def answers_again(
    tau: np.ndarray,
    p: np.ndarray,
    odds: np.ndarray,
    query: np.ndarray,
    times: int,
    rng: np.random.Generator,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw labels, and answers about them; yield the labels, and what the answers say of them.

    A parametric bootstrap (Efron and Tibshirani 1993): by as much as values from the second are off, values
    from the model's probabilities are, too. Labels are drawn from these. The answers about a relevant pair
    are those of a pair that is drawn in proportion to its τ, those about another one likewise by 1 − τ, so
    that they err as often as the answers do.

    Parameters
    ----------
    tau
        Per pair, the probability that it is relevant, given its answers alone.
    p, odds, query
        As in `Recalibration.refined`.
    times, rng
        How often, and what draws.
    """
    model = recalibration(p, odds, query)
    relevant = rng.random((times, len(tau))) < model.refined(p, odds, query)
    drawn = np.empty(relevant.shape, np.int64)
    for side, chance in ((relevant, tau), (~relevant, 1 - tau)):
        drawn[side] = np.searchsorted(np.cumsum(chance), rng.random(int(side.sum())) * chance.sum())
    again = odds[np.minimum(drawn, len(tau) - 1)]
    # All at once; every query has another u each time.
    group = query + np.arange(times)[:, None] * (int(query.max(initial=0)) + 1)
    seen = model.refined(np.tile(p, times), again.ravel(), group.ravel()).reshape(again.shape)
    yield from zip(relevant, seen)


def answer_posterior(
    yes: np.ndarray,
    answers: np.ndarray,
    gold_yes: tuple[int, int],
    gold_no: tuple[int, int],
    *,
    versions: int = 50,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability τ of each pair from its answers, and versions of it.

    Annotators are taken as alike; how often they are right was counted on gold pairs. The versions differ in
    these rates, drawn from what the gold leaves open, so that intervals can carry their uncertainty.

    Parameters
    ----------
    yes, answers
        Per pair, how many of how many answers said that it is relevant.
    gold_yes, gold_no
        Of answers about gold pairs that are relevant, and that are not: how many were right, and how many
        there were.
    versions, seed
        How many versions are drawn, and their seed.

    Returns
    -------
    tuple
        τ per pair, and [versions, pairs].

    Examples
    --------
    >>> tau, versions = answer_posterior(np.array([3, 0]), np.array([3, 3]), (45, 50), (45, 50))
    >>> tau.round(2).tolist(), versions.shape
    ([1.0, 0.0], (50, 2))
    """
    rng = np.random.default_rng([seed, 22])
    right = [(a + 1, n - a + 1) for a, n in (gold_yes, gold_no)]
    means = [a / (a + b) for a, b in right]
    tau = class_posterior(yes, answers, means[0], means[1])
    drawn = zip(*(rng.beta(a, b, versions) for a, b in right))
    made = [class_posterior(yes, answers, *rates) for rates in drawn]
    return tau, np.stack(made) if made else np.zeros((0, len(tau)))


def class_posterior(yes: np.ndarray, answers: np.ndarray, found: float, rejected: float) -> np.ndarray:
    """Return τ given the chances that a relevant pair is called so, and that another one is not."""
    found, rejected = (float(np.clip(rate, 0.501, 0.999)) for rate in (found, rejected))
    evidence = yes * np.log(found / (1 - rejected)) + (answers - yes) * np.log((1 - found) / rejected)
    prevalence = 0.5
    for _ in range(200):
        tau = posterior(evidence + np.log(prevalence / (1 - prevalence)))
        before, prevalence = prevalence, float(np.clip(tau.mean(), SMALLEST, 1 - SMALLEST))
        if abs(before - prevalence) < 1e-9:
            break
    return tau


def log_odds(p: np.ndarray) -> np.ndarray:
    """Return log(p / (1 − p)), finite also for 0 and 1."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.asarray(np.log(p) - np.log1p(-p))


def posterior(odds: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(−odds)), without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * odds)))
