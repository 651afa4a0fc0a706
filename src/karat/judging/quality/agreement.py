"""How far annotators agree: alpha, and the mean kappa over pairs of annotators, with intervals by image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import plural
from karat.forms import NOT_GOLD, PERSON, AnswerTable, Form, Grouped, group
from karat.scores import estimate_record
from karat.stats import (
    SCALES,
    Disagreement,
    Estimate,
    Intervals,
    Kinds,
    disagreement,
    kappa_of,
    number_clusters,
    with_interval,
    with_unseen,
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
        alphas = [
            {"statistic": "alpha", "scale": scale, **estimate_record(alpha)}
            for scale, alpha in self.alpha.items()
        ]
        return [*alphas, {"statistic": "mean kappa", "couples": self.couples, **estimate_record(self.kappa)}]

    def lines(self) -> list[str]:
        """Return the statistics as lines of text."""
        width = max((len(scale) for scale in self.alpha), default=0)
        alphas = [
            f"alpha, {scale.ljust(width)}  {with_interval(alpha)}" for scale, alpha in self.alpha.items()
        ]
        couples = (
            f"mean of {plural(self.couples, 'pair')} of annotators"
            if self.couples
            else "no two annotators share enough pairs"
        )
        return [*alphas, f"kappa  {with_interval(self.kappa)}, {couples}"]


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
    kappa, couples = mean_kappa(grouped, intervals, common)
    return AnnotatorAgreement(alphas(grouped, intervals), kappa, couples, int((grouped.answers > 1).sum()))


def alphas(grouped: Grouped, intervals: Intervals) -> dict[str, Estimate]:
    """Return Krippendorff's alpha by scale; only the nominal one where there are two ratings.

    Pairs with the same number of each rating are the same to alpha, whoever gave them. These kinds come from
    the counts, where `krippendorff_alpha` would sort a row for each of a million pairs.
    """
    kept = grouped.answers > 1
    counts = grouped.counts[kept]
    kind = np.zeros(len(counts), np.int64)
    for column in counts.T:
        kind = np.unique(kind * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    first = np.unique(kind, return_index=True)[1]
    widest = int(grouped.answers.max(initial=0))
    rows = np.full((len(first), widest), np.inf)
    for number, times in enumerate(counts[first]):
        listed = np.repeat(grouped.ratings, times)
        rows[number, : len(listed)] = listed
    rows = with_unseen(rows)
    kinds = Kinds(kind, len(rows), number_clusters(grouped.image, len(kept), kept))
    scales = SCALES[:1] if len(grouped.ratings) < 3 else SCALES
    return {scale: kinds.estimate(Disagreement(rows, scale), intervals) for scale in scales}


def mean_kappa(grouped: Grouped, intervals: Intervals, common: int) -> tuple[Estimate, int]:
    """Return the mean kappa over pairs of annotators with enough common pairs, and how many these are."""
    scale = len(grouped.ratings)
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
    cells = scale * scale
    kind = row * cells + grouped.code[first] * scale + grouped.code[second]
    clusters = number_clusters(grouped.image[grouped.pair], len(grouped.pair), first)
    kinds = Kinds(kind, len(chosen) * cells, clusters)
    row_of, column_of = np.divmod(np.arange(cells), scale)
    worse = disagreement(None, scale)

    def statistic(weights: np.ndarray) -> np.ndarray:
        each = kappa_of(weights.reshape(-1, cells), row_of, column_of, worse).reshape(-1, len(chosen))
        known = ~np.isnan(each)
        total = known.sum(axis=1)
        return np.where(total > 0, np.where(known, each, 0.0).sum(axis=1) / np.maximum(total, 1), np.nan)

    return kinds.estimate(statistic, intervals), len(chosen)


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
