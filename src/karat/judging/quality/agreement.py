"""How far annotators agree: alpha, and the mean kappa over pairs of annotators, with intervals by image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import plural
from karat.forms import NOT_GOLD, PERSON, AnswerTable, Form, Grouped, group
from karat.stats import (
    Estimate,
    Intervals,
    alpha_lines,
    alpha_records,
    alphas_of_counts,
    estimate_record,
    mean_kappa,
    with_interval,
)

MIN_COMMON = 20
"""How many pairs two annotators must have in common for their kappa to count."""
MAX_COUPLES = 200
"""Pairs of annotators in the mean kappa: those with most common pairs."""
RESAMPLES = 1000
"""Enough for the second digit; two million answers take seconds."""


@dataclass(frozen=True, eq=False)
class AnnotatorAgreement:
    """Agreement of the annotators of a project who are people.

    Parameters
    ----------
    alpha
        Krippendorff's alpha by scale.
    kappa
        The mean of Cohen's kappa over pairs of annotators with enough common pairs; NaN where there are none.
    couples
        How many pairs of annotators that is.
    pairs
        How many image–caption pairs have two answers or more.
    """

    alpha: dict[str, Estimate]
    kappa: Estimate
    couples: int
    pairs: int

    def records(self) -> list[dict[str, Any]]:
        """Return a record per statistic."""
        kappa = {"statistic": "mean kappa", "couples": self.couples, **estimate_record(self.kappa)}
        return [*alpha_records(self.alpha), kappa]

    def lines(self) -> list[str]:
        """Return the statistics as lines of text."""
        couples = (
            f"mean of {plural(self.couples, 'pair')} of annotators"
            if self.couples
            else "no two annotators share enough pairs"
        )
        return [*alpha_lines(self.alpha), f"kappa  {with_interval(self.kappa)}, {couples}"]


def annotator_agreement(
    answers: AnswerTable, form: Form, intervals: Intervals | None = None, common: int = MIN_COMMON
) -> AnnotatorAgreement:
    """Return how far annotators agree on pairs that are not gold, with intervals from resampled images.

    Parameters
    ----------
    answers
        What was answered; only people count, not machine judges, adjudicators and other judged data sets.
    form
        What was asked.
    intervals
        How intervals are made; by default 95%, percentile, 1,000 resamples of images.
    common
        How many pairs two annotators must have in common for their kappa to count.

    Examples
    --------
    >>> from karat.forms import load_form, make_answers
    >>> ratings = np.tile([1, 2, 3, 4], 10)
    >>> answers = make_answers(
    ...     np.tile(np.arange(40), 2), np.zeros(80), np.repeat([0, 1], 40),
    ...     np.concatenate([ratings, np.where(np.arange(40) < 4, 1, ratings)]), ("ann", "bob"))
    >>> agreement = annotator_agreement(answers, load_form("pair"))
    >>> round(agreement.alpha["nominal"].value, 2), round(agreement.kappa.value, 2), agreement.couples
    (0.9, 0.9, 1)
    """
    intervals = intervals or Intervals(resamples=RESAMPLES)
    person = np.array([kind == PERSON for kind in answers.kinds], dtype=bool)
    grouped = group(answers.where((answers.gold == NOT_GOLD) & person[answers.annotator]), form)
    alpha = alphas_of_counts(grouped.counts, grouped.ratings, grouped.image, intervals)
    kappa, couples = kappa_of_couples(grouped, intervals, common)
    return AnnotatorAgreement(alpha, kappa, couples, int((grouped.answers > 1).sum()))


def kappa_of_couples(grouped: Grouped, intervals: Intervals, common: int) -> tuple[Estimate, int]:
    """Return the mean kappa over pairs of annotators with enough common pairs, and how many these are."""
    first, second = couples_of(grouped)
    annotators = int(grouped.annotator.max(initial=-1)) + 1
    # The smaller number first: the order of two annotators within a pair must not matter.
    swap = grouped.annotator[first] > grouped.annotator[second]
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    key, couple, size = np.unique(
        grouped.annotator[first] * annotators + grouped.annotator[second],
        return_inverse=True,
        return_counts=True,
    )
    chosen = np.flatnonzero(size >= common)
    chosen = np.sort(chosen[np.argsort(-size[chosen], kind="stable")][:MAX_COUPLES])
    place = np.full(len(key), -1)
    place[chosen] = np.arange(len(chosen))
    kept = place[couple] >= 0
    first, second, row = first[kept], second[kept], place[couple[kept]]
    codes = grouped.code[first], grouped.code[second]
    images = grouped.image[grouped.pair[first]]
    return mean_kappa(*codes, row, len(chosen), len(grouped.ratings), images, intervals), len(chosen)


def couples_of(grouped: Grouped) -> tuple[np.ndarray, np.ndarray]:
    """Return every two answers of different annotators about one pair, as rows."""
    order = np.argsort(grouped.pair, kind="stable")
    left = (np.cumsum(grouped.answers) - 1)[grouped.pair[order]] - np.arange(len(order))
    firsts, seconds = [], []
    at = np.arange(len(order))
    for apart in range(1, int(grouped.answers.max(initial=0))):
        # Keep the answers that have at least this many others of the same pair after them.
        at = at[left[at] >= apart]
        firsts.append(order[at])
        seconds.append(order[at + apart])
    first, second = (np.concatenate([np.zeros(0, np.int64), *side]) for side in (firsts, seconds))
    other = grouped.annotator[first] != grouped.annotator[second]
    return first[other], second[other]
