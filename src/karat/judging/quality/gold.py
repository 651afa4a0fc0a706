"""Hidden gold pairs: which assignments pass, and which annotators judge too few of them right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.errors import InputError
from karat.forms import GOLD_YES, NOT_GOLD, AnswerTable, Form
from karat.stats import divide, wilson

APPROVE, REVIEW, UNCHECKED = "approve", "review", "unchecked"
"""The outcome for an assignment: its gold is right; it should be reviewed; it has no gold."""
GOLD_SHARE = 0.7
"""The share of gold items that an annotator must judge right (Hodosh et al. 2013, section 4.3.2)."""


@dataclass(frozen=True, eq=False)
class GoldCheck:
    """How assignments and annotators did on hidden gold.

    A gold item is a gold pair or, in a grid, an image with all its gold captions, as in Hodosh et al.

    Parameters
    ----------
    assignment, assignment_annotator
        The assignments and their annotators.
    assignment_items, assignment_right, verdict
        Their gold items, how many were judged right, and APPROVE, REVIEW or UNCHECKED.
    items, right
        The same for each annotator, over all assignments.
    low, high
        The 95% Wilson interval of each annotator's share.
    excluded
        Whether an annotator fails the gold check.
    wrong
        The rows of the answers to gold pairs that are wrong.
    """

    assignment: np.ndarray
    assignment_annotator: np.ndarray
    assignment_items: np.ndarray
    assignment_right: np.ndarray
    verdict: np.ndarray
    items: np.ndarray
    right: np.ndarray
    low: np.ndarray
    high: np.ndarray
    excluded: np.ndarray
    wrong: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """The share of gold items that each annotator judged right; NaN without any."""
        return divide(self.right.astype(np.float64), self.items)


def check_gold(
    answers: AnswerTable,
    form: Form,
    *,
    wrong: int = 0,
    gold_share: float = GOLD_SHARE,
    captions_wrong: int = 0,
    only_if_certain: bool = False,
) -> GoldCheck:
    """Return how assignments and annotators did on hidden gold.

    An answer to a pair that is known to fit is right when its grade is above 0; an answer to a pair that is
    known not to fit is right when its grade is 0. An assignment passes with at most `wrong` gold items
    wrong; otherwise it should be reviewed, as for ECCV Caption (section 3.2).

    Parameters
    ----------
    answers
        What was answered.
    form
        What was asked.
    wrong
        How many gold items of an assignment may be wrong.
    gold_share
        The share of gold items that an annotator must judge right; below it, the annotator is excluded.
    captions_wrong
        In a grid, how many captions of a gold image may be wrong while it counts as judged right.
    only_if_certain
        Exclude an annotator only when all of the 95% interval lies below `gold_share`, since one wrong item
        of one is 0%.

    Examples
    --------
    >>> from karat.forms import load_form, make_answers
    >>> answers = make_answers([0, 1, 2, 0], [0, 1, 2, 0], [0, 0, 0, 1], [4, 3, 1, 1], ("ann", "eve"),
    ...                        gold=[1, -1, 0, 1], assignment=[7, 7, 7, 8])
    >>> gold = check_gold(answers, load_form("pair"))
    >>> dict(zip(gold.assignment.tolist(), gold.verdict.tolist()))
    {7: 'approve', 8: 'review'}
    >>> gold.share.tolist(), gold.excluded.tolist()
    ([1.0, 0.0], [False, True])
    """
    check_gold_share(gold_share)
    rows = np.flatnonzero(answers.gold != NOT_GOLD)
    yes = form.grades(answers.rating[rows]) > 0
    bad = yes != (answers.gold[rows] == GOLD_YES)
    by = [answers.annotator[rows], answers.assignment[rows]]
    item = number_rows(*by, answers.image[rows]) if form.layout == "grid" else np.arange(len(rows))
    count = int(item.max(initial=-1)) + 1
    allowed = captions_wrong if form.layout == "grid" else 0
    item_right = np.bincount(item, bad, count) <= allowed
    first = np.unique(item, return_index=True)[1]
    item_annotator, item_assignment = (column[first] for column in by)
    assignment, begin = np.unique(answers.assignment, return_index=True)
    place = np.searchsorted(assignment, item_assignment)
    assignment_items, assignment_right = (
        np.bincount(place, weights, len(assignment)).astype(np.int64) for weights in (None, item_right)
    )
    verdict = np.where(assignment_items - assignment_right <= wrong, APPROVE, REVIEW)
    verdict = np.where(assignment_items == 0, UNCHECKED, verdict)
    items, right = (
        np.bincount(item_annotator, weights, len(answers.annotators)).astype(np.int64)
        for weights in (None, item_right)
    )
    low, high = wilson(right, items)
    judged_right = high if only_if_certain else divide(right.astype(np.float64), items)
    kept = assignment >= 0
    return GoldCheck(
        assignment[kept], answers.annotator[begin][kept], assignment_items[kept], assignment_right[kept],
        verdict[kept], items, right, low, high, (items > 0) & (judged_right < gold_share - 1e-12), rows[bad],
    )  # fmt: skip


def check_gold_share(value: float) -> None:
    """Raise an error if the required share of gold is not a share."""
    if not 0 <= value <= 1:
        raise InputError(f"gold_share is {value:g}", fix="give a share such as 0.7")


def number_rows(*columns: np.ndarray) -> np.ndarray:
    """Return a number, from 0, for each distinct row of the given columns of whole numbers.

    >>> number_rows(np.array([3, 3, 9]), np.array([0, 0, 0])).tolist()
    [0, 0, 1]
    """
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        place = np.unique(column, return_inverse=True)[1]
        number = np.unique(number * (place.max(initial=0) + 1) + place, return_inverse=True)[1]
    return number
