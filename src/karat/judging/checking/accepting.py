"""Which answers count: neither rejected nor unfinished hand-ins, nor people who fail the control rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import plural
from karat.judging.checking.answers import AnswerTable
from karat.judging.checking.gold_check import CONTROL, check_gold
from karat.judging.forms import Form

SUBMITTED = "submitted"


@dataclass(frozen=True, eq=False)
class Accepted:
    """The answers that count, and how many were left out and why.

    Parameters
    ----------
    answers
        Those that count.
    kept
        Of all answers that there were, whether each counts.
    unfinished, rejected, unapproved, excluded
        How many answers were left out: of hand-ins not handed in yet, rejected ones, ones that nobody
        approved (where only approved ones count), and of people who fail the control rule. Each answer is
        counted under the first that holds.
    """

    answers: AnswerTable
    kept: np.ndarray
    unfinished: int = 0
    rejected: int = 0
    unapproved: int = 0
    excluded: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, in words."""
        reasons = {
            "of unfinished tasks": self.unfinished,
            "of rejected hand-ins": self.rejected,
            "of hand-ins that nobody approved": self.unapproved,
            "of people who fail the control rule": self.excluded,
        }
        return tuple(
            f"{plural(n, 'answer')} {why} {'is' if n == 1 else 'are'} left out"
            for why, n in reasons.items()
            if n
        )


def control_for(aggregation: str) -> float | None:
    """Return the control rule that goes with a way of aggregating: none where it weighs people itself.

    Dawid–Skene turns the answers of somebody who always says the opposite round, and makes little of those
    of somebody who does not look: it gets better with them than without.

    >>> control_for("majority"), control_for("dawid-skene")
    (0.7, None)
    """
    from karat.judging.checking.verdicts import AGGREGATIONS

    return None if AGGREGATIONS[aggregation].weighs_people else CONTROL


def accepted_answers(
    answers: AnswerTable,
    form: Form,
    *,
    reviews: Mapping[int, Any] | None = None,
    slots: Any = None,
    control: float | None = CONTROL,
    surely: bool = False,
    captions_wrong: int = 0,
    approved_only: bool = False,
) -> Accepted:
    """Return the answers that count.

    A hand-in that failed a known pair stays in until somebody rejects it, since ECCV Caption looks at each
    by hand; `approved_only` leaves out whatever was not approved.

    Parameters
    ----------
    answers
        What was answered.
    form
        What was asked.
    reviews
        Per slot, the latest verdict first: ("approve" or "reject", by whom, why, when).
    slots
        The project's slots, to leave out answers of those not handed in yet.
    control, surely, captions_wrong
        The control rule, as `check_gold` takes it, over the hand-ins that are not rejected; None: no rule.
        `control_for` says which one goes with a way of aggregating.
    approved_only
        Take only hand-ins that were approved, and answers without a task.

    Examples
    --------
    >>> from karat.judging import load_form, make_answers
    >>> said = make_answers([0, 1, 2], [0, 1, 2], [0, 0, 1], [4, 1, 4], ("ann", "eve"), slot=[7, 7, 8])
    >>> found = accepted_answers(said, load_form("pair"), reviews={8: ("reject", "me", "random", 0.0)})
    >>> len(found.answers), found.notes
    (2, ('1 answer of rejected hand-ins is left out',))
    """
    reviews = reviews or {}
    kept = np.ones(len(answers), dtype=bool)

    def leave_out(rows: np.ndarray) -> int:
        dropped = int((kept & rows).sum())
        kept[rows] = False
        return dropped

    unfinished = rejected = unapproved = excluded = 0
    if slots is not None:
        waiting = np.asarray(slots.slot)[np.asarray(slots.state) != SUBMITTED]
        unfinished = leave_out(np.isin(answers.slot, waiting))
    rejected = leave_out(np.isin(answers.slot, with_verdict(reviews, "reject")))
    if approved_only:
        approved = np.isin(answers.slot, with_verdict(reviews, "approve"))
        unapproved = leave_out((answers.slot >= 0) & ~approved)
    if control is not None:
        failed = check_gold(
            answers.where(kept), form, control=control, surely=surely, captions_wrong=captions_wrong
        ).excluded
        excluded = leave_out(failed[answers.worker])
    return Accepted(answers.where(kept), kept, unfinished, rejected, unapproved, excluded)


def with_verdict(reviews: Mapping[int, Any], verdict: str) -> np.ndarray:
    """Return the slots whose latest review says so.

    >>> with_verdict({3: ("approve", "me", "", 0.0), 4: ("reject", "me", "", 0.0)}, "reject").tolist()
    [4]
    """
    found: Iterable[int] = (slot for slot, review in reviews.items() if review[0] == verdict)
    return np.fromiter(found, np.int64)
