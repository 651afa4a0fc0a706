"""The hot loops, compiled by numba: medians, sums of flipped clusters, and counting.

For medians, values come sorted: one is found by walking up until half of the weight has been met.
The walk begins at the last checkpoint below it: what lies before the checkpoints is known from one
matrix product for all rows.

Sums of flipped clusters are looked up: eight clusters are a byte of flips, and a table holds the sums of
all 256 bytes.
"""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def weighted_medians(weights, seen, cluster, values, checkpoint, out):
    """Per row of `weights` (one per cluster), the median of sorted `values`; NaN if nothing was drawn.

    A value counts as often as its cluster was drawn. `seen` is the weight before each checkpoint,
    [rows, checkpoints]; the last checkpoint is the end of the list.
    """
    last = checkpoint.size - 1
    for row in range(weights.shape[0]):
        half = seen[row, last] / 2
        out[row] = np.nan
        if half <= 0:
            continue
        k = last
        while seen[row, k] >= half:
            k -= 1
        running = seen[row, k]
        i = checkpoint[k] - 1
        while running < half:
            i += 1
            running += weights[row, cluster[i]]
        out[row] = values[i]
        if running == half:
            # An even number: the mean of the two in the middle, as np.median takes it.
            i += 1
            while weights[row, cluster[i]] == 0:
                i += 1
            out[row] = out[row] / 2 + values[i] / 2


@entry
def swapped_medians(flips, seen, cluster, second, values, checkpoint, out):
    """Per row of `flips` (per cluster 0 or 1), the medians of two systems that swap flipped clusters.

    Parameters
    ----------
    flips
        Whether a cluster's values change hands, uint8 [rows, clusters].
    seen
        How many values before each checkpoint are the first system's after the swap.
    cluster, second, values
        The values of both systems in one sorted list: the cluster of each, and whether it is the
        second system's.
    checkpoint
        Places in that list; the last is its end.
    out
        The medians of the first and the second system after the swap, [2, rows].
    """
    last = checkpoint.size - 1
    for row in range(flips.shape[0]):
        for side in range(2):
            out[side, row] = np.nan
            size = seen[row, last] if side == 0 else checkpoint[last] - seen[row, last]
            if size == 0:
                continue
            # The places of the two values in the middle, counted from 1; the same one if odd.
            low, high = (size + 1) // 2, size // 2 + 1
            k = last
            count = size
            while count >= low:
                k -= 1
                count = seen[row, k] if side == 0 else checkpoint[k] - seen[row, k]
            i = checkpoint[k] - 1
            while count < low:
                i += 1
                if (second[i] ^ flips[row, cluster[i]]) == side:
                    count += 1
            out[side, row] = values[i]
            if high > low:
                while count < high:
                    i += 1
                    if (second[i] ^ flips[row, cluster[i]]) == side:
                        count += 1
                out[side, row] = out[side, row] / 2 + values[i] / 2


TILE = 64
"""So many columns at a time, so that eight tables stay in a processor's second cache: 1 MB."""


@entry
def flipped_sums(packed, added):
    """Return, per row of `packed`, the sum of what the flipped clusters add, [rows, columns].

    Parameters
    ----------
    packed
        Whether each cluster is flipped, eight to a byte, uint8 [rows, bytes]; the bytes are a multiple of 8.
    added
        What each cluster adds to each column, [8 * bytes, columns].
    """
    rows, width = packed.shape
    out = np.zeros((rows, added.shape[1]))
    tables = np.empty((8, 256, min(TILE, added.shape[1])))
    for left in range(0, added.shape[1], TILE):
        right = min(left + TILE, added.shape[1])
        for begin in range(0, width, 8):
            for byte in range(8):
                first = 8 * (begin + byte)
                fill_table(added[first : first + 8, left:right], tables[byte])
            for row in range(rows):
                bits = packed[row, begin : begin + 8]
                a, b = tables[0, bits[0]], tables[1, bits[1]]
                c, d = tables[2, bits[2]], tables[3, bits[3]]
                e, f = tables[4, bits[4]], tables[5, bits[5]]
                g, h = tables[6, bits[6]], tables[7, bits[7]]
                sums = out[row, left:right]
                for j in range(right - left):
                    sums[j] += ((a[j] + b[j]) + (c[j] + d[j])) + ((e[j] + f[j]) + (g[j] + h[j]))
    return out


@njit
def fill_table(added, table):
    """Set row k of `table` to the sum of the rows of `added` [8, columns] whose bits are set in k."""
    columns = added.shape[1]
    table[0, :columns] = 0
    for bit in range(8):
        for low in range(1 << bit):
            for j in range(columns):
                table[(1 << bit) + low, j] = table[low, j] + added[bit, j]


@entry
def count_large_differences(columns, first, second, least, counts):
    """Per pair of rows of `columns`, add to `counts` how many entries differ by `least` or more."""
    for pair in range(first.size):
        a, b = columns[first[pair]], columns[second[pair]]
        found = 0
        for i in range(a.size):
            found += abs(a[i] - b[i]) >= least[pair]
        counts[pair] += found
