"""Hidden known pairs: which hand-ins pass, and who judges too few of them right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.errors import InputError
from karat.judging.checking.answers import AnswerTable
from karat.judging.checking.wilson import wilson
from karat.judging.forms import Form
from karat.judging.tasks import KNOWN_YES, UNKNOWN
from karat.stats import divide

APPROVE, REVIEW, UNCHECKED = "approve", "review", "unchecked"
"""What the known pairs of a hand-in say: all right; look at it; there were none."""
CONTROL = 0.7
"""The share of control items that a worker must judge right (Hodosh et al. 2013, section 4.3.2)."""


@dataclass(frozen=True, eq=False)
class GoldCheck:
    """What the hidden known pairs say of hand-ins and of people.

    A control item is a known pair or, in a grid, an image with all its known captions, as in Hodosh et al.

    Parameters
    ----------
    slot, slot_worker
        The hand-ins and who gave them.
    slot_items, slot_right, verdict
        Their control items, how many were judged right, and APPROVE, REVIEW or UNCHECKED.
    items, right
        The same for each worker, over all hand-ins.
    low, high
        The 95% Wilson interval of each worker's share.
    excluded
        Whether a worker fails the control rule.
    wrong
        The rows of the answers to known pairs that are wrong.
    """

    slot: np.ndarray
    slot_worker: np.ndarray
    slot_items: np.ndarray
    slot_right: np.ndarray
    verdict: np.ndarray
    items: np.ndarray
    right: np.ndarray
    low: np.ndarray
    high: np.ndarray
    excluded: np.ndarray
    wrong: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """The share of control items that each worker judged right; NaN without any."""
        return divide(self.right.astype(np.float64), self.items)


def check_gold(
    answers: AnswerTable,
    form: Form,
    *,
    wrong: int = 0,
    control: float = CONTROL,
    captions_wrong: int = 0,
    surely: bool = False,
) -> GoldCheck:
    """Return what the hidden known pairs say.

    An answer to a pair known to fit is right when its grade is above 0, to one known not to fit when it
    is 0. A hand-in passes with at most `wrong` control items wrong; otherwise somebody should look at it,
    as for ECCV Caption (section 3.2).

    Parameters
    ----------
    answers
        What was answered.
    form
        What was asked.
    wrong
        How many control items of a hand-in may be wrong.
    control
        The share of control items below which a worker is excluded.
    captions_wrong
        In a grid, how many captions of a control image may be wrong while it counts as judged right.
    surely
        Exclude a worker only when all of the 95% interval lies below `control`, since one of one item
        wrong is 0%.

    Examples
    --------
    >>> from karat.judging import load_form, make_answers
    >>> said = make_answers([0, 1, 2, 0], [0, 1, 2, 0], [0, 0, 0, 1], [4, 3, 1, 1], ("ann", "eve"),
    ...                     gold=[1, -1, 0, 1], slot=[7, 7, 7, 8])
    >>> found = check_gold(said, load_form("pair"))
    >>> dict(zip(found.slot.tolist(), found.verdict.tolist())), found.share.tolist(), found.excluded.tolist()
    ({7: 'approve', 8: 'review'}, [1.0, 0.0], [False, True])
    """
    if not 0 <= control <= 1:
        raise InputError(f"control is {control:g}", fix="give a share such as 0.7")
    rows = np.flatnonzero(answers.gold != UNKNOWN)
    yes = form.grades(answers.rating[rows]) > 0
    bad = yes != (answers.gold[rows] == KNOWN_YES)
    by = [answers.worker[rows], answers.slot[rows]]
    item = number_rows(*by, answers.image[rows]) if form.layout == "grid" else np.arange(len(rows))
    count = int(item.max(initial=-1)) + 1
    allowed = captions_wrong if form.layout == "grid" else 0
    fine = np.bincount(item, bad, count) <= allowed
    first = np.unique(item, return_index=True)[1]
    worker, at = (column[first] for column in by)
    slot, begin = np.unique(answers.slot, return_index=True)
    there = np.searchsorted(slot, at)
    slot_items, slot_right = (
        np.bincount(there, weights, len(slot)).astype(np.int64) for weights in (None, fine)
    )
    verdict = np.where(slot_items - slot_right <= wrong, APPROVE, REVIEW)
    verdict = np.where(slot_items == 0, UNCHECKED, verdict)
    people = len(answers.workers)
    items, right = (np.bincount(worker, weights, people).astype(np.int64) for weights in (None, fine))
    low, high = wilson(right, items)
    kept = slot >= 0
    return GoldCheck(
        slot[kept], answers.worker[begin][kept], slot_items[kept], slot_right[kept], verdict[kept],
        items, right, low, high,
        (items > 0) & ((high if surely else divide(right.astype(np.float64), items)) < control - 1e-12),
        rows[bad],
    )  # fmt: skip


def number_rows(*columns: np.ndarray) -> np.ndarray:
    """Return a number from 0 for each different row of whole numbers, one column after the other.

    >>> number_rows(np.array([3, 3, 9]), np.array([0, 0, 0])).tolist()
    [0, 0, 1]
    """
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        place = np.unique(column, return_inverse=True)[1]
        number = np.unique(number * (place.max(initial=0) + 1) + place, return_inverse=True)[1]
    return number
