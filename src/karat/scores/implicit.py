"""Truths that are rules: ask the run for its first items, and the rule about those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karat.measures import Measure
from karat.measures.ranked import Ranked
from karat.measures.ties import Counts, equal_neighbours
from karat.runs import RankingsRun, Run
from karat.scores.tasks import Task

MOST_ROWS = 1 << 22
"""Items that are asked about at once."""


def implicit_counts(run: Run, task: Task, measures: Sequence[Measure]) -> Iterator[tuple[np.ndarray, Counts]]:
    """Yield batches of queries with the counts of the items that the measures look at."""
    rule = task.truth.rule
    assert rule is not None
    # In a fold the rule cannot count its positives: the fold's items are asked about one by one.
    total = fold_positives(task) if task.gallery is not None else rule.positives(task.direction, task.queries)
    k = max(1, look_ahead(measures, total, np.full(len(total), task.size)))
    # Lists are in memory as they are; and cut off, their ranks have to be compared all together.
    parts = [slice(None)] if isinstance(run, RankingsRun) else query_batches(task)
    for part in parts:
        queries = task.queries[part]
        yield queries, count_batch(run, task, queries, total[part].astype(np.float64), k)


def query_batches(task: Task) -> Iterator[slice]:
    """Yield the parts of a task's queries that are asked about at once: even if all scores are equal."""
    step = max(1, MOST_ROWS // max(1, task.size))
    for begin in range(0, max(1, len(task.queries)), step):
        yield slice(begin, begin + step)


def count_batch(run: Run, task: Task, queries: np.ndarray, total: np.ndarray, k: int) -> Counts:
    """Return the counts of the first `k` items of some queries: every one is judged, by the rule."""
    rule = task.truth.rule
    assert rule is not None
    top = run.top(task.direction, k, queries, task.gallery, whole_ties=True)
    query = np.repeat(np.arange(len(queries)), np.diff(top.ptr))
    first, width = equal_neighbours(query, top.score)
    return Counts(
        ptr=top.ptr,
        grade=np.asarray(rule.relevant(task.direction, queries[query], top.item), dtype=np.float64),
        above=first - top.ptr[query],
        tied=width - 1,
        earlier=np.arange(len(query)) - first,
        outside=np.zeros(len(query), bool),
        size=np.full(len(queries), task.size),
        depth=np.diff(top.ptr),
        total=total,
    )


def look_ahead(measures: Sequence[Measure], total: np.ndarray, size: np.ndarray) -> int:
    """Return how many places the measures look at, at most."""
    nothing = np.zeros(0)
    ptr = np.zeros(len(total) + 1, np.int64)
    stub = Ranked(ptr, nothing, nothing, nothing, nothing, size, size, nothing, total)
    depths = [
        np.minimum(np.maximum(measure.depth(stub), rank_depth(measure, size)), size) for measure in measures
    ]
    return int(max((depth.max(initial=0) for depth in depths), default=0))


def rank_depth(measure: Measure, size: np.ndarray) -> np.ndarray:
    """Measures of ranks accept any depth, but a complete ranking always answers them."""
    return size if measure.unit == "rank" else np.zeros_like(size)


def fold_positives(task: Task) -> np.ndarray:
    """Count the positives of a rule inside a fold's gallery."""
    rule = task.truth.rule
    assert rule is not None
    assert task.gallery is not None
    counts = np.zeros(len(task.queries))
    for number, query in enumerate(task.queries):
        asked = np.full(len(task.gallery), query)
        counts[number] = rule.relevant(task.direction, asked, task.gallery).sum()
    return counts
