"""Pairs on which people disagree, the most first, and what each of them said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat.judging import Aggregated, AnswerTable, Project, make_answers
from karat.judging.checking import ADJUDICATOR
from karat.judging.pools import find, key_of

MOST = 10_000
"""Pairs that are kept; when they are decided, the next come."""


def nothing() -> AnswerTable:
    """Return a table without answers."""
    empty = np.zeros(0, np.int64)
    return make_answers(empty, empty, empty, empty, ())


@dataclass(frozen=True, eq=False)
class Disagreements:
    """Pairs with different answers.

    Parameters
    ----------
    image, caption
        The pairs, those that nobody decided and with most disagreement first; of equal ones, those whose
        verdict is closest.
    share
        The share of two answers that differ.
    relevance
        What the aggregation says; from a half on relevant.
    answers
        What was said about them, by those whose answers count.
    total
        How many such pairs there are; no more than `MOST` are kept.
    """

    image: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    caption: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    share: np.ndarray = field(default_factory=lambda: np.zeros(0))
    relevance: np.ndarray = field(default_factory=lambda: np.zeros(0))
    answers: AnswerTable = field(default_factory=nothing)
    total: int = 0

    def __len__(self) -> int:
        return len(self.image)

    def row_of(self, image: int, caption: int) -> int | None:
        """Return the place of a pair; None where nobody disagrees about it."""
        at = np.flatnonzero((self.image == image) & (self.caption == caption))
        return int(at[0]) if len(at) else None


def find_disagreements(verdicts: Aggregated, answers: AnswerTable) -> Disagreements:
    """Return the pairs of the verdicts on which answers differ.

    Parameters
    ----------
    verdicts
        Of each pair; they know how far answers differ.
    answers
        Those that count.
    """
    differ = np.flatnonzero(verdicts.disagreement > 0)
    close = np.abs(verdicts.relevance[differ] - 0.5)
    by = (close.round(6), -verdicts.disagreement[differ].round(6), verdicts.adjudicated[differ])
    order = differ[np.lexsort(by)][:MOST]
    keys = np.sort(key_of(verdicts.image[order], verdicts.caption[order]))
    said = answers.where(find(keys, key_of(answers.image, answers.caption)) >= 0)
    return Disagreements(
        verdicts.image[order],
        verdicts.caption[order],
        verdicts.disagreement[order],
        verdicts.relevance[order],
        said,
        len(differ),
    )


def voices(found: Disagreements, image: int, caption: int, project: Project) -> list[dict[str, Any]]:
    """Return what each said about a pair, adjudicators left out."""
    said, form = found.answers, project.form
    rows = np.flatnonzero((said.image == image) & (said.caption == caption))
    texts = {f"{q.code}.{c.code}": c.text for q in form.follow_ups for c in q.choices}
    more: dict[int, list[str]] = {}
    for row, detail in zip(said.detail_row.tolist(), said.detail.tolist()):
        more.setdefault(row, []).append(texts.get(said.details[detail], said.details[detail]))
    return [
        {"worker": said.workers[said.worker[row]], "kind": said.kinds[said.worker[row]],
         "code": (code := form.code_of(said.rating[row])), "text": form.choice(code).text,
         "details": more.get(row, []),
         "seconds": None if np.isnan(said.seconds[row]) else float(said.seconds[row])}
        for row in rows.tolist() if said.kinds[said.worker[row]] != ADJUDICATOR
    ]  # fmt: skip
