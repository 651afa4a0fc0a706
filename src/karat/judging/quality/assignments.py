"""Submitted assignments: how many were approved, and which of their answers count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import Layout, in_percent, or_none, plural, word_for
from karat.forms import AnswerTable, Form
from karat.judging.quality.gold import APPROVE, GOLD_SHARE, GoldCheck, check_gold
from karat.judging.quality.verdicts import AGGREGATIONS
from karat.stats import divide

SUBMITTED = "submitted"
"""The state of an assignment that the annotator has finished."""
EDGES = (1, 5, 10, 15, 25)
"""The largest number of assignments of each bin but the open one (Chun et al. 2022, table B.1)."""


@dataclass(frozen=True, eq=False)
class AssignmentCounts:
    """Annotators binned by how many assignments they submitted.

    Parameters
    ----------
    bins
        The names of the bins: "1", "2–5", "26 and more".
    annotators, submitted, approved
        How many of each; the last row is the total.
    reviewed
        How many assignments have a review; the others count as approved where their gold pairs are right.
    """

    bins: tuple[str, ...]
    annotators: np.ndarray
    submitted: np.ndarray
    approved: np.ndarray
    reviewed: int

    @property
    def ratio(self) -> np.ndarray:
        """The share of submitted assignments that are approved; NaN where there are none."""
        return divide(self.approved.astype(np.float64), self.submitted)

    def records(self) -> list[dict[str, Any]]:
        """Return a record per bin, then one for all."""
        columns = (self.annotators, self.submitted, self.approved, self.ratio)
        return [
            {"hand_ins": name, "workers": annotators, "submitted": submitted, "approved": approved,
             "ratio": or_none(ratio)}
            for name, annotators, submitted, approved, ratio in zip(
                self.bins, *(column.tolist() for column in columns)
            )
        ]  # fmt: skip

    def lay_out(self) -> Layout:
        """Return the printed table."""
        head = ["assignments per annotator", "annotators", "submitted", "approved", "ratio"]
        columns = (self.annotators, self.submitted, self.approved)
        rows = [
            [name, *(f"{column[row]:,}" for column in columns), in_percent(self.ratio[row], 1)]
            for row, name in enumerate(self.bins)
        ]
        return Layout(head, rows, {len(rows) - 2}, 1, set())


def count_assignments(gold: GoldCheck, reviews: Mapping[int, Any] | None = None) -> AssignmentCounts:
    """Return how many annotators submitted how many assignments, and how many of these are approved.

    An assignment is approved when its latest review approves it; without a review, when all its gold pairs
    are right.

    Parameters
    ----------
    gold
        What `check_gold` returns.
    reviews
        Per assignment, the latest review: ("approve" or "reject", by whom, why, when).

    Examples
    --------
    >>> from karat.forms import load_form, make_answers
    >>> from karat.judging import check_gold
    >>> answers = make_answers([0] * 3, [0] * 3, [0, 1, 1], [4, 4, 1], ("ann", "bob"),
    ...                        gold=[1] * 3, assignment=range(3))
    >>> counts = count_assignments(check_gold(answers, load_form("pair")))
    >>> [row for row in counts.lay_out().rows if row[1] != "0"]
    [['1', '1', '1', '1', '100.0%'], ['2–5', '1', '2', '1', '50.0%'], ['all', '2', '3', '2', '66.7%']]
    """
    reviews = reviews or {}
    approved = gold.verdict == APPROVE
    approved &= ~np.isin(gold.assignment, with_verdict(reviews, "reject"))
    approved |= np.isin(gold.assignment, with_verdict(reviews, "approve"))
    per_annotator = np.bincount(gold.assignment_annotator)
    listed = np.flatnonzero(per_annotator)
    bin_of = np.searchsorted(EDGES, per_annotator)
    columns = [
        np.bincount(bin_of[listed], minlength=len(EDGES) + 1),
        np.bincount(bin_of[listed], per_annotator[listed], len(EDGES) + 1).astype(np.int64),
        np.bincount(bin_of[gold.assignment_annotator], approved, len(EDGES) + 1).astype(np.int64),
    ]
    smallest = [1, *(edge + 1 for edge in EDGES)]
    bins = [f"{low}" if low == high else f"{low}–{high}" for low, high in zip(smallest, EDGES)]
    bins += [f"{smallest[-1]} and more", "all"]
    reviewed = int(np.isin(gold.assignment, np.fromiter(reviews, np.int64)).sum())
    annotators, submitted, passed = (np.append(column, column.sum()) for column in columns)
    return AssignmentCounts(tuple(bins), annotators, submitted, passed, reviewed)


@dataclass(frozen=True, eq=False)
class Accepted:
    """The answers that count, and how many were left out and why.

    Parameters
    ----------
    answers
        The answers that count.
    kept
        For each of all answers, whether it counts.
    unfinished, rejected, unapproved, excluded
        How many answers were left out: of assignments that are not submitted yet, that were rejected, that
        were not approved (where only approved ones count), and of annotators who fail the gold check. Each
        answer is counted under the first reason that applies.
    """

    answers: AnswerTable
    kept: np.ndarray
    unfinished: int = 0
    rejected: int = 0
    unapproved: int = 0
    excluded: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, as sentences."""
        reasons = {
            "of unfinished assignments": self.unfinished,
            "of rejected assignments": self.rejected,
            "of assignments that are not approved": self.unapproved,
            "of annotators who fail the gold check": self.excluded,
        }
        return tuple(
            f"{plural(count, 'answer')} {reason} {word_for(count, 'is', 'are')} left out"
            for reason, count in reasons.items()
            if count
        )


def required_gold_share(
    aggregation: str, gold_share: float = GOLD_SHARE, exclude: bool | None = None
) -> float | None:
    """Return the share of gold that annotators must judge right for their answers to count; None: any.

    Parameters
    ----------
    aggregation
        How answers become verdicts.
    gold_share
        The share to require.
    exclude
        Whether annotators who fail the gold check are left out; by default, unless the aggregation weighs
        annotators itself. Dawid–Skene does: it inverts the answers of an annotator who always says the
        opposite and gives little weight to one who does not look, and is better with them than without.

    Examples
    --------
    >>> required_gold_share("majority"), required_gold_share("dawid-skene")
    (0.7, None)
    """
    excluding = not AGGREGATIONS[aggregation].weighs_annotators if exclude is None else exclude
    return gold_share if excluding else None


def accepted_answers(
    answers: AnswerTable,
    form: Form,
    *,
    reviews: Mapping[int, Any] | None = None,
    assignments: Any = None,
    gold_share: float | None = GOLD_SHARE,
    only_if_certain: bool = False,
    captions_wrong: int = 0,
    approved_only: bool = False,
) -> Accepted:
    """Return the answers that count.

    An assignment with a wrong gold pair counts until it is rejected, since ECCV Caption reviews each by hand;
    with `approved_only`, only approved assignments count.

    Parameters
    ----------
    answers
        What was answered.
    form
        What was asked.
    reviews
        Per assignment, the latest review: ("approve" or "reject", by whom, why, when).
    assignments
        The project's assignments, to leave out answers of those that are not submitted yet.
    gold_share, only_if_certain, captions_wrong
        The gold check of annotators, as in `check_gold`, over the assignments that are not rejected; with
        ``gold_share=None`` there is none. `required_gold_share` returns the right one for an aggregation.
    approved_only
        Keep only approved assignments, and answers without a task.

    Examples
    --------
    >>> from karat.forms import load_form, make_answers
    >>> answers = make_answers(
    ...     [0, 1, 2], [0, 1, 2], [0, 0, 1], [4, 1, 4], ("ann", "eve"), assignment=[7, 7, 8])
    >>> accepted = accepted_answers(answers, load_form("pair"), reviews={8: ("reject", "me", "random", 0.0)})
    >>> len(accepted.answers), accepted.notes
    (2, ('1 answer of rejected assignments is left out',))
    """
    reviews = reviews or {}
    kept = np.ones(len(answers), dtype=bool)

    def leave_out(rows: np.ndarray) -> int:
        dropped = int((kept & rows).sum())
        kept[rows] = False
        return dropped

    unfinished = unapproved = excluded = 0
    if assignments is not None:
        waiting = np.asarray(assignments.assignment)[np.asarray(assignments.state) != SUBMITTED]
        unfinished = leave_out(np.isin(answers.assignment, waiting))
    rejected = leave_out(np.isin(answers.assignment, with_verdict(reviews, "reject")))
    if approved_only:
        approved = np.isin(answers.assignment, with_verdict(reviews, "approve"))
        unapproved = leave_out((answers.assignment >= 0) & ~approved)
    if gold_share is not None:
        failed = check_gold(
            answers.where(kept),
            form,
            gold_share=gold_share,
            only_if_certain=only_if_certain,
            captions_wrong=captions_wrong,
        ).excluded
        excluded = leave_out(failed[answers.annotator])
    return Accepted(answers.where(kept), kept, unfinished, rejected, unapproved, excluded)


def with_verdict(reviews: Mapping[int, Any], verdict: str) -> np.ndarray:
    """Return the assignments whose latest review has this verdict.

    >>> with_verdict({3: ("approve", "me", "", 0.0), 4: ("reject", "me", "", 0.0)}, "reject").tolist()
    [4]
    """
    chosen: Iterable[int] = (assignment for assignment, review in reviews.items() if review[0] == verdict)
    return np.fromiter(chosen, np.int64)
