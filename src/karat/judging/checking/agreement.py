"""How far the people of a project agree: alpha, and the mean kappa of every two, drawn by image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.judging.checking.answers import PERSON, AnswerTable
from karat.judging.checking.grouped import Grouped, group
from karat.judging.forms import Form
from karat.judging.tasks import UNKNOWN
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
)

COMMON = 20
"""Two people's kappa is looked at from so many common pairs on."""
MOST_PAIRS = 200
"""Of people: those with most common pairs."""
RESAMPLES = 1000
"""Enough for the second digit, and two million answers take seconds."""


@dataclass(frozen=True, eq=False)
class PeopleAgreement:
    """Agreement of the people of a project.

    Parameters
    ----------
    alpha
        Krippendorff's alpha by scale.
    kappa
        The mean of Cohen's kappa of every two people with enough common pairs; NaN where there are none.
    couples
        How many twos of people that is.
    pairs
        How many pairs have two answers or more.
    """

    alpha: dict[str, Estimate]
    kappa: Estimate
    couples: int
    pairs: int

    def records(self) -> list[dict[str, Any]]:
        """Return a record per number."""
        out = [
            {"statistic": "alpha", "scale": scale, **estimate_record(one)}
            for scale, one in self.alpha.items()
        ]
        return [*out, {"statistic": "mean kappa", "couples": self.couples, **estimate_record(self.kappa)}]

    def lines(self) -> list[str]:
        """Return the figures as lines of text."""
        width = max((len(scale) for scale in self.alpha), default=0)
        out = [f"alpha, {scale.ljust(width)}  {with_interval(one)}" for scale, one in self.alpha.items()]
        couples = (
            f"mean of {self.couples:,} pairs of people"
            if self.couples
            else "no two people share enough pairs"
        )
        return [*out, f"kappa  {with_interval(self.kappa)}, {couples}"]


def people_agreement(
    answers: AnswerTable, form: Form, intervals: Intervals | None = None, common: int = COMMON
) -> PeopleAgreement:
    """Return how far people agree on the pairs that are not known, with intervals drawn by image.

    Parameters
    ----------
    answers
        What was answered; only people count, neither machines nor other judged sets.
    form
        What was asked.
    intervals
        How intervals are made; by default 95%, percentile, 1,000 resamples of images.
    common
        How many pairs two people must have in common for their kappa to count.

    Examples
    --------
    >>> from karat.judging import load_form, make_answers
    >>> said = np.tile([1, 2, 3, 4], 10)
    >>> both = make_answers(np.tile(np.arange(40), 2), np.zeros(80), np.repeat([0, 1], 40),
    ...                     np.concatenate([said, np.where(np.arange(40) < 4, 1, said)]), ("ann", "bob"))
    >>> found = people_agreement(both, load_form("pair"))
    >>> round(found.alpha["nominal"].value, 2), round(found.kappa.value, 2), found.couples
    (0.9, 0.9, 1)
    """
    made = intervals or Intervals(resamples=RESAMPLES)
    person = np.array([kind == PERSON for kind in answers.kinds], dtype=bool)
    found = group(answers.where((answers.gold == UNKNOWN) & person[answers.worker]), form)
    kappa, couples = mean_kappa(found, made, common)
    return PeopleAgreement(alphas(found, made), kappa, couples, int((found.answers > 1).sum()))


def alphas(found: Grouped, intervals: Intervals) -> dict[str, Estimate]:
    """Return Krippendorff's alpha by scale; one scale where there are two ratings.

    Pairs with the same numbers of each rating are alike to alpha, whoever gave them; that is found from
    the counts, where `krippendorff_alpha` would sort a row for each of a million pairs.
    """
    kept = found.answers > 1
    counts = found.counts[kept]
    kind = np.zeros(len(counts), np.int64)
    for column in counts.T:
        kind = np.unique(kind * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    first = np.unique(kind, return_index=True)[1]
    widest = int(found.answers.max(initial=0))
    rows = np.full((len(first), widest), np.inf)
    for number, times in enumerate(counts[first]):
        listed = np.repeat(found.ratings, times)
        rows[number, : len(listed)] = listed
    kinds = Kinds(kind, len(first), number_clusters(found.image, len(kept), kept))
    scales = SCALES[:1] if len(found.ratings) < 3 else SCALES
    return {scale: kinds.estimate(Disagreement(rows, scale), intervals) for scale in scales}


def mean_kappa(found: Grouped, intervals: Intervals, common: int) -> tuple[Estimate, int]:
    """Return the mean of the kappas of every two people with enough common pairs, and how many twos."""
    scale = len(found.ratings)
    first, second = couples_of(found)
    people = int(found.worker.max(initial=-1)) + 1
    # The smaller number first: who of two is listed first in a pair must not matter.
    swap = found.worker[first] > found.worker[second]
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    key, couple, size = np.unique(
        found.worker[first] * people + found.worker[second], return_inverse=True, return_counts=True
    )
    chosen = np.flatnonzero(size >= common)
    chosen = np.sort(chosen[np.argsort(-size[chosen], kind="stable")][:MOST_PAIRS])
    place = np.full(len(key), -1)
    place[chosen] = np.arange(len(chosen))
    kept = place[couple] >= 0
    first, second, row = first[kept], second[kept], place[couple[kept]]
    cells = scale * scale
    kind = row * cells + found.code[first] * scale + found.code[second]
    clusters = number_clusters(found.image[found.pair], len(found.pair), first)
    kinds = Kinds(kind, len(chosen) * cells, clusters)
    row_of, column_of = np.divmod(np.arange(cells), scale)
    worse = disagreement(None, scale)

    def statistic(weights: np.ndarray) -> np.ndarray:
        each = kappa_of(weights.reshape(-1, cells), row_of, column_of, worse).reshape(-1, len(chosen))
        known = ~np.isnan(each)
        total = known.sum(axis=1)
        return np.where(total > 0, np.where(known, each, 0.0).sum(axis=1) / np.maximum(total, 1), np.nan)

    return kinds.estimate(statistic, intervals), len(chosen)


def couples_of(found: Grouped) -> tuple[np.ndarray, np.ndarray]:
    """Return every two answers of different people about one pair, as rows."""
    order = np.argsort(found.pair, kind="stable")
    left = (np.cumsum(found.answers) - 1)[found.pair[order]] - np.arange(len(order))
    one, two = [], []
    at = np.arange(len(order))
    for apart in range(1, int(found.answers.max(initial=0))):
        # Only answers with so many others of the same pair behind them are left.
        at = at[left[at] >= apart]
        one.append(order[at])
        two.append(order[at + apart])
    first, second = (np.concatenate([np.zeros(0, np.int64), *side]) for side in (one, two))
    other = found.worker[first] != found.worker[second]
    return first[other], second[other]
