"""Dawid–Skene: how reliable each annotator is and which rating is right, estimated together."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat._util import Param
from karat.errors import InputError
from karat.judging.quality.answers import Grouped
from karat.judging.quality.verdicts import (
    AGGREGATIONS,
    THRESHOLD,
    Aggregation,
    Fit,
    amount,
    decide,
    share,
    times,
)
from karat.judging.tasks import NOT_GOLD

START = 0.01
"""Added to every rating's count before the first step, so that no rating starts with probability 0."""


def pseudo_counts(ratings: int, answers: float, right: float) -> np.ndarray:
    """Return the answers that every annotator is assumed to have given before, right ratings by given ones.

    >>> pseudo_counts(3, 4, 0.7).round(2).tolist()
    [[2.8, 0.6, 0.6], [0.6, 2.8, 0.6], [0.6, 0.6, 2.8]]
    """
    if ratings == 1:
        return np.full((1, 1), float(answers))
    table = np.full((ratings, ratings), answers * (1 - right) / (ratings - 1))
    np.fill_diagonal(table, answers * right)
    return table


def fit_dawid_skene(
    grouped: Grouped,
    prior_answers: float = 2.0,
    prior_right: float = 0.7,
    prior_pairs: float = 1.0,
    steps: int = 1000,
    tolerance: float = 1e-7,
) -> tuple[np.ndarray, Fit]:
    """Return the posteriors over the right ratings, pairs by ratings, and the estimates of the annotators.

    The right rating t of a pair is drawn with the probabilities p; annotator w answers g with probability
    π_w[t, g]. EM maximises log likelihood + Σ_w Σ_tg a_tg log π_w[t, g] + Σ_t b log p_t, so a and b are
    answers and pairs that are assumed to have been seen before: Dirichlet priors with the parameters
    1 + a and 1 + b. With ``prior_answers=0`` and ``prior_pairs=0`` it is plain maximum likelihood (Dawid
    and Skene, Applied Statistics 1979). The first posteriors are the shares of each pair's answers.
    The right rating of a gold pair can only be on its known side.
    """
    from karat.judging.quality.dawid_skene_kernels import expected_answers, step

    scale = len(grouped.ratings)
    order = np.argsort(grouped.pair, kind="stable")
    start = np.concatenate([[0], np.cumsum(grouped.answers)]).astype(np.int64)
    # Only annotators who answered take part; the others keep the prior.
    who, number = np.unique(grouped.annotator, return_inverse=True)
    annotator, code = (column[order].astype(np.int32) for column in (number, grouped.code))
    allowed, kind = possible(grouped)
    assumed = pseudo_counts(scale, prior_answers, prior_right)
    posterior = np.where(allowed[kind], grouped.counts + START, 0.0)
    posterior /= posterior.sum(axis=1, keepdims=True)
    table = np.zeros((len(who), scale, scale))
    expected_answers(start, annotator, code, posterior, table)
    objective: list[float] = []
    converged = False
    for _ in range(steps):
        confusion = shares_of(table.transpose(0, 2, 1) + assumed)
        prior = shares_of(posterior.sum(axis=0) + prior_pairs)
        with np.errstate(divide="ignore"):
            log_confusion, log_prior = np.log(confusion), np.log(prior)
        table = np.zeros_like(table)
        likelihood = step(
            start, annotator, code, allowed, kind, np.ascontiguousarray(log_confusion.transpose(0, 2, 1)),
            log_prior, posterior, table,
        )  # fmt: skip
        beliefs = times_log(assumed, log_confusion) + times_log(np.full(scale, prior_pairs), log_prior)
        objective.append(likelihood + beliefs)
        if len(objective) > 1 and objective[-1] - objective[-2] <= tolerance * len(code):
            converged = True
            break
    all_confusions = np.broadcast_to(shares_of(assumed), (grouped.annotator_count, scale, scale)).copy()
    all_confusions[who] = confusion
    answers = np.bincount(grouped.annotator, minlength=grouped.annotator_count)
    fit = Fit(all_confusions, prior, likelihood, np.array(objective), len(objective), converged, answers)
    return posterior, fit


def possible(grouped: Grouped) -> tuple[np.ndarray, np.ndarray]:
    """Return the possible right ratings of other pairs, gold no and gold yes; and each pair's row."""
    relevant = grouped.grades > 0
    allowed = np.stack([np.ones_like(relevant), ~relevant, relevant])
    kind = (grouped.gold - NOT_GOLD).astype(np.int64)
    for side in np.unique(kind).tolist():
        if not allowed[side].any():
            raise InputError(
                f"there are gold pairs that are {('', 'not relevant', 'relevant')[side]}, and no answer "
                "of the form says that",
                fix="give the form answers with a grade of 0 and answers with a grade above 0",
            )
    return allowed, kind


def shares_of(counts: np.ndarray) -> np.ndarray:
    """Return counts as shares along the last axis; equal ones where the total is 0."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / counts.shape[-1])


def times_log(counts: np.ndarray, logs: np.ndarray) -> float:
    """Return Σ counts · logs, where 0 · log 0 is 0."""
    return float(np.where(counts > 0, counts * np.where(counts > 0, logs, 0.0), 0.0).sum())


def dawid_skene(grouped: Grouped, threshold: float = 0.5, **settings: Any) -> dict[str, Any]:
    """Return the verdicts of Dawid–Skene's posteriors (see `decide`), with the posteriors and the fit."""
    posterior, fit = fit_dawid_skene(grouped, **settings)
    return {**decide(posterior, grouped, threshold), "posterior": posterior, "fit": fit}


AGGREGATIONS.add(
    "dawid-skene",
    Aggregation(
        "the most probable rating, each annotator weighted by their confusion matrix",
        dawid_skene,
        (
            THRESHOLD,
            Param("prior_answers", amount, "answers per rating assumed of each annotator beforehand", 2.0),
            Param("prior_right", share, "the share of these that are right", 0.7),
            Param("prior_pairs", amount, "pairs per rating assumed beforehand", 1.0),
            Param("steps", times, "how many steps of EM at most", 1000),
            Param("tolerance", amount, "stop when a step gains less log likelihood per answer", 1e-7),
        ),
        weighs_annotators=True,
    ),
    ["ds", "em"],
)
