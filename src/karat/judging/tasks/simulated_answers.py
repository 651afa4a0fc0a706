"""What simulated people answered, as columns: as the store takes them, and as it returns them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import plural
from karat.judging.checking import AnswerTable, make_answers

if TYPE_CHECKING:
    from karat.judging.store import AnswerRows


@dataclass(frozen=True, eq=False)
class SimulatedAnswers:
    """What simulated people answered, a row for each answer, sorted by task, person and place.

    Parameters
    ----------
    task, image, caption, gold
        What was asked, as in the plan.
    worker
        Who answered, as an index into `workers`.
    rating, code
        The answer.
    seconds, at
        How long it took, and when it was given.
    details
        Choices of follow-up questions, by the question's code.
    workers
        Everybody's name, whether they answered or not.
    """

    task: np.ndarray
    image: np.ndarray
    caption: np.ndarray
    gold: np.ndarray
    worker: np.ndarray
    rating: np.ndarray
    code: list[str] = field(repr=False)
    seconds: np.ndarray
    at: np.ndarray
    details: list[dict[str, Any]] = field(repr=False)
    workers: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.task)

    def __repr__(self) -> str:
        return f"SimulatedAnswers({plural(len(self), 'answer')} of {len(self.workers):,} people)"

    def rows(self) -> AnswerRows:
        """Return them as `project.answers.record` takes them."""
        from karat.judging.store import AnswerRows

        names = [self.workers[one] for one in self.worker.tolist()]
        return AnswerRows(
            self.task, self.image, self.caption, names, self.code, self.seconds, self.at, self.details
        )  # fmt: skip

    def table(self) -> AnswerTable:
        """Return them as the store would, without one."""
        hand_in = self.task.astype(np.int64) * len(self.workers) + self.worker
        _, slot = np.unique(hand_in, return_inverse=True)
        named = [
            (row, f"{question}.{choice}")
            for row, given in enumerate(self.details)
            for question, choices in given.items()
            for choice in choices
        ]
        names = sorted({name for _, name in named})
        return make_answers(
            self.image,
            self.caption,
            self.worker,
            self.rating,
            self.workers,
            gold=self.gold,
            slot=slot,
            seconds=self.seconds,
            at=self.at,
            detail_row=np.array([row for row, _ in named], np.int64),
            detail=np.array([names.index(name) for _, name in named], np.int64),
            details=tuple(names),
        )
