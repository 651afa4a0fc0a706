"""From counts to places: the tie policies, and the reading of unjudged pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from karat.measures.ranked import Ranked, reduce_rows

Array = np.ndarray

TiePolicy = Literal["pessimistic", "optimistic", "expected", "stable"]
TIE_POLICIES = ("pessimistic", "optimistic", "expected", "stable")
"""What happens to items with equal scores: the better ones come last, or first; every order is
equally likely; or they stay in the benchmark's order."""

Reading = Literal["misses", "left_out", "bounds"]
READINGS = ("misses", "left_out", "bounds")
"""What an unjudged pair counts as: a miss; nothing (the judged items are ranked alone); or a miss,
with bounds over everything it could be."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Per judged item, how many items of the gallery score higher and how many the same.

    Parameters
    ----------
    ptr
        Query q has rows ptr[q] to ptr[q + 1].
    grade
        Per row; may have leading axes (posterior draws).
    above
        How many items score strictly higher; −1 when the item has no known place.
    tied
        How many other items score the same.
    earlier
        How many of those stand earlier in the benchmark's order.
    outside
        Whether the item is outside the gallery, so that it can never be retrieved.
    size, depth
        Per query: how many items were ranked, and how many places of the ranking are known.
    total
        Per query, how many items are relevant, where the rows do not list all.
    complete
        Whether items without a row are judged not relevant, instead of unjudged.
    ideal
        Where grades are similarities: per query, the highest possible sum of the first 1, 2, … items.
    """

    ptr: Array
    grade: Array
    above: Array
    tied: Array
    earlier: Array
    outside: Array
    size: Array
    depth: Array
    total: Array | None = None
    complete: bool = False
    ideal: Array | None = None

    @property
    def nothing_unjudged(self) -> bool:
        """Whether every pair is judged: by a rule, or by a truth that is complete."""
        return self.complete or self.total is not None

    @property
    def query(self) -> Array:
        """The query of each row."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))


def equal_neighbours(query: Array, value: Array) -> tuple[Array, Array]:
    """Per row, the first row of its query with the same value and how many such rows there are.

    Rows are sorted by query and, within it, by value.

    >>> first, width = equal_neighbours(np.array([0, 0, 0, 1]), np.array([9.0, 7.0, 7.0, 7.0]))
    >>> first.tolist(), width.tolist()
    ([0, 1, 1, 3], [1, 2, 2, 1])
    """
    new = np.ones(len(query), bool)
    new[1:] = (np.diff(query) != 0) | (np.diff(value) != 0)
    first = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    return first[group], np.diff(np.r_[first, len(query)])[group]


def leave_out_unjudged(counts: Counts) -> Counts:
    """Return the counts among judged items alone (the *condensed* list).

    >>> counts = Counts(np.array([0, 2]), np.array([1.0, 0.0]), np.array([7, 3]), np.zeros(2, int),
    ...     np.zeros(2, int), np.zeros(2, bool), np.array([10]), np.array([10]))
    >>> leave_out_unjudged(counts).above.tolist()
    [1, 0]
    """
    query, placed = counts.query, counts.above >= 0
    n_queries = len(counts.ptr) - 1
    order = np.lexsort((counts.earlier, counts.above, query))
    order = order[placed[order]]
    q = query[order]
    first_of_query = np.searchsorted(q, np.arange(n_queries))[q]
    first, width = equal_neighbours(q, counts.above[order])
    condensed: dict[str, Any] = {
        name: np.full(len(query), -1 if name == "above" else 0) for name in ("above", "tied", "earlier")
    }
    condensed["above"][order] = first - first_of_query
    condensed["tied"][order] = width - 1
    condensed["earlier"][order] = np.arange(len(q)) - first
    size = np.bincount(query[~counts.outside], minlength=n_queries)
    depth = np.bincount(query[placed], minlength=n_queries)
    return replace(counts, **condensed, size=size, depth=depth)


def resolve(counts: Counts, policy: TiePolicy = "pessimistic", unjudged_relevant: bool = False) -> Ranked:
    """Place the judged items of every query.

    Parameters
    ----------
    counts
        What the run says.
    policy
        One of `TIE_POLICIES`. Within a tied group, *pessimistic* puts unjudged items first and
        then the judged ones by rising grade; *optimistic* puts judged items first by falling grade;
        *expected* leaves the places open, so that measures return the exact mean over all orders.
    unjudged_relevant
        Read every unjudged item as relevant with grade 1: the other end of the bounds. Not for
        grades with leading axes.
    """
    rows = counts.above.shape[-1]
    query, placed = counts.query, counts.above >= 0
    above = np.where(placed, counts.above, np.iinfo(np.int64).max)
    second = {
        "pessimistic": counts.grade,
        "optimistic": -counts.grade,
        "expected": -counts.grade,
        "stable": np.broadcast_to(counts.earlier, counts.grade.shape),
    }[policy]
    order = np.lexsort((second, np.broadcast_to(above, second.shape), np.broadcast_to(query, second.shape)))
    grade = np.take_along_axis(counts.grade, order, axis=-1)
    before, width = counts.above[order], counts.tied[order] + 1
    known = placed[order]

    # Sorting by grade only moves rows inside their group, so the groups are those of any one draw.
    draw = order.reshape(-1, rows)[0] if rows else order
    first, judged = equal_neighbours(query[draw], above[draw])
    number = np.arange(rows) - first

    late = width - judged + number
    if policy == "expected":
        start = before.astype(np.float64)
    elif policy == "stable":
        start = (before + counts.earlier[order]).astype(np.float64)
    else:
        # Unjudged items are worth 0 or, in the upper reading, 1: does a judged item lie before or
        # after those it is tied with?
        last = np.full(grade.shape, policy == "pessimistic")
        if unjudged_relevant:
            last = (grade >= 1) == last
        start = before + np.where(last, late, number).astype(np.float64)
    start = np.where(known, start, np.inf)
    width = np.where(known & (policy == "expected"), width, 1).astype(np.float64)
    if policy == "expected":
        # The same for all draws, because rows only moved inside their group.
        start = start.reshape(-1, rows)[0] if rows else start.reshape(-1)
    ranked = Ranked(
        ptr=counts.ptr,
        start=start,
        width=width.reshape(-1, rows)[0] if rows else width.reshape(-1),
        count=np.ones(rows),
        grade=grade,
        size=counts.size,
        depth=counts.depth,
        hidden=(~placed & ~counts.outside)[order],
        total=counts.total,
        complete=counts.complete,
        ideal=counts.ideal,
    )
    return with_unjudged_relevant(ranked) if unjudged_relevant else ranked


def with_unjudged_relevant(ranked: Ranked) -> Ranked:
    """Add rows of grade 1 that stand for the unjudged items of every query, up to the known depth."""
    known = ranked.placed
    query = np.repeat(np.arange(ranked.n_queries), np.diff(ranked.ptr))
    first = ranked.group_first[known[ranked.group_first]]
    group_query, start, width = query[first], ranked.start[first], ranked.width[first]
    judged = np.add.reduceat(known.astype(np.float64), first) if len(first) else np.zeros(0)
    # reduceat runs on to the next placed group and so would count unplaced rows: they are False.
    inside = width - judged

    # The stretches between groups: before each group, and after the last one to the known depth.
    end = start + width
    previous = np.zeros(len(first))
    if len(first):
        previous[1:] = np.where(np.diff(group_query) == 0, end[:-1], 0.0)
    last_end = reduce_rows(np.maximum, end, np.searchsorted(group_query, np.arange(ranked.n_queries + 1)))
    everyone, ones = np.arange(ranked.n_queries), np.ones(ranked.n_queries)
    # Below the end of a truncated ranking lie the rest: judged items without a place, and others.
    below = ranked.size - ranked.depth - ranked.sum(1.0 * ranked.hidden)
    q = np.concatenate([group_query, group_query, everyone, everyone, query])
    begin = np.concatenate([start, previous, last_end, np.inf * ones, ranked.start])
    places = np.concatenate([width, start - previous, ranked.depth - last_end, ones, ranked.width])
    count = np.concatenate([inside, start - previous, ranked.depth - last_end, below, ranked.count])
    grade = np.concatenate([np.ones(len(q) - len(query)), ranked.grade])
    hidden = np.concatenate([np.zeros(2 * len(first) + len(ones), bool), ones > 0, ranked.hidden])
    keep = count > 0
    order = np.lexsort((-grade, begin, q))
    order = order[keep[order]]
    ptr = np.searchsorted(q[order], np.arange(ranked.n_queries + 1))
    return replace(
        ranked,
        ptr=ptr,
        start=begin[order],
        width=places[order],
        count=count[order],
        grade=grade[order],
        hidden=hidden[order],
        total=None,
    )
