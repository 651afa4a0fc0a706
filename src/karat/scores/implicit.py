"""Truths that are rules: ask the run for its first items, and the rule about those."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.measures import Measure
from karat.measures.ranked import Ranked
from karat.measures.ties import Counts
from karat.runs import Run
from karat.scores.tasks import Task


def implicit_counts(run: Run, task: Task, measures: Sequence[Measure]) -> Counts:
    """Return the counts of the items that the measures look at: every one is judged, by the rule."""
    rule = task.truth.rule
    assert rule is not None
    # In a fold the rule cannot count its positives: the fold's items are asked about one by one.
    total = fold_positives(task) if task.gallery is not None else rule.positives(task.direction, task.queries)
    total = total.astype(np.float64)
    size = np.full(len(task.queries), task.size)
    k = max(1, look_ahead(measures, total, size))
    top = run.top(task.direction, k, task.queries, task.gallery, whole_ties=True)
    query = np.repeat(np.arange(len(task.queries)), np.diff(top.ptr))
    grade = rule.relevant(task.direction, task.queries[query], top.item)
    new = np.ones(len(query), bool)
    new[1:] = (np.diff(query) != 0) | (np.diff(top.score) != 0)
    first = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    width = np.diff(np.r_[first, len(query)])
    return Counts(
        ptr=top.ptr,
        grade=np.asarray(grade, dtype=np.float64),
        above=first[group] - top.ptr[query],
        tied=width[group] - 1,
        earlier=np.arange(len(query)) - first[group],
        outside=np.zeros(len(query), bool),
        size=size,
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
