"""What a measure sees: where the judged items of each query came out, ties included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Ranked:
    """Judged items of many queries with their places, compressed by query.

    An item is tied with others when its place is not fixed: it then lies, with equal chance, on
    any of the `width` places after the first `start`. Where the tie policy has fixed every place,
    each width is 1. So one formula, an expectation over the places, serves all tie policies.

    Rows of one query are sorted by `start`; rows of one tied group follow each other, the highest
    grade first. `start` and `grade` may have leading axes (posterior draws of the grades); the
    last axis is always the rows.

    Parameters
    ----------
    ptr
        Query q has rows ptr[q] to ptr[q + 1].
    start
        How many items certainly come before the row's group; infinite when the item was never
        retrieved (outside the gallery, or below the end of a truncated ranking).
    width
        How many places the group has.
    count
        How many items the row represents: 1, except for runs of unjudged items.
    grade
        In [0, 1]; 0 is judged not relevant. NaN is pooled and not judged: for measures `of_pool` alone.
    size
        Per query, how many items were ranked.
    depth
        Per query, how many places of the ranking are known; `size` when all are.
    hidden
        Whether the item is in the gallery, but below the end of a truncated ranking.
    total
        Per query, how many items are relevant, where the rows do not list all (implicit truths).
    complete
        Whether items without a row are judged not relevant, instead of unjudged.
    ideal
        Where grades are similarities: per query, the highest possible sum of the first 1, 2, … items.
    top
        The rating of which grades are shares; 1 where there is none.
    stratum, inclusion
        Per row, for measures `of_pool`: the stratum of the pool that the item was sampled from, or the
        probability with which it was chosen for judging; None where the truth does not say.

    Examples
    --------
    One query with relevant items on places 1 and 3 of 5, and a judged negative on place 2:

    >>> ranked = Ranked.from_places([[1, 2, 3]], [[1, 0, 1]], size=5)
    >>> ranked.relevant.tolist(), ranked.within(2).tolist()
    ([2.0], [1.0, 1.0, 0.0])
    """

    ptr: Array
    start: Array
    width: Array
    count: Array
    grade: Array
    size: Array
    depth: Array
    hidden: Array
    total: Array | None = None
    complete: bool = False
    ideal: Array | None = None
    top: float = 1.0
    stratum: Array | None = None
    inclusion: Array | None = None

    @classmethod
    def from_places(cls, places: list[list[float]], grades: list[list[float]], size: int) -> Ranked:
        """Build from places counted from 1, for examples and tests of a measure."""
        lengths = [len(row) for row in places]
        flat = np.array([place for row in places for place in sorted(row)], dtype=np.float64)
        order = np.concatenate(
            [np.argsort(row, kind="stable") + sum(lengths[:q]) for q, row in enumerate(places)]
        )
        ones, sizes = np.ones(len(flat)), np.full(len(places), size)
        grade = np.array([grade for row in grades for grade in row], dtype=np.float64)[order.astype(int)]
        ptr = np.r_[0, np.cumsum(lengths)]
        return cls(ptr, flat - 1, ones, ones, grade, sizes, sizes, np.zeros(len(flat), bool))

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.ptr) - 1

    @cached_property
    def relevant(self) -> Array:
        """Per query, how many items are relevant (R)."""
        return self.sum(self.count * (self.grade > 0)) if self.total is None else self.total

    @property
    def unplaced(self) -> Array:
        """Per query, how many relevant items of the gallery have no known place."""
        relevant = self.count * (self.grade > 0)
        if self.total is not None:
            return self.total - self.sum(relevant * self.placed)
        return self.sum(relevant * self.hidden)

    @cached_property
    def placed(self) -> Array:
        """Per row, whether the item has a place."""
        return np.isfinite(self.start)

    @cached_property
    def tied(self) -> bool:
        """Whether any place is still open, so that expectations have to be taken."""
        return bool((self.width > 1).any())

    def at_least(self, grade: float | str | None) -> Ranked:
        """Return the same with items relevant (1) from `grade` on, and not relevant (0) below.

        "any" is every grade above 0; above 1, it is a rating on the scale of the labels.
        """
        if grade is None:
            return self
        if isinstance(grade, str):
            reached = self.grade > 0
        else:
            reached = self.grade >= (grade / self.top if grade > 1 else grade)
        return replace(self, grade=np.where(np.isnan(self.grade), np.nan, reached))

    def condensed(self) -> Ranked:
        """Return the same with the judged items ranked among themselves alone (the *condensed* list).

        Where every item is judged it is the list itself.

        >>> ranked = Ranked.from_places([[2, 5]], [[0, 1]], size=10)
        >>> (ranked.condensed().start + 1).tolist()
        [1.0, 2.0]
        """
        if self.complete or self.total is not None:
            return self
        rows, first = self.start.shape[-1], self.group_first
        lengths = np.diff(np.r_[first, rows])
        start = np.repeat(first, lengths) - self.spread(self.ptr[:-1])
        return replace(
            self,
            start=np.where(self.placed, start, np.inf),
            width=np.repeat(lengths, lengths).astype(np.float64),
            size=self.sum(1.0 * (self.placed | self.hidden)),
            depth=self.sum(1.0 * self.placed),
        )

    def spread(self, per_query: Array) -> Array:
        """Return one value per row from one value per query."""
        return np.repeat(per_query, np.diff(self.ptr), axis=-1)

    def sum(self, per_row: Array) -> Array:
        """Return the sum over each query's rows."""
        return reduce_rows(np.add, per_row, self.ptr)

    def max(self, per_row: Array) -> Array:
        """Return the maximum over each query's rows, at least 0."""
        return reduce_rows(np.maximum, per_row, self.ptr)

    def slots(self, cut: Array | float) -> Array:
        """Per row, how many of its group's places are among the first `cut` (per query or one)."""
        cut = self.spread(np.asarray(cut)) if np.ndim(cut) else cut
        return np.clip(cut - self.start, 0, self.width)

    def within(self, cut: Array | float) -> Array:
        """Per row, the chance that its item is among the first `cut`."""
        return self.slots(cut) / self.width

    @cached_property
    def group_first(self) -> Array:
        """The first row of each tied group (every row is its own group where places are fixed)."""
        rows = self.start.shape[-1]
        if self.start.ndim > 1 or not self.tied:
            return np.arange(rows)
        new = np.ones(rows, bool)
        new[1:] = (self.start[1:] != self.start[:-1]) | ~self.placed[1:]
        new[self.ptr[:-1][self.ptr[:-1] < rows]] = True
        return np.flatnonzero(new)

    def groups(self) -> Groups:
        """Return the tied groups with the number of relevant items in each."""
        first = self.group_first
        relevant = self.count * (self.grade > 0)
        if len(first) < relevant.shape[-1]:
            relevant = np.add.reduceat(relevant, first, axis=-1)
        ptr = np.searchsorted(first, self.ptr)
        return Groups(ptr, self.start[..., first], self.width[..., first], relevant)

    def judged_negatives(self, groups: Groups) -> tuple[Array, Array, Array]:
        """Return how many items are judged not relevant: in each tied group, before it, and per query."""
        if self.complete or self.total is not None:
            # Whatever is not relevant.
            inside = groups.width - groups.relevant
            ranked = self.count * (self.grade > 0) * (self.placed | self.hidden)
            positives = self.sum(ranked) if self.total is None else self.total
            return inside, groups.start - groups.relevant_before, self.size - positives
        negative = self.count * (self.grade == 0)
        first = self.group_first
        inside = np.add.reduceat(negative, first, axis=-1) if len(first) < negative.shape[-1] else negative
        return inside, groups.before(inside), self.sum(negative)


@dataclass(frozen=True, eq=False)
class Groups:
    """Tied groups, compressed by query: `relevant` of the `width` items after `start` are relevant."""

    ptr: Array
    start: Array
    width: Array
    relevant: Array

    def sum(self, per_group: Array) -> Array:
        """Return the sum over each query's groups."""
        return reduce_rows(np.add, per_group, self.ptr)

    @property
    def relevant_before(self) -> Array:
        """Per group, the number of relevant items in the query's earlier groups."""
        return self.before(self.relevant)

    def before(self, per_group: Array) -> Array:
        """Per group, the sum over the query's earlier groups."""
        running = np.cumsum(per_group, axis=-1)
        running = running - per_group
        first = np.minimum(self.ptr[:-1], max(self.start.shape[-1] - 1, 0))
        if self.start.shape[-1] == 0:
            return running
        return running - np.repeat(running[..., first], np.diff(self.ptr), axis=-1)

    def first_relevant(self) -> tuple[Array, Array, Array]:
        """Per query, `start`, `width` and `relevant` of the first group with a relevant item.

        `start` is infinite where none was retrieved.
        """
        rows = self.start.shape[-1]
        hit = (self.relevant > 0) & np.isfinite(self.start)
        at = reduce_rows(np.minimum, np.where(hit, np.arange(rows), rows), self.ptr, empty=rows)
        pad = [(0, 0)] * (np.ndim(hit) - 1) + [(0, 1)]
        start, width, relevant = (
            np.take_along_axis(
                np.pad(np.broadcast_to(x, hit.shape), pad, constant_values=fill), at.astype(np.int64), axis=-1
            )
            for x, fill in ((self.start, np.inf), (self.width, 1.0), (self.relevant, 1.0))
        )
        return start, width, relevant


def reduce_rows(how: np.ufunc, per_row: Array, ptr: Array, empty: float = 0.0) -> Array:
    """Reduce each stretch ptr[q]:ptr[q + 1] of the last axis; `empty` where it has no rows.

    >>> reduce_rows(np.add, np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2, 3])).tolist()
    [3.0, 0.0, 4.0]
    """
    filled = ptr[:-1] < ptr[1:]
    out = np.full((*per_row.shape[:-1], len(ptr) - 1), empty, dtype=np.float64)
    if filled.any():
        out[..., filled] = how.reduceat(per_row, ptr[:-1][filled], axis=-1)
    return out
