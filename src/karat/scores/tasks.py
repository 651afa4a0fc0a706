"""What has to be asked of a run: each truth × direction × fold, and the questions they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.benchmarks import Benchmark, Direction, Fold, Truth
from karat.measures.ties import Counts
from karat.runs import Answer, Question


@dataclass(frozen=True, eq=False)
class Task:
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


def tasks_of(benchmark: Benchmark, truth: Truth, direction: Direction) -> list[Task]:
    """Return one task per fold."""
    folds: Sequence[Fold | None] = truth.folds or [None]
    return [fold_task(benchmark, truth, direction, fold) for fold in folds]


def fold_task(benchmark: Benchmark, truth: Truth, direction: Direction, fold: Fold | None) -> Task:
    """Return the task of one fold: its own queries, and their judged items in its own gallery.

    Items in other folds are not asked about; items outside every gallery stay among the positives.
    """
    everything = benchmark.items(direction).size
    queries = np.asarray(truth.queries.get(direction, np.empty(0)), dtype=np.int64)
    gallery = None if fold is None else np.sort(fold.items(direction))
    asked = np.ones(len(queries), bool) if fold is None else np.isin(queries, fold.queries(direction))
    if truth.implicit:
        item, grade, lengths = np.zeros(0, np.int64), np.zeros(0), np.zeros(int(asked.sum()), np.int64)
    else:
        rows = truth.judged(direction)
        place = np.repeat(np.arange(len(queries)), np.diff(rows.ptr))
        keep = asked[place]
        if gallery is not None:
            keep &= np.isin(rows.item, gallery) | (rows.item >= everything)
        item, grade = rows.item[keep], rows.grade[keep]
        lengths = np.bincount(place[keep], minlength=len(queries))[asked]
    return Task(
        truth,
        direction,
        fold,
        queries[asked],
        np.r_[0, np.cumsum(lengths)],
        item,
        grade,
        item >= everything,
        gallery,
        everything if gallery is None else len(gallery),
    )


class SharedQuestions:
    """The distinct questions of many tasks: truths that share a gallery are asked about together."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = [task for task in tasks if not task.truth.implicit]
        groups: dict[tuple[Direction, bytes], list[Task]] = {}
        for task in self.tasks:
            key = (task.direction, b"" if task.gallery is None else task.gallery.tobytes())
            groups.setdefault(key, []).append(task)
        self._groups = list(groups.values())
        self._keys: list[np.ndarray] = []
        self.questions: list[Question] = []
        for group in self._groups:
            keys = np.unique(np.concatenate([pair_keys(task)[~task.outside] for task in group]))
            self._keys.append(keys)
            query, item = np.divmod(keys, KEY_BASE)
            self.questions.append(Question(group[0].direction, query, item, group[0].gallery))

    def counts(self, answers: Sequence[Answer]) -> dict[Task, Counts]:
        """Return the counts of each task."""
        return {
            task: counts_of(task, keys, answer)
            for group, keys, answer in zip(self._groups, self._keys, answers)
            for task in group
        }


KEY_BASE = 1 << 32


def pair_keys(task: Task) -> np.ndarray:
    """Return one number per judged pair, ordered by query, then item."""
    return task.query_of_row * KEY_BASE + task.item


def counts_of(task: Task, keys: np.ndarray, answer: Answer) -> Counts:
    """Pick a task's rows from the answer to the shared question."""
    inside = ~task.outside
    at = np.searchsorted(keys, pair_keys(task)[inside])

    def pick(column: np.ndarray, missing: int) -> np.ndarray:
        picked = np.full(len(task.item), missing, np.int64)
        picked[inside] = column[at]
        return picked

    size = np.full(len(task.queries), task.size)
    depth = size if answer.depth is None else answer.depth[task.queries]
    return Counts(
        ptr=task.ptr,
        grade=task.grade,
        above=pick(answer.above, -1),
        tied=pick(answer.tied, 0),
        earlier=pick(answer.earlier, 0),
        outside=task.outside,
        size=size,
        depth=depth,
        complete=task.truth.complete,
    )
