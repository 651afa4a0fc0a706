"""The first k of each row without sorting it, compiled by numba: a heap of the best k, then one more look."""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")
compiled = njit(nogil=True, error_model="numpy")


@compiled
def sift(heap, at):
    """Let the value at `at` sink until no child is smaller."""
    value = heap[at]
    while True:
        child = 2 * at + 1
        if child >= heap.size:
            break
        if child + 1 < heap.size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@entry
def kth_largest(values, k, begin, end, out):
    """Write the k-th largest value of rows begin to end; most values are looked at and dropped."""
    heap = np.empty(k, values.dtype)
    columns = values.shape[1]
    for row in range(begin, end):
        line = values[row]
        heap[:] = line[:k]
        for at in range(k // 2 - 1, -1, -1):
            sift(heap, at)
        least = heap[0]
        for column in range(k, columns):
            if line[column] > least:
                heap[0] = line[column]
                sift(heap, 0)
                least = heap[0]
        out[row] = least


@entry
def count_reaching(values, least, begin, end, count):
    """Write how many values of each row reach its own least."""
    for row in range(begin, end):
        line, wanted, found = values[row], least[row], 0
        for column in range(line.size):
            found += line[column] >= wanted
        count[row] = found


@entry
def list_reaching(values, least, begin, end, ptr, column):
    """Write the columns of these values, row after row."""
    for row in range(begin, end):
        line, wanted, at = values[row], least[row], ptr[row]
        for one in range(line.size):
            if line[one] >= wanted:
                column[at] = one
                at += 1
