"""Searches of a collection with its own items: what each query finds, without the query itself.

A pass ranks every item. The query is asked for as one more item, and taken out of the counts of the others:
whatever the form of the run, this is exact.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.benchmarks import JudgedItems, same_side


def with_own(items: JudgedItems) -> JudgedItems:
    """Return judged items with the query itself after those of each query, where it is in the gallery."""
    if not same_side(items.direction):
        return items
    own = has_own(items)
    at = items.ptr[1:][own]
    item = np.insert(items.item, at, items.queries[own])
    ptr = items.ptr + np.r_[0, np.cumsum(own)]
    return JudgedItems(items.direction, items.queries, ptr, item, np.zeros(len(item)), items.gallery)


def has_own(items: JudgedItems) -> np.ndarray:
    """Return whether each query is in the gallery that it is ranked against."""
    if items.gallery is None:
        return np.ones(len(items.queries), bool)
    return np.isin(items.queries, items.gallery)


def without_own(items: JudgedItems, placed: JudgedItems) -> JudgedItems:
    """Return judged items with where they come out among the others, from where `with_own` came out.

    Equal counts of higher scores are equal scores: so the counts say whether the query ranks before an item.
    """
    if not same_side(items.direction):
        return placed
    own = has_own(items)
    last = placed.ptr[1:][own] - 1
    others = np.ones(len(placed.item), bool)
    others[last] = False
    # −1 for a query that its own list does not have, or that is not in the gallery: it is before nothing.
    known, first, early = (np.full(len(own), -1) for _ in range(3))
    known[own], first[own], early[own] = placed.above[last] >= 0, placed.above[last], placed.earlier[last]
    number = items.number
    above, tied, earlier = (column[others] for column in (placed.above, placed.tied, placed.earlier))
    listed = (known[number] == 1) & (above >= 0)
    same = listed & (first[number] == above)
    return replace(
        items,
        above=above - (listed & (first[number] < above)),
        tied=tied - same,
        earlier=earlier - (same & (early[number] < earlier)),
        size=placed.size - own,
        depth=placed.depth - (known == 1),
    )
