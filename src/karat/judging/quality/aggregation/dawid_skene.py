"""Dawid–Skene: how reliable each annotator is and what the right answers are, learned together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from karat._util import Param, check_choice, track
from karat.errors import InputError
from karat.forms import GOLD_NO, GOLD_YES, Grouped
from karat.judging.quality.gold_calibration import (
    GoldCalibration,
    calibrate_on_gold,
    log_odds,
    prevalence_of,
    sigmoid,
)
from karat.judging.quality.verdicts import (
    AGGREGATIONS,
    EVEN,
    THRESHOLD,
    Aggregation,
    Fit,
    amount,
    decide,
    share,
    times,
)

START = 0.01
"""Added to every rating's count before the first step, so that no rating is ruled out."""
CROWD, FIXED = "crowd", "fixed"
KINDS = 3
"""Of pairs: to judge, and gold that says no and yes."""
FLOOR = 2.0
"""Answers per rating that the whole crowd is assumed to have given beforehand."""
GOLD_WRONG, GOLD_RIGHT = 1.0, 20.0
"""Gold labels assumed beforehand that were wrong and right, on each side: gold may be wrong, too."""
ROUNDS, SETTLED = 20, 1e-3
"""How often the crowd's confusion is estimated anew at most, and the change at which it is not."""
ESTIMATED = "estimated"
STRENGTHS = (1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 50.0, 80.0, 150.0, 400.0)
"""Assumed answers per rating to choose from: few where annotators differ much, many where they are alike."""


def pseudo_counts(ratings: int, answers: float, right: float) -> np.ndarray:
    """Return the answers assumed of every annotator beforehand, right ratings by given ones.

    >>> pseudo_counts(3, 4, 0.7).round(2).tolist()
    [[2.8, 0.6, 0.6], [0.6, 2.8, 0.6], [0.6, 0.6, 2.8]]
    """
    if ratings == 1:
        return np.full((1, 1), float(answers))
    table = np.full((ratings, ratings), answers * (1 - right) / (ratings - 1))
    np.fill_diagonal(table, answers * right)
    return table


@dataclass(frozen=True, eq=False)
class SortedAnswers:
    """Grouped answers as the compiled loops read them.

    Parameters
    ----------
    start, annotator, code
        Where the answers of each pair begin, and the end; of each answer, who gave it, numbered among those
        who answered, and its rating.
    who
        The numbers in the table of those who answered.
    kind
        Of each pair: 0 to judge, 1 and 2 hidden gold alone, no and yes. A pair that is both is to judge: its
        own answers decide.
    counts, relevant
        How often each pair got each rating; which ratings are relevant.
    weight
        How many pairs each pair stands for: 1, but for `patterns`.
    """

    start: np.ndarray
    annotator: np.ndarray
    code: np.ndarray
    who: np.ndarray
    kind: np.ndarray
    counts: np.ndarray
    relevant: np.ndarray
    weight: np.ndarray

    @cached_property
    def cell(self) -> np.ndarray:
        """Of each answer, one number for who gave it and which rating it was."""
        return self.annotator * np.int32(self.counts.shape[1]) + self.code

    @property
    def shares(self) -> np.ndarray:
        """The first guess at the right ratings: the shares of each pair's answers."""
        first = self.counts + START
        return first / first.sum(axis=1, keepdims=True)

    @property
    def gold_shares(self) -> np.ndarray:
        """A first guess that believes the gold, and next to nothing of other pairs."""
        side = np.where((self.kind == 2)[:, None], self.relevant, ~self.relevant)
        first = np.where((self.kind > 0)[:, None], side * (self.counts + START), 0.0)
        known = first / np.maximum(first.sum(axis=1, keepdims=True), 1e-12)
        return (1 - START) * known + START * self.shares

    def expected(self, posterior: np.ndarray) -> np.ndarray:
        """Return the expected numbers of answers under posteriors, [annotators, given, right]."""
        from karat.judging.quality.dawid_skene_kernels import expected_answers

        ratings = self.counts.shape[1]
        table = np.zeros((len(self.who), ratings, ratings))
        posterior = np.ascontiguousarray(posterior)
        expected_answers(self.start, self.cell, self.weight, posterior, table.reshape(-1, ratings))
        return table

    def totals(self, posterior: np.ndarray) -> np.ndarray:
        """Return the expected numbers of pairs under posteriors, [kinds, ratings]."""
        weighted = posterior * self.weight[:, None]
        return np.stack([weighted[self.kind == kind].sum(axis=0) for kind in range(KINDS)])

    def patterns(self) -> tuple[SortedAnswers, np.ndarray]:
        """Return one pair for all that got the same ratings, and of each pair, which one that is.

        As if all annotators were one: then nothing else tells pairs apart, and a million answers become some
        hundred patterns.
        """
        rows = np.column_stack([self.kind, self.counts])
        unlike, which, number = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        kind, counts = unlike[:, 0], unlike[:, 1:]
        start = np.concatenate([[0], np.cumsum(counts.sum(axis=1))]).astype(np.int64)
        ratings = np.tile(np.arange(counts.shape[1], dtype=np.int32), len(counts))
        code = np.repeat(ratings, counts.ravel())
        one = SortedAnswers(
            start, np.zeros_like(code), code, np.zeros(1, np.int64), kind, counts, self.relevant,
            number.astype(float),
        )  # fmt: skip
        return one, which.ravel()


def sort_answers(grouped: Grouped) -> SortedAnswers:
    """Return grouped answers sorted by pair; gold on a side that the form does not have raises."""
    order = np.argsort(grouped.pair, kind="stable")
    start = np.concatenate([[0], np.cumsum(grouped.answers)]).astype(np.int64)
    who, number = np.unique(grouped.annotator, return_inverse=True)
    annotator, code = (column[order].astype(np.int32) for column in (number, grouped.code))
    relevant = grouped.grades > 0
    for side, rows, name in ((GOLD_NO, ~relevant, "not relevant"), (GOLD_YES, relevant, "relevant")):
        if (grouped.gold == side).any() and not rows.any():
            raise InputError(
                f"there are gold pairs that are {name}, and no answer of the form says that",
                fix="give the form answers with a grade of 0 and answers with a grade above 0",
            )
    gold = np.where(grouped.gold == GOLD_YES, 2, np.where(grouped.gold == GOLD_NO, 1, 0))
    kind = np.where(grouped.asked, 0, gold).astype(np.int64)
    return SortedAnswers(
        start, annotator, code, who, kind, grouped.counts, relevant, np.ones(len(kind))
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class EmRun:
    """One run of EM: its last posteriors, the parameters that gave them, and how it went."""

    posterior: np.ndarray
    confusion: np.ndarray
    prior: np.ndarray
    likelihood: float
    objective: list[float]
    converged: bool


def run_em(
    answers: SortedAnswers,
    posterior: np.ndarray,
    assumed: np.ndarray,
    prior_pairs: float,
    steps: int,
    tolerance: float,
) -> EmRun:
    """Run EM from a guess at the posteriors, with assumed answers [right, given] of every annotator.

    Gold pairs have a prior of their own, so that they say nothing about how many pairs are relevant, and
    their label is one more answer, whose error rates are estimated: gold teaches and can be wrong.
    """
    from karat.judging.quality.dawid_skene_kernels import step

    ratings = answers.counts.shape[1]
    posterior = posterior.copy()
    table, totals = answers.expected(posterior), answers.totals(posterior)
    has_gold = bool((answers.kind > 0).any())
    number = float((answers.weight * np.diff(answers.start)).sum())
    objective: list[float] = []
    converged = False
    for _ in track(iter(range(steps)), "steps of Dawid–Skene"):
        confusion = shares_of(table.transpose(0, 2, 1) + assumed)
        prior = shares_of(totals[0] + prior_pairs)
        of_gold = shares_of(totals[1:].sum(axis=0) + prior_pairs)
        # Of gold that says no, and of gold that says yes.
        relevant, not_relevant = (
            totals[1:, side].sum(axis=1) for side in (answers.relevant, ~answers.relevant)
        )
        # P(label yes | not relevant) and P(label no | relevant).
        wrong_yes = rate(not_relevant[1], not_relevant.sum())
        wrong_no = rate(relevant[0], relevant.sum())
        label = (
            np.where(answers.relevant, wrong_no, 1 - wrong_yes),
            np.where(answers.relevant, 1 - wrong_no, wrong_yes),
        )
        with np.errstate(divide="ignore"):
            log_confusion, log_prior = np.log(confusion), np.log(prior)
            rows = np.stack([log_prior, *(np.log(of_gold) + np.log(side) for side in label)])
        table, totals = np.zeros_like(table), np.zeros_like(totals)
        likelihood = step(
            answers.start, answers.cell, answers.kind, answers.weight,
            log_confusion.transpose(0, 2, 1).reshape(-1, ratings), rows, posterior,
            table.reshape(-1, ratings), totals,
        )  # fmt: skip
        pairs = np.full(ratings, prior_pairs)
        beliefs = times_log(assumed, log_confusion) + times_log(pairs, log_prior)
        if has_gold:
            beliefs += times_log(pairs, np.log(np.maximum(of_gold, 1e-300)))
            for wrong in (wrong_yes, wrong_no):
                beliefs += GOLD_WRONG * np.log(wrong) + GOLD_RIGHT * np.log1p(-wrong)
        objective.append(float(likelihood + beliefs))
        if len(objective) > 1 and objective[-1] - objective[-2] <= tolerance * number:
            converged = True
            break
    return EmRun(posterior, confusion, prior, float(likelihood), objective, converged)


def rate(wrong: float, total: float) -> float:
    """Return the share of wrong gold labels, with those that are assumed beforehand."""
    return float((wrong + GOLD_WRONG) / (total + GOLD_WRONG + GOLD_RIGHT))


def fit_dawid_skene(
    grouped: Grouped,
    prior: str = CROWD,
    prior_answers: float | str = ESTIMATED,
    prior_right: float = 0.7,
    prior_pairs: float = 1.0,
    steps: int = 1000,
    tolerance: float = 1e-9,
    leave_one_out: bool = True,
    calibrate: bool = True,
) -> tuple[np.ndarray, Fit]:
    """Return the posteriors over the right ratings, pairs by ratings, and the estimates of the annotators.

    The right rating t of a pair is drawn with the probabilities p; annotator w answers g with probability
    π_w[t, g]. EM maximises log likelihood + Σ_w Σ_tg a_tg log π_w[t, g] + Σ_t b log p_t, so a and b are
    answers and pairs that are assumed to have been seen before: Dirichlet priors with the parameters
    1 + a and 1 + b. With ``prior_answers=0``, ``prior_pairs=0``, ``leave_one_out=False`` and
    ``calibrate=False`` it is plain maximum likelihood (Dawid and Skene, Applied Statistics 1979).

    a is centred on the confusion of the whole crowd, which is estimated from the same answers
    (``prior="crowd"``), or on annotators who are right with `prior_right` (``"fixed"``). By default its size
    is estimated too (`crowd_strength`): the more alike annotators are, the more they share. EM is started
    from the shares of each pair's answers, from a crowd of equal annotators, and from the gold; the best end
    is taken. Hidden gold says nothing about how many pairs are relevant; its label counts as one more answer
    of unknown reliability. A pair that is to be judged is decided by its own answers, also where it is gold
    in another task.

    The posterior of a pair is then computed from parameters that were estimated without this pair
    (`leave_one_out`): a pair's own answers must not testify to the reliability of those who gave them.
    `calibrate` weights the evidence so that it fits the gold; see `karat.judging.quality.gold_calibration`.
    """
    answers = sort_answers(grouped)
    ratings = len(grouped.ratings)
    em = (prior_pairs, steps, tolerance)
    estimated = prior_answers == ESTIMATED and prior == CROWD
    size = 10.0 if prior_answers == ESTIMATED else float(prior_answers)
    assumed = pseudo_counts(ratings, size, prior_right)
    starts = [answers.shares]
    if prior == CROWD:
        alike = run_alike(answers, pseudo_counts(ratings, FLOOR, prior_right), em)
        assumed = size * alike.confusion[0]
        starts.append(alike.posterior)
    if (answers.kind > 0).any():
        starts.append(answers.gold_shares)
    best = max((run_em(answers, start, assumed, *em) for start in starts), key=lambda e: e.objective[-1])
    taken = 0
    for _ in range(ROUNDS if prior == CROWD and size else 0):
        table = answers.expected(best.posterior).transpose(0, 2, 1)
        centre = shares_of(table.sum(axis=0) + pseudo_counts(ratings, FLOOR, prior_right))
        size = crowd_strength(table, centre) if estimated else size
        change = np.abs(size * centre - assumed).max() / size
        assumed = size * centre
        taken += len(best.objective)
        best = run_em(answers, best.posterior, assumed, *em)
        if change < SETTLED:
            break
    posterior = left_out_posterior(answers, best, assumed, prior_pairs) if leave_one_out else best.posterior
    calibration = None
    if calibrate:
        posterior, calibration = calibrated(answers, posterior, best.prior)
    all_confusions = np.broadcast_to(shares_of(assumed), (grouped.annotator_count, ratings, ratings)).copy()
    all_confusions[answers.who] = best.confusion
    fit = Fit(
        all_confusions, best.prior, best.likelihood, np.array(best.objective), taken + len(best.objective),
        best.converged, np.bincount(grouped.annotator, minlength=grouped.annotator_count), calibration,
    )  # fmt: skip
    return posterior, fit


def crowd_strength(table: np.ndarray, centre: np.ndarray) -> float:
    """Return how many answers per rating to assume of each annotator, centred on the crowd's confusion.

    The size under which the annotators' answers are most probable when each annotator's confusion is drawn
    around the crowd's (a Dirichlet-multinomial likelihood): small where annotators differ.

    Parameters
    ----------
    table
        Expected numbers of answers, [annotators, right, given].
    centre
        The crowd's confusion, [right, given].

    Examples
    --------
    >>> alike, unlike = np.full((20, 2, 2), 50.0), np.full((20, 2, 2), 50.0)
    >>> unlike[::2] = [[70, 30], [30, 70]]
    >>> unlike[1::2] = [[30, 70], [70, 30]]
    >>> crowd_strength(alike, np.full((2, 2), 0.5)), crowd_strength(unlike, np.full((2, 2), 0.5))
    (400.0, 8.0)
    """
    from scipy.special import gammaln

    def likelihood(size: float) -> float:
        a = np.maximum(size * centre, 1e-12)[None]
        total = gammaln(a.sum(axis=2)) - gammaln(a.sum(axis=2) + table.sum(axis=2))
        return float((total + (gammaln(a + table) - gammaln(a)).sum(axis=2)).sum())

    return max(STRENGTHS, key=likelihood)


def run_alike(answers: SortedAnswers, assumed: np.ndarray, em: tuple[float, int, float]) -> EmRun:
    """Run EM as if all annotators were one: the confusion of the whole crowd."""
    one, which = answers.patterns()
    found = run_em(one, one.shares, assumed, *em)
    return replace(found, posterior=found.posterior[which])


def left_out_posterior(
    answers: SortedAnswers, best: EmRun, assumed: np.ndarray, prior_pairs: float
) -> np.ndarray:
    """Return the posterior of each pair under parameters that were estimated without it.

    Gold pairs are treated like the others: their label is not used, and neither is their own prior.
    """
    from karat.judging.quality.dawid_skene_kernels import left_out

    counts = answers.expected(best.posterior) + assumed.T
    judged = answers.kind == 0
    prior_counts = best.posterior[judged].sum(axis=0) + prior_pairs
    out = np.zeros_like(best.posterior)
    left_out(
        answers.start, answers.annotator, answers.code, counts, counts.sum(axis=1), prior_counts, judged,
        best.posterior, out,
    )  # fmt: skip
    return out


def calibrated(
    answers: SortedAnswers, posterior: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, GoldCalibration | None]:
    """Return posteriors whose evidence is weighted by what gold says, and the calibration."""
    gold = answers.kind > 0
    if not gold.any() or answers.relevant.all() or not answers.relevant.any():
        return posterior, None
    relevance = posterior @ answers.relevant
    evidence = log_odds(relevance) - log_odds(prior @ answers.relevant)
    calibration = calibrate_on_gold(evidence[gold], answers.kind[gold] == 2)
    if calibration is None or calibration.weight >= 1:
        return posterior, calibration
    weighted = calibration.weight * evidence
    share_now = prevalence_of(weighted[~gold], float(prior @ answers.relevant)) if (~gold).any() else 0.5
    wanted = sigmoid(log_odds(share_now) + weighted)
    # Within each side, the shares of its ratings stay.
    sides = np.where(
        answers.relevant, (wanted / np.maximum(relevance, 1e-12))[:, None],
        ((1 - wanted) / np.maximum(1 - relevance, 1e-12))[:, None],
    )  # fmt: skip
    scaled = posterior * sides
    return scaled / scaled.sum(axis=1, keepdims=True), calibration


def shares_of(counts: np.ndarray) -> np.ndarray:
    """Return counts as shares along the last axis; equal ones where the total is 0."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / counts.shape[-1])


def times_log(counts: np.ndarray, logs: np.ndarray) -> float:
    """Return Σ counts · logs, where 0 · log 0 is 0."""
    return float(np.where(counts > 0, counts * np.where(counts > 0, logs, 0.0), 0.0).sum())


def dawid_skene(
    grouped: Grouped, threshold: float = 0.5, even: str = "no", **settings: Any
) -> dict[str, Any]:
    """Return the verdicts of Dawid–Skene's posteriors (see `decide`), with the posteriors and the fit."""
    posterior, fit = fit_dawid_skene(grouped, **settings)
    return {**decide(posterior, grouped, threshold, even), "posterior": posterior, "fit": fit}


def assumed_answers(value: Any) -> float | str:
    """Return a number of assumed answers, or that it is estimated; for `Param.type`."""
    return ESTIMATED if value == ESTIMATED else amount(value)


assumed_answers.__name__ = "number from 0, or estimated"


def centre(value: Any) -> str:
    """Return what the assumed answers are centred on; for `Param.type`."""
    return check_choice(str(value), (CROWD, FIXED), "prior")


def switch(value: Any) -> bool:
    """Return whether something is done; for `Param.type`."""
    return str(check_choice(str(value).lower(), ("true", "false", "1", "0"), "the setting")) in ("true", "1")


switch.__name__ = "value: true or false"


AGGREGATIONS.add(
    "dawid-skene",
    Aggregation(
        "the most probable rating, each annotator weighted by their confusion matrix",
        dawid_skene,
        (
            THRESHOLD,
            EVEN,
            Param("prior", centre, "what the assumed answers are centred on: crowd or fixed", CROWD),
            Param(
                "prior_answers", assumed_answers, "answers per rating assumed of each annotator", ESTIMATED
            ),
            Param("prior_right", share, "the share of right answers where nothing else is known", 0.7),
            Param("prior_pairs", amount, "pairs per rating assumed beforehand", 1.0),
            Param("steps", times, "how many steps of EM at most", 1000),
            Param("tolerance", amount, "stop when a step gains less log likelihood per answer", 1e-9),
            Param("leave_one_out", switch, "judge each pair by parameters estimated without it", True),
            Param("calibrate", switch, "weight the evidence so that it fits the gold", True),
        ),
        weighs_annotators=True,
        probabilistic=True,
    ),
    ["ds", "em"],
)
