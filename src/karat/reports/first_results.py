"""The first result of every query, for the table of queries."""

from __future__ import annotations

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.runs import Run
from karat.runs.table import TableRun

First = dict[Direction, np.ndarray]
"""Per direction, the first item of every query; the number of all items where there is none."""


def first_results(run: Run, benchmark: Benchmark) -> First:
    """Return the first result of every query in every direction that the run answers.

    Tables are passed through once for both directions. They are read as rounded scores, and of equal
    scores any one may come first: this is for looking at, measures count ties exactly.

    Examples
    --------
    >>> import karat
    >>> from karat.benchmarks import Ids, Judgments, Provenance, Truth
    >>> own = Judgments(range(3), range(3), sources=[Provenance("original")])
    >>> ids = Ids(range(3), kind="image"), Ids(range(3), kind="caption")
    >>> bench = Benchmark("tiny", *ids, {"own": Truth("own", own, {"i2t": np.arange(3)})})
    >>> run = karat.load_run(np.array([[3.0, 1, 2], [1, 2, 9], [8, 5, 4]]))
    >>> {direction: first.tolist() for direction, first in first_results(run, bench).items()}
    {'i2t': [0, 2, 0], 't2i': [2, 2, 1]}
    """
    aligned = run.align(benchmark)
    if isinstance(aligned, TableRun):
        return in_one_pass(aligned)
    found: First = {}
    for direction in DIRECTIONS:
        if direction in run.directions:
            top = aligned.top(direction, 1)
            found[direction] = np.full(benchmark.queries(direction).size, len(benchmark.items(direction)))
            some = np.diff(top.ptr) > 0
            found[direction][some] = top.item[top.ptr[:-1][some]]
    return found


def in_one_pass(run: TableRun) -> First:
    """Return the first results of a table: the largest cell of every row and of every column."""
    rows, columns = run.shape
    of_row, of_column = np.zeros(rows, np.int64), np.zeros(columns, np.int64)
    largest = np.full(columns, -np.inf)
    for begin, block in run.blocks():
        of_row[begin : begin + len(block)] = block.argmax(axis=1)
        highest = block.max(axis=0)
        better = np.flatnonzero(highest > largest)
        # Where in the block: only asked for the columns that this block improves.
        of_column[better] = begin + block[:, better].argmax(axis=0)
        largest[better] = highest[better]
    found: First = {}
    for direction in DIRECTIONS:
        query_of, item_of = run.maps(direction)
        number = np.empty(len(item_of), np.int64)
        number[item_of] = np.arange(len(item_of))
        found[direction] = number[(of_row if run.asks_by_rows(direction) else of_column)[query_of]]
    return found
