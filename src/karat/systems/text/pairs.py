"""All pairs of items on several threads: rows in groups, half of them where rows and columns are the same."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from karat.runs.threads import default_threads
from karat.systems.text.kernel import Progress
from karat.validation import InputError

GROUP = 64
"""Items per group of rows."""

Fill = Callable[[int, int, int, np.ndarray], object]
"""Adds rows begin to end, columns from `left` on, to a block of zeros: fill(begin, end, left, block)."""


def all_pairs(
    rows: int,
    columns: int | None,
    fill: Fill,
    threads: int | None = None,
    progress: Progress | None = None,
    group: int = GROUP,
) -> np.ndarray:
    """Return what `fill` adds up for all rows and columns; without `columns`, they are the rows again.

    >>> def fill(begin, end, left, out):
    ...     out += np.arange(begin, end)[:, None] + np.arange(left, left + out.shape[1])
    >>> all_pairs(3, None, fill, group=2)
    array([[0., 1., 2.],
           [1., 2., 3.],
           [2., 3., 4.]])
    """
    if threads is not None and threads < 1:
        raise InputError(f"{threads} threads were asked for", fix="ask for 1 or more")
    out = np.zeros((rows, rows if columns is None else columns))

    def one(begin: int) -> int:
        end, left = min(begin + group, rows), begin if columns is None else 0
        # A block of its own is one piece of memory: the kernels are compiled for that alone.
        block = np.zeros((end - begin, out.shape[1] - left))
        fill(begin, end, left, block)
        out[begin:end, left:] = block
        return end - begin

    done = 0
    with ThreadPoolExecutor(threads or default_threads()) as pool:
        for finished in pool.map(one, range(0, rows, group)):
            done += finished
            if progress is not None:
                progress(done, rows)
    if columns is None:
        # What lies below the diagonal is what lies above it, also inside the groups.
        for begin in range(0, rows, group):
            end = min(begin + group, rows)
            out[begin:, begin:end] = np.tril(out[begin:end, begin:].T, -1) + np.triu(out[begin:, begin:end])
    return out


def own_values(items: int, fill: Callable[[int, np.ndarray], object]) -> np.ndarray:
    """Return what each item is to itself: `fill` adds it to a table of one cell.

    >>> def fill(i, cell):
    ...     cell += i**2
    >>> own_values(3, fill)
    array([0., 1., 4.])
    """
    values = np.zeros(items)
    for i in range(items):
        cell = np.zeros((1, 1))
        fill(i, cell)
        values[i] = cell[0, 0]
    return values
