"""What people and machines answered, as columns: what quality, aggregation and publishing read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from karat.judging.tasks import UNKNOWN

PERSON, MACHINE, DATASET, ADJUDICATOR = "person", "machine", "dataset", "adjudicator"
"""Who can answer: somebody, a machine judge, another judged set that is read as one more annotator, or
somebody who decides where others disagree (see `karat.judging.checking.verdicts`)."""


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """The answers in effect, a row each: what was undone or replaced is in the store only.

    Parameters
    ----------
    image, caption
        The pair, as indices into the benchmark.
    worker
        Who answered, as an index into `workers`.
    rating
        On the form's scale.
    gold
        UNKNOWN, KNOWN_NO or KNOWN_YES.
    slot
        Which hand-in of which task the answer belongs to; −1 for answers without a task.
    seconds
        How long it took; NaN where nobody knows.
    at
        When, in seconds since 1970.
    workers, kinds
        Their names, and PERSON, MACHINE, DATASET or ADJUDICATOR for each.
    detail_row, detail
        Choices of follow-up questions: the row of the answer, and an index into `details`.
    details
        "question.choice", such as "shortcomings.not_in_image".
    """

    image: np.ndarray
    caption: np.ndarray
    worker: np.ndarray
    rating: np.ndarray
    gold: np.ndarray
    slot: np.ndarray
    seconds: np.ndarray
    at: np.ndarray
    workers: tuple[str, ...]
    kinds: tuple[str, ...]
    detail_row: np.ndarray
    detail: np.ndarray
    details: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return f"AnswerTable({len(self):,} answers of {len(self.workers):,} people)"

    def where(self, rows: np.ndarray) -> AnswerTable:
        """Return only some rows, given as booleans; the people keep their numbers."""
        rows = np.asarray(rows, dtype=bool)
        renumber = np.cumsum(rows) - 1
        kept = rows[self.detail_row]
        names = ("image", "caption", "worker", "rating", "gold", "slot", "seconds", "at")
        columns = {name: getattr(self, name)[rows] for name in names}
        return replace(
            self, **columns, detail_row=renumber[self.detail_row[kept]], detail=self.detail[kept]
        )  # fmt: skip

    @property
    def asked(self) -> AnswerTable:
        """Without the hidden known pairs."""
        return self.where(self.gold == UNKNOWN)


def make_answers(
    image: np.ndarray,
    caption: np.ndarray,
    worker: np.ndarray,
    rating: np.ndarray,
    workers: tuple[str, ...],
    *,
    gold: np.ndarray | None = None,
    slot: np.ndarray | None = None,
    seconds: np.ndarray | None = None,
    at: np.ndarray | None = None,
    kinds: tuple[str, ...] | None = None,
    detail_row: np.ndarray | None = None,
    detail: np.ndarray | None = None,
    details: tuple[str, ...] = (),
) -> AnswerTable:
    """Return a table from the columns that are known; the others say that nothing is.

    Examples
    --------
    >>> make_answers([0, 0], [3, 3], [0, 1], [4, 1], ("ann", "eve"))
    AnswerTable(2 answers of 2 people)
    """
    n = len(image)
    empty = np.zeros(0, np.int64)

    def column(values: np.ndarray | None, default: float, dtype: type) -> np.ndarray:
        return np.full(n, default, dtype) if values is None else np.asarray(values, dtype)

    return AnswerTable(
        np.asarray(image, np.int64),
        np.asarray(caption, np.int64),
        np.asarray(worker, np.int64),
        np.asarray(rating, np.float64),
        column(gold, UNKNOWN, np.int64),
        column(slot, -1, np.int64),
        column(seconds, np.nan, np.float64),
        column(at, 0.0, np.float64),
        tuple(workers),
        (PERSON,) * len(workers) if kinds is None else tuple(kinds),
        empty if detail_row is None else np.asarray(detail_row, np.int64),
        empty if detail is None else np.asarray(detail, np.int64),
        tuple(details),
    )


def split_adjudicated(answers: AnswerTable) -> tuple[AnswerTable, AnswerTable]:
    """Return the answers of everybody else, and those of adjudicators.

    An adjudicator saw what others answered, so the answer is no vote and says nothing about agreement.

    >>> said = make_answers([0, 0], [0, 0], [0, 1], [1, 4], ("ann", "boss"), kinds=("person", ADJUDICATOR))
    >>> [len(one) for one in split_adjudicated(said)]
    [1, 1]
    """
    decides = np.array([kind == ADJUDICATOR for kind in answers.kinds], dtype=bool)
    if not decides.any():
        return answers, answers.where(np.zeros(len(answers), bool))
    rows = decides[answers.worker]
    return answers.where(~rows), answers.where(rows)
