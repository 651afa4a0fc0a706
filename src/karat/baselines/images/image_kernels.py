"""The hot loops, compiled by numba: sums of minima over many columns, for tiles of pairs of rows.

Counts are 16-bit and so are their sums: as long as no row's sum over a call's columns exceeds 65,535, no sum
of minima can. Narrow numbers matter: a processor takes the minima of 16 or 32 of them at once.
"""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")
# Sums may be taken in any order; NaN was refused at the border.
reordered = njit(nogil=True, cache=True, error_model="numpy", fastmath=True)


@entry
def four_count_sums(x, a, b, c, d):
    """Return the sums of the minima of `x` with four others, all uint16: each value of `x` is loaded once."""
    p = np.uint16(0)
    q = np.uint16(0)
    r = np.uint16(0)
    s = np.uint16(0)
    for k in range(x.size):
        v = x[k]
        p = np.uint16(p + min(v, a[k]))
        q = np.uint16(q + min(v, b[k]))
        r = np.uint16(r + min(v, c[k]))
        s = np.uint16(s + min(v, d[k]))
    return p, q, r, s


@entry
def add_count_tile(a, b, first, last, begin, end, low, high, weight, out):
    """Add to ``out[first:last, begin:end]`` the weighted intersections over columns low to high, uint16."""
    final = end - 1
    for i in range(first, last):
        x = a[i][low:high]
        for j in range(begin, end, 4):
            # Beyond the last row, that row again: its sum is not used.
            k, m, n = min(j + 1, final), min(j + 2, final), min(j + 3, final)
            p, q, r, s = four_count_sums(x, b[j][low:high], b[k][low:high], b[m][low:high], b[n][low:high])
            out[i, j] += weight * p
            if j + 1 < end:
                out[i, k] += weight * q
            if j + 2 < end:
                out[i, m] += weight * r
            if j + 3 < end:
                out[i, n] += weight * s


@reordered
def real_sum(x, a):
    """Return the sum of the minima of two rows of real numbers, in double precision."""
    total = 0.0
    for k in range(x.size):
        total += min(x[k], a[k])
    return total


@entry
def add_real_tile(a, b, first, last, begin, end, low, high, weight, out):
    """Do as `add_count_tile` does for float32 or float64."""
    for i in range(first, last):
        x = a[i][low:high]
        for j in range(begin, end):
            out[i, j] += weight * real_sum(x, b[j][low:high])
