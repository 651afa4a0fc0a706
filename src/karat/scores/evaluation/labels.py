"""The labels of one truth, direction and fold, and where a run ranks the labelled items.

Truths that share a gallery share most of their pairs: a run is asked once about all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.benchmarks import Benchmark, Direction, Fold, Truth
from karat.measures import Counts
from karat.runs import PlaceRequest, Places, Run


@dataclass(frozen=True, eq=False)
class Labels:
    """The judged items of the queries of one truth in one direction and fold.

    Parameters
    ----------
    truth, direction, fold
        What is scored; `fold` is None for the whole gallery.
    queries, ptr, item, grade
        The queries and their judged items, compressed by query.
    outside
        Per row, whether the item is not in the (fold's) gallery.
    gallery
        The items that are ranked; None for all.
    size
        How many these are.
    """

    truth: Truth
    direction: Direction
    fold: Fold | None
    queries: np.ndarray
    ptr: np.ndarray
    item: np.ndarray
    grade: np.ndarray
    outside: np.ndarray
    gallery: np.ndarray | None
    size: int

    @property
    def query_of_row(self) -> np.ndarray:
        """The query of each row."""
        return np.repeat(self.queries, np.diff(self.ptr))


def labels_of(benchmark: Benchmark, truth: Truth, direction: Direction) -> list[Labels]:
    """Return the labels of each fold of a truth; of the whole gallery where it has no folds."""
    folds: Sequence[Fold | None] = truth.folds or [None]
    return [fold_labels(benchmark, truth, direction, fold) for fold in folds]


def fold_labels(benchmark: Benchmark, truth: Truth, direction: Direction, fold: Fold | None) -> Labels:
    """Return the labels of one fold: its own queries, and their judged items in its own gallery.

    Items in other folds are not asked about; items outside every gallery stay among the positives.
    """
    everything = benchmark.items(direction).size
    queries = np.asarray(truth.queries.get(direction, np.empty(0)), dtype=np.int64)
    gallery = None if fold is None else np.sort(fold.items(direction))
    inside = np.ones(len(queries), bool) if fold is None else np.isin(queries, fold.queries(direction))
    if truth.implicit:
        item, grade, lengths = np.zeros(0, np.int64), np.zeros(0), np.zeros(int(inside.sum()), np.int64)
    else:
        rows = truth.judged(direction)
        place = np.repeat(np.arange(len(queries)), np.diff(rows.ptr))
        keep = inside[place]
        if gallery is not None:
            keep &= np.isin(rows.item, gallery) | (rows.item >= everything)
        item, grade = rows.item[keep], rows.grade[keep]
        lengths = np.bincount(place[keep], minlength=len(queries))[inside]
    return Labels(
        truth,
        direction,
        fold,
        queries[inside],
        np.r_[0, np.cumsum(lengths)],
        item,
        grade,
        item >= everything,
        gallery,
        everything if gallery is None else len(gallery),
    )


class SharedRequests:
    """The distinct pairs of many sets of labels, one request for all that share a gallery.

    Parameters
    ----------
    label_sets
        Of any truths, directions and folds; rules, which list no pairs, are left out.
    """

    def __init__(self, label_sets: Sequence[Labels]) -> None:
        groups: dict[tuple[Direction, bytes], list[Labels]] = {}
        for labels in label_sets:
            if not labels.truth.implicit:
                key = (labels.direction, b"" if labels.gallery is None else labels.gallery.tobytes())
                groups.setdefault(key, []).append(labels)
        self._groups = list(groups.values())
        self._keys: list[np.ndarray] = []
        self.requests: list[PlaceRequest] = []
        for group in self._groups:
            keys = np.unique(np.concatenate([pair_keys(labels)[~labels.outside] for labels in group]))
            self._keys.append(keys)
            query, item = np.divmod(keys, KEY_BASE)
            self.requests.append(PlaceRequest(group[0].direction, query, item, group[0].gallery))

    def counts(self, run: Run, threads: int | None = None) -> dict[Labels, Counts]:
        """Return the counts of each set of labels, from one pass over the run's scores."""
        places = run.place(self.requests, threads) if self.requests else []
        return {
            labels: counts_of(labels, keys, answer)
            for group, keys, answer in zip(self._groups, self._keys, places)
            for labels in group
        }


KEY_BASE = 1 << 32


def pair_keys(labels: Labels) -> np.ndarray:
    """Return one number per judged pair, ordered by query, then item."""
    return labels.query_of_row * KEY_BASE + labels.item


def counts_of(labels: Labels, keys: np.ndarray, places: Places) -> Counts:
    """Pick the rows of some labels from the places of all shared pairs."""
    inside = ~labels.outside
    at = np.searchsorted(keys, pair_keys(labels)[inside])

    def pick(column: np.ndarray, missing: int) -> np.ndarray:
        picked = np.full(len(labels.item), missing, np.int64)
        picked[inside] = column[at]
        return picked

    size = np.full(len(labels.queries), labels.size)
    depth = size if places.depth is None else places.depth[labels.queries]
    return Counts(
        ptr=labels.ptr,
        grade=labels.grade,
        above=pick(places.above, -1),
        tied=pick(places.tied, 0),
        earlier=pick(places.earlier, 0),
        outside=labels.outside,
        size=size,
        depth=depth,
        complete=labels.truth.complete,
    )
