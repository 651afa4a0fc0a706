"""What goes into the store and comes out of it: a lease and its items, rows to import, the slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

OPEN, LEASED, SUBMITTED = 0, 1, 2
STATES = ("open", "leased", "submitted")
"""What a slot can be: free, in somebody's hands, or handed in."""


@dataclass(frozen=True)
class Item:
    """A pair of a task, as the person who holds it may see it: nothing says whether it is gold.

    Parameters
    ----------
    id
        What `Project.answer` takes.
    position, group
        Its place within the task, and the image of a grid that it belongs to.
    image, caption
        The pair, as indices into the benchmark.
    code
        The answer in effect; None where there is none yet.
    """

    id: int
    position: int
    group: int
    image: int
    caption: int
    code: str | None = None


@dataclass(frozen=True)
class Lease:
    """A slot of a task in somebody's hands until a time.

    Parameters
    ----------
    slot, task
        Which they are.
    worker
        Who holds it.
    token
        What proves it; not shown when the lease is printed.
    expires
        In seconds since 1970.
    items
        The pairs, in the order of the task.
    """

    slot: int
    task: int
    worker: str
    token: str = field(repr=False)
    expires: float
    items: tuple[Item, ...]


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """Answers to be imported, as columns of one length.

    Parameters
    ----------
    task
        The task of each; −1 for answers that belong to none.
    image, caption
        The pair, as indices into the benchmark.
    worker
        The names of those who answered.
    code
        The answers, by the codes of the form.
    seconds
        How long each took; None or NaN where nobody knows.
    at
        When, in seconds since 1970; None for now.
    details
        Per row, the answers to follow-up questions: a choice, a list of choices or a text by the question's
        code. None where there are none.
    kind
        PERSON, MACHINE or DATASET: one for all, or one for each row.

    Examples
    --------
    >>> AnswerRows([-1, -1], [0, 1], [4, 4], ["ann", "ann"], ["yes", "no"])
    AnswerRows(2 answers)
    """

    task: Sequence[int] | np.ndarray
    image: Sequence[int] | np.ndarray
    caption: Sequence[int] | np.ndarray
    worker: Sequence[str] | np.ndarray
    code: Sequence[str] | np.ndarray
    seconds: Sequence[float | None] | np.ndarray | None = None
    at: Sequence[float] | np.ndarray | None = None
    details: Sequence[Mapping[str, Any] | None] | None = None
    kind: str | Sequence[str] | np.ndarray = "person"

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return f"AnswerRows({len(self):,} answers)"


@dataclass(frozen=True, eq=False)
class SlotTable:
    """Every slot of every task, as columns.

    Parameters
    ----------
    slot, task
        Which they are.
    worker
        Who holds it or handed it in, as an index into the names of `Project.workers`; −1: nobody.
    state
        "open", "leased" or "submitted"; a lease that has run out counts as open.
    leased_at, submitted_at
        In seconds since 1970; NaN: not yet.
    """

    slot: np.ndarray
    task: np.ndarray
    worker: np.ndarray
    state: np.ndarray
    leased_at: np.ndarray
    submitted_at: np.ndarray

    def __len__(self) -> int:
        return len(self.slot)

    def __repr__(self) -> str:
        counts = ", ".join(f"{int((self.state == one).sum()):,} {one}" for one in STATES)
        return f"SlotTable({counts})"
