"""The values of each row that belong to its first k."""

from __future__ import annotations

import numpy as np

from karat.runs.threads import threads as thread_loop


def reaching_kth(values: np.ndarray, k: int, slack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of the values that reach their row's k-th largest, less the row's slack.

    >>> reaching_kth(np.array([[1.0, 3.0, 2.0], [5.0, 5.0, 0.0]]), 1, np.zeros(2))
    (array([0, 1, 1]), array([1, 0, 1]))
    """
    from karat.runs.top_kernels import count_reaching, kth_largest, list_reaching

    rows = len(values)
    kth, count = np.empty(rows, values.dtype), np.empty(rows, np.int64)
    with thread_loop() as loop:
        loop(lambda begin, end: kth_largest(values, k, begin, end, kth), 0, rows)
        least = kth - slack
        loop(lambda begin, end: count_reaching(values, least, begin, end, count), 0, rows)
        ptr = np.concatenate([[0], np.cumsum(count)])
        column = np.empty(ptr[-1], np.int64)
        loop(lambda begin, end: list_reaching(values, least, begin, end, ptr, column), 0, rows)
    return np.repeat(np.arange(rows), count), column
