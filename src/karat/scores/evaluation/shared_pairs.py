"""Pairs that several truths share: a run places all of them at once.

Truths that share a gallery share most of their pairs. Their distinct pairs make one record, which a run
places in one pass over its scores; each truth then takes its own rows of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat.benchmarks import Direction, JudgedItems

KEY_BASE = 1 << 32


def pair_keys(items: JudgedItems) -> np.ndarray:
    """Return one number per judged pair, ordered by query, then item."""
    return items.query_of_row * KEY_BASE + items.item


def each_once(values: np.ndarray) -> np.ndarray:
    """Return each value once, sorted: several times faster than `np.unique` where most are sorted already.

    >>> each_once(np.array([3, 1, 3]))
    array([1, 3])
    """
    ordered = np.sort(values, kind="stable")
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered


def places(ordered: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return where values are in a sorted array that has them all."""
    if np.array_equal(ordered, values):
        return np.arange(len(values))
    return np.searchsorted(ordered, values)


class SharedPairs:
    """The distinct pairs of many records, one record for all that share a gallery.

    Parameters
    ----------
    records
        Of any truths, directions and folds.
    """

    def __init__(self, records: Sequence[JudgedItems]) -> None:
        groups: dict[tuple[Direction, bytes], list[JudgedItems]] = {}
        for items in records:
            key = (items.direction, b"" if items.gallery is None else items.gallery.tobytes())
            groups.setdefault(key, []).append(items)
        self.distinct: list[JudgedItems] = []
        """What a run has to place."""
        self._rows: list[dict[JudgedItems, tuple[np.ndarray, np.ndarray]]] = []
        for group in groups.values():
            own_keys = [pair_keys(items)[~items.outside] for items in group]
            keys = each_once(np.concatenate(own_keys))
            queries = each_once(np.concatenate([items.queries for items in group]))
            ptr = np.r_[np.searchsorted(keys, queries * KEY_BASE), len(keys)]
            first = group[0]
            self.distinct.append(
                JudgedItems(
                    first.direction, queries, ptr, keys % KEY_BASE, np.zeros(len(keys)), first.gallery
                )
            )
            self._rows.append(
                {
                    items: (places(keys, own), places(queries, items.queries))
                    for items, own in zip(group, own_keys)
                }
            )

    def spread(self, placed: Sequence[JudgedItems]) -> dict[JudgedItems, JudgedItems]:
        """Return each record with its own rows of what a run has placed; `placed` may lack a direction."""
        by_group = {(items.direction, id(items.gallery)): items for items in placed}
        out: dict[JudgedItems, JudgedItems] = {}
        for distinct, rows in zip(self.distinct, self._rows):
            counted = by_group.get((distinct.direction, id(distinct.gallery)))
            if counted is not None:
                out |= {items: with_counts(items, counted, *at) for items, at in rows.items()}
        return out


def with_counts(
    items: JudgedItems, counted: JudgedItems, rows: np.ndarray, queries: np.ndarray
) -> JudgedItems:
    """Return a record with its rows and queries of a placed one; items outside the gallery have no place."""
    inside = ~items.outside

    def pick(column: np.ndarray, missing: int) -> np.ndarray:
        if inside.all():
            return column[rows]
        picked = np.full(len(items.item), missing, np.int64)
        picked[inside] = column[rows]
        return picked

    return replace(
        items,
        above=pick(counted.above, -1),
        tied=pick(counted.tied, 0),
        earlier=pick(counted.earlier, 0),
        depth=counted.depth[queries],
    )
