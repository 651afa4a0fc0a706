"""From counts to places: the tie policies, and the reading of unjudged pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from karat.benchmarks import JudgedItems
from karat.measures.ranked import Ranked, reduce_rows

Array = np.ndarray

TiePolicy = Literal["pessimistic", "optimistic", "expected", "stable", "trec_eval"]
TIE_POLICIES = ("pessimistic", "optimistic", "expected", "stable", "trec_eval")
"""What happens to items with equal scores: the better ones come last, or first; every order is
equally likely; they stay in the benchmark's order, or in that of a ranked list; or they are sorted by id
as text, from the last to the first, as trec_eval does (which also compares the scores of ranked lists in
single precision)."""

Reading = Literal["misses", "left_out", "bounds"]
READINGS = ("misses", "left_out", "bounds")
"""What an unjudged pair counts as: a miss; nothing (the judged items are ranked alone); or a miss,
with bounds over everything it could be."""


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


def leave_out_unjudged(items: JudgedItems) -> JudgedItems:
    """Return the items ranked among themselves alone (the *condensed* list).

    >>> none = np.zeros(2, int)
    >>> items = JudgedItems("i2t", np.array([0]), np.array([0, 2]), np.array([5, 6]), np.array([1.0, 0.0]),
    ...     size=np.array([10]), outside=none > 0, above=np.array([7, 3]), tied=none, earlier=none)
    >>> leave_out_unjudged(items).above.tolist()
    [1, 0]
    """
    query, placed = items.number, items.above >= 0
    n_queries = len(items.ptr) - 1
    order = np.lexsort((items.earlier, items.above, query))
    order = order[placed[order]]
    q = query[order]
    first_of_query = np.searchsorted(q, np.arange(n_queries))[q]
    first, width = equal_neighbours(q, items.above[order])
    condensed: dict[str, Any] = {
        name: np.full(len(query), -1 if name == "above" else 0) for name in ("above", "tied", "earlier")
    }
    condensed["above"][order] = first - first_of_query
    condensed["tied"][order] = width - 1
    condensed["earlier"][order] = np.arange(len(q)) - first
    size = np.bincount(query[~items.outside], minlength=n_queries)
    depth = np.bincount(query[placed], minlength=n_queries)
    return replace(items, **condensed, size=size, depth=depth)


def resolve(items: JudgedItems, policy: TiePolicy = "pessimistic", unjudged_relevant: bool = False) -> Ranked:
    """Place the judged items of every query.

    Parameters
    ----------
    items
        With the counts of a run.
    policy
        One of `TIE_POLICIES`. Within a tied group, *pessimistic* puts unjudged items first and
        then the judged ones by rising grade; *optimistic* puts judged items first by falling grade;
        *expected* leaves the places open, so that measures return the exact mean over all orders.
    unjudged_relevant
        Read every unjudged item as relevant with grade 1: the other end of the bounds. Not for
        grades with leading axes.
    """
    rows = items.above.shape[-1]
    query, placed = items.number, items.above >= 0
    above = np.where(placed, items.above, np.iinfo(np.int64).max)
    # Pooled and not judged comes before judged items, or after them, as what is not in the pool does.
    worth = np.where(np.isnan(items.grade), -1.0, items.grade)
    second = {
        "pessimistic": worth,
        "optimistic": -worth,
        "expected": -worth,
        "stable": np.broadcast_to(items.earlier, items.grade.shape),
        # The run has counted the earlier ones in this order.
        "trec_eval": np.broadcast_to(items.earlier, items.grade.shape),
    }[policy]
    order = np.lexsort((second, np.broadcast_to(above, second.shape), np.broadcast_to(query, second.shape)))
    grade = np.take_along_axis(items.grade, order, axis=-1)
    before, width = items.above[order], items.tied[order] + 1
    known = placed[order]

    # Sorting by grade only moves rows inside their group, so the groups are those of any one draw.
    draw = order.reshape(-1, rows)[0] if rows else order
    first, judged = equal_neighbours(query[draw], above[draw])
    number = np.arange(rows) - first

    late = width - judged + number
    if policy == "expected":
        start = before.astype(np.float64)
    elif policy in ("stable", "trec_eval"):
        start = (before + items.earlier[order]).astype(np.float64)
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
        ptr=items.ptr,
        start=start,
        width=width.reshape(-1, rows)[0] if rows else width.reshape(-1),
        count=np.ones(rows),
        grade=grade,
        size=items.size,
        depth=items.depth,
        hidden=(~placed & ~items.outside)[order],
        total=items.total,
        complete=items.complete,
        ideal=items.ideal,
        top=items.top,
        stratum=None if items.stratum is None else items.stratum[order],
        inclusion=None if items.inclusion is None else items.inclusion[order],
    )
    return with_unjudged_relevant(ranked) if unjudged_relevant else ranked


def with_unjudged_relevant(ranked: Ranked) -> Ranked:
    """Add rows of grade 1 for the unjudged items of every query, up to the known depth."""
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
