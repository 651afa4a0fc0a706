"""Measures of meaning: the run's first items, looked at through a similarity φ of every pair."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from karat.benchmarks import Direction
from karat.measures.ties import Counts, equal_neighbours
from karat.runs import Run
from karat.runs.table import TableRun
from karat.scores.implicit import query_batches
from karat.scores.tasks import KEY_BASE, Task, pair_keys
from karat.validation import InputError


@dataclass(frozen=True, eq=False)
class First:
    """The first items of some queries, what was taken out left out; `query` counts from 0."""

    query: np.ndarray
    item: np.ndarray
    score: np.ndarray
    ptr: np.ndarray

    @property
    def place(self) -> np.ndarray:
        """Per row, its place among the query's items, from 0."""
        return np.arange(len(self.query)) - self.ptr[self.query]


def semantic_counts(
    run: Run,
    similarity: TableRun,
    task: Task,
    gt: bool,
    k: int,
    several_m: Sequence[int | None],
    known: dict[Hashable, First],
) -> Iterator[tuple[np.ndarray, dict[int | None, Counts]]]:
    """Yield batches of queries with the counts of their first `k` items, for each m.

    Parameters
    ----------
    similarity
        φ of every pair.
    gt
        Whether what the truth lists as relevant takes part.
    several_m
        How many of the most similar items count as relevant; None for φ itself.
    known
        The ideal rankings of earlier runs, which this one adds to: they are the same for every run.
    """
    out = np.zeros(0, np.int64) if gt else listed(task)
    taken = np.diff(np.searchsorted(out, np.c_[task.queries, task.queries + 1] * KEY_BASE), axis=1)[:, 0]
    most = int(taken.max(initial=0))
    # Nothing lies deeper than the gallery.
    k, ideal_deep = (min(deep, task.size) for deep in (k, max(k, *(m or 0 for m in several_m))))
    fold = None if task.fold is None else task.fold.name
    for part in query_batches(task):
        queries = task.queries[part]
        asked = (task.direction, queries, task.gallery, out)
        first = first_items(run, k + most, *asked, whole_ties=True)
        key = (similarity.name, task.truth.name, task.direction, fold, gt, ideal_deep, part.start, part.stop)
        if key not in known:
            known[key] = first_items(similarity, ideal_deep + most, *asked)
        ideal = known[key]
        phi = similarity.pairs(task.direction, queries[first.query], first.item)
        check_similarity(similarity, phi, ideal.score)
        size = task.size - taken[part]
        yield queries, {m: counts_for(m, k, first, phi, ideal, size) for m in several_m}


def listed(task: Task) -> np.ndarray:
    """Return the pairs that the truth lists as relevant, as sorted numbers."""
    if task.truth.implicit:
        raise InputError(
            f"gt=no on {task.truth.name}, a rule that lists no pairs", fix="choose a truth with a list"
        )
    return np.sort(pair_keys(task)[(task.grade > 0) & ~task.outside])


def first_items(
    run: Run,
    k: int,
    direction: Direction,
    queries: np.ndarray,
    gallery: np.ndarray | None,
    out: np.ndarray,
    whole_ties: bool = False,
) -> First:
    """Return the first `k` items of each query, less those in `out`."""
    top = run.top(direction, k, queries, gallery, whole_ties)
    query = np.repeat(np.arange(len(queries)), np.diff(top.ptr))
    keep = slice(None)
    if len(out):
        keys = queries[query] * KEY_BASE + top.item
        keep = out[np.minimum(np.searchsorted(out, keys), len(out) - 1)] != keys
    query = query[keep]
    ptr = np.searchsorted(query, np.arange(len(queries) + 1))
    return First(query, top.item[keep], top.score[keep], ptr)


def check_similarity(similarity: TableRun, *values: np.ndarray) -> None:
    """Raise where φ is below 0: sums of it would mean nothing."""
    lowest = min((part.min() for part in values if len(part)), default=0.0)
    if lowest < 0:
        raise InputError(
            f"the similarity {similarity.name!r} has the value {lowest:g}", fix="give values from 0 on"
        )


def counts_for(
    m: int | None, k: int, first: First, phi: np.ndarray, ideal: First, size: np.ndarray
) -> Counts:
    """Return what measures see: φ of the items and its ideal sums, or which of the m they are."""
    n_queries = len(size)
    start, width = equal_neighbours(first.query, first.score)
    if m is None:
        best = np.zeros((n_queries, k))
        inside = ideal.place < k
        best[ideal.query[inside], ideal.place[inside]] = ideal.score[inside]
        best = np.cumsum(best, axis=1)
        grade, total = phi.astype(np.float64), (best[:, -1] > 0).astype(np.float64)
    else:
        best = None
        chosen = (ideal.place < m) & (ideal.score > 0)
        keys = ideal.query[chosen] * KEY_BASE + ideal.item[chosen]
        grade = np.isin(first.query * KEY_BASE + first.item, keys).astype(np.float64)
        total = np.bincount(ideal.query[chosen], minlength=n_queries).astype(np.float64)
    # Items that add nothing need no row: their places are known from the others'.
    row = np.flatnonzero(grade)
    query, start = first.query[row], start[row]
    return Counts(
        ptr=np.searchsorted(query, np.arange(n_queries + 1)),
        grade=grade[row],
        above=start - first.ptr[query],
        tied=width[row] - 1,
        earlier=row - start,
        outside=np.zeros(len(row), bool),
        size=size,
        depth=np.diff(first.ptr),
        total=total,
        ideal=best,
    )
