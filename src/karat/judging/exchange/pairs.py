"""Which pair, and which task, each answer of a file is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.judging.exchange.given import ImportedAnswers, shorten
from karat.judging.exchange.task_names import TaskNames
from karat.judging.exchange.texts import Texts

if TYPE_CHECKING:
    from karat.benchmarks import Benchmark, Ids

ABSENT = -1


def find_pairs(
    given: ImportedAnswers, benchmark: Benchmark, names: TaskNames
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the task (−1: none), the image and the caption of each answer, as indices.

    An answer names its pair by the item of a task, or by the two ids, or by both, which must agree; with a
    task, the pair must be one of it.
    """
    tasks = looked_up(given, given.task, "task", names.find, "the project has no such task")
    image = looked_up_ids(given, given.image, "image", benchmark.images)
    caption = looked_up_ids(given, given.caption, "caption", benchmark.captions)
    item = looked_up(given, given.item, "item", parse_item, "items are numbered from 1")
    plan = names.plan
    by_item = item != ABSENT
    by_ids = (image != ABSENT) | (caption != ABSENT)
    reject(given, by_item & (tasks == ABSENT), "has an item without a task", "name the task")
    incomplete = ~by_item & ((image == ABSENT) | (caption == ABSENT))
    reject(given, incomplete, "does not say which pair is meant", "give task and item, or image and caption")
    half = by_ids & ((image == ABSENT) | (caption == ABSENT))
    reject(given, half, "names half a pair", "give image and caption, or none of them")
    at = find_rows([plan.task, plan.position], [tasks, item - 1])
    reject(given, by_item & (at < 0), "names an item that the task does not have", "check the item")
    found = np.maximum(at, 0)
    if len(plan):
        different = (plan.image[found] != image) | (plan.caption[found] != caption)
        reject(given, by_item & by_ids & different, "has ids that are not the item's", "remove either")
        image = np.where(by_item, plan.image[found], image)
        caption = np.where(by_item, plan.caption[found], caption)
    inside = find_rows([plan.task, plan.image, plan.caption], [tasks, image, caption])
    reject(given, (tasks != ABSENT) & (inside < 0), "has a pair that is not in its task", "check the ids")
    return tasks, image, caption


def looked_up(
    given: ImportedAnswers, column: Texts, name: str, find: Callable[[str], int], fix: str
) -> np.ndarray:
    """Return a number for each text: −1 where there is none; raise where nothing is found."""
    found = column.map(lambda text: find(text) if text else ABSENT)
    row = column.first(lambda text: bool(text) and find(text) < 0) if (found < 0).any() else None
    if row is not None:
        raise given.error(row, f"{name} is {shorten(column[row])}", fix)
    return found


def looked_up_ids(given: ImportedAnswers, column: Texts, kind: str, ids: Ids) -> np.ndarray:
    """Return the index of each id; −1 where there is none."""
    different = [text for text in column.values if text]
    found = ids.find(different).tolist() if different else []
    # What only judgments know is shown to nobody, so nobody can have judged it.
    table = {text: index if index < ids.size else ABSENT for text, index in zip(different, found)}
    return looked_up(given, column, kind, table.__getitem__, f"the benchmark has no {kind} with this id")


def parse_item(text: str) -> int:
    """Return the place of an item; −1 for text that is none."""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) else ABSENT


def reject(given: ImportedAnswers, wrong: np.ndarray, what: str, fix: str) -> None:
    """Raise on the first answer that is wrong."""
    if wrong.any():
        raise given.error(int(np.argmax(wrong)), what, fix)


def find_rows(table: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> np.ndarray:
    """Return the row of a table, given by columns of whole numbers, that equals each wanted one; −1: none.

    Examples
    --------
    >>> columns = [np.array([0, 0, 1]), np.array([5, 7, 5])]
    >>> find_rows(columns, [np.array([1, 0, 0]), np.array([5, 5, 6])]).tolist()
    [2, 0, -1]
    """
    size, number = len(table[0]), len(wanted[0])
    if not size or not number:
        return np.full(number, -1)
    keys, asked = np.zeros(size, np.int64), np.zeros(number, np.int64)
    known = np.ones(number, bool)
    for column, values in zip(table, wanted):
        # Dense codes keep the combined key below the square of the table's length.
        distinct, code = np.unique(column, return_inverse=True)
        place = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
        known &= distinct[place] == values
        both = keys * len(distinct) + code, asked * len(distinct) + place
        # The keys become dense again, since three columns could outgrow 64 bits.
        packed, keys = np.unique(both[0], return_inverse=True)
        slot = np.minimum(np.searchsorted(packed, both[1]), len(packed) - 1)
        known &= packed[slot] == both[1]
        asked = slot
    first = np.zeros(int(keys.max()) + 1, np.int64)
    first[keys[::-1]] = np.arange(size)[::-1]
    return np.where(known, first[asked], -1)
