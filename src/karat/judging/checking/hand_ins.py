"""Hand-ins by how many their worker gave: table B.1 of ECCV Caption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import Layout, or_none
from karat.judging.checking.accepting import with_verdict
from karat.judging.checking.gold_check import APPROVE, GoldCheck
from karat.judging.checking.worker_table import in_percent
from karat.stats import divide

EDGES = (1, 5, 10, 15, 25)
"""The last number of hand-ins of each bin but the open one (Chun et al. 2022, table B.1)."""


@dataclass(frozen=True, eq=False)
class HandIns:
    """Workers binned by their number of hand-ins.

    Parameters
    ----------
    bins
        What each is called: "1", "2–5", "26 and more".
    workers, submitted, approved
        How many of each; the last row is all of them.
    reviewed
        How many hand-ins somebody looked at; the others count as approved where their known pairs are right.
    """

    bins: tuple[str, ...]
    workers: np.ndarray
    submitted: np.ndarray
    approved: np.ndarray
    reviewed: int

    @property
    def ratio(self) -> np.ndarray:
        """The share of hand-ins that were approved; NaN where there are none."""
        return divide(self.approved.astype(np.float64), self.submitted)

    def records(self) -> list[dict[str, Any]]:
        """Return a record per bin, then one for all."""
        columns = (
            self.workers.tolist(),
            self.submitted.tolist(),
            self.approved.tolist(),
            self.ratio.tolist(),
        )
        return [
            {"hand_ins": name, "workers": w, "submitted": s, "approved": a, "ratio": or_none(r)}
            for name, w, s, a, r in zip(self.bins, *columns)
        ]

    def lay_out(self) -> Layout:
        """Return the table as people read it."""
        head = ["hand-ins per worker", "workers", "submitted", "approved", "ratio"]
        rows = [
            [one["hand_ins"], *(f"{one[key]:,}" for key in ("workers", "submitted", "approved")),
             in_percent(ratio, 1)]
            for one, ratio in zip(self.records(), self.ratio.tolist())
        ]  # fmt: skip
        return Layout(head, rows, {len(rows) - 2}, 1, set())


def hand_ins(
    gold: GoldCheck, reviews: Mapping[int, Any] | None = None, edges: Sequence[int] = EDGES
) -> HandIns:
    """Return how many workers gave how many hand-ins, and how many of these were approved.

    A hand-in is approved when its latest review says so; without a review, when all its known pairs are
    right.

    Parameters
    ----------
    gold
        What `check_gold` found.
    reviews
        Per slot, the latest review: ("approve" or "reject", by whom, why, when).
    edges
        The last number of hand-ins of each bin but the open one.

    Examples
    --------
    >>> from karat.judging import load_form, make_answers
    >>> from karat.judging.checking.gold_check import check_gold
    >>> said = make_answers([0] * 3, [0] * 3, [0, 1, 1], [4, 4, 1], ("ann", "bob"),
    ...                     gold=[1] * 3, slot=range(3))
    >>> table = hand_ins(check_gold(said, load_form("pair")))
    >>> [(one["hand_ins"], one["submitted"], one["approved"]) for one in table.records() if one["workers"]]
    [('1', 1, 1), ('2–5', 2, 1), ('all', 3, 2)]
    """
    reviews = reviews or {}
    approved = gold.verdict == APPROVE
    approved &= ~np.isin(gold.slot, with_verdict(reviews, "reject"))
    approved |= np.isin(gold.slot, with_verdict(reviews, "approve"))
    given = np.bincount(gold.slot_worker)
    there = np.flatnonzero(given)
    place = np.searchsorted(edges, given)
    columns = [
        np.bincount(place[there], minlength=len(edges) + 1),
        np.bincount(place[there], given[there], len(edges) + 1).astype(np.int64),
        np.bincount(place[gold.slot_worker], approved, len(edges) + 1).astype(np.int64),
    ]
    first = [1, *(edge + 1 for edge in edges)]
    bins = [f"{a}" if a == b else f"{a}–{b}" for a, b in zip(first, edges)]
    bins += [f"{first[-1]} and more", "all"]
    reviewed = int(np.isin(gold.slot, np.fromiter(reviews, np.int64)).sum())
    workers, submitted, passed = (np.append(column, column.sum()) for column in columns)
    return HandIns(tuple(bins), workers, submitted, passed, reviewed)
