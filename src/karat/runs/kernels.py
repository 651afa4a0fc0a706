"""The hot loops, compiled by numba: for every judged item, how many items score higher or the same.

All results are integer counts, so they do not depend on block size or on the number of threads.
Every function releases the interpreter lock; `karat._util.parallel` hands out disjoint parts.

Counters are floats of the scores' own type because compilers then keep them in the same vector
registers as the scores; stretches of at most 2**20 values keep them exact.
"""

import numpy as np

from karat._util import njit

STRETCH = 1 << 20
NEAR = 4096
"""So many columns at a time stay in a processor's first cache."""
TILE = 16
"""Columns that are transposed together: 16 float32 are one cache line."""

# What Python calls is cached on disk; what only kernels call is compiled into them.
entry = njit(nogil=True, cache=True, error_model="numpy")
compiled = njit(nogil=True, error_model="numpy")
# Counting commutes, so the compiler may add in any order.
counting = njit(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz"})


@counting
def higher_and_not_lower(values, low, high):
    """Return how many of at most `STRETCH` values are above `high`, and how many reach `low`."""
    one, zero = values.dtype.type(1), values.dtype.type(0)
    higher = zero
    not_lower = zero
    # Plain range(size): anything else makes numba guard against negative indices, and the loop
    # is then ten times slower.
    for i in range(values.size):
        higher += one if values[i] > high else zero
        not_lower += one if values[i] >= low else zero
    return int(higher), int(not_lower)


@compiled
def count_higher_and_same(values, threshold):
    """Return how many of `values` are above `threshold`, and how many equal it."""
    higher = 0
    not_lower = 0
    for begin in range(0, values.size, STRETCH):
        some = higher_and_not_lower(values[begin : begin + STRETCH], threshold, threshold)
        higher += some[0]
        not_lower += some[1]
    return higher, not_lower - higher


@compiled
def count_earlier_same(values, threshold, order, own):
    """Return how many of `values` equal `threshold` and come before the item in `order`."""
    earlier = 0
    for i in range(values.size):
        if values[i] == threshold and order[i] < own:
            earlier += 1
    return earlier


@compiled
def add_counts(values, threshold, order, own, own_is_here, above, tied, earlier, j):
    """Add one stretch of scores to the counts of judged item `j`, which is at `own` in the order."""
    higher, same = count_higher_and_same(values, threshold)
    above[j] += higher
    tied[j] += same
    # Where nothing but the item itself has its score, which is nearly always, nothing ties.
    if same > own_is_here:
        earlier[j] += count_earlier_same(values, threshold, order, own)


@counting
def all_finite(values):
    """Return whether no value is NaN or infinite."""
    largest = np.finfo(values.dtype).max
    one, zero = values.dtype.type(1), values.dtype.type(0)
    bad = zero
    for i in range(values.size):
        # Compared, not subtracted: x - x may be folded to 0. Saturation of `bad` does no harm.
        bad += zero if abs(values[i]) <= largest else one
    return bad == zero


@entry
def first_not_finite(block, begin, end):
    """Return row and column of the first NaN or infinity in rows begin to end, or (-1, -1)."""
    for r in range(begin, end):
        row = block[r]
        if not all_finite(row):
            for c in range(row.size):
                if not np.isfinite(row[c]):
                    return r, c
    return -1, -1


@entry
def largest_in_columns(block, row0, begin, end, largest, row_of):
    """Update the largest value of columns begin to end, and its row; of equal ones the first row stays."""
    for left in range(begin, end, NEAR):
        right = min(left + NEAR, end)
        best, rows = largest[left:right], row_of[left:right]
        for r in range(block.shape[0]):
            values, number = block[r, left:right], np.int32(row0 + r)
            for c in range(values.size):
                better = values[c] > best[c]
                best[c] = values[c] if better else best[c]
                rows[c] = number if better else rows[c]


@entry
def count_in_rows(block, row0, begin, end, ptr, item, gallery, lo, hi, order, above, tied, earlier):
    """Count for queries that are rows: rows begin to end of `block`, which starts at row `row0`.

    The gallery is the columns lo to hi when `gallery` is empty, else the columns it lists.
    """
    buffer = np.empty(gallery.size, block.dtype)
    places = np.empty(gallery.size, order.dtype)
    for k in range(gallery.size):
        places[k] = order[gallery[k]]
    for r in range(begin, end):
        first, last = ptr[row0 + r], ptr[row0 + r + 1]
        if first == last:
            continue
        row = block[r]
        if gallery.size:
            for k in range(gallery.size):
                buffer[k] = row[gallery[k]]
        for j in range(first, last):
            t = row[item[j]]
            own = order[item[j]]
            if gallery.size:
                add_counts(buffer, t, places, own, 1, above, tied, earlier, j)
            else:
                add_counts(row[lo:hi], t, order[lo:hi], own, 1, above, tied, earlier, j)


@compiled
def transpose_tile(block, rows, left, right, tile):
    """Write the columns left to right of the given rows as contiguous rows of `tile`."""
    for k in range(rows.size):
        row = block[rows[k]]
        for c in range(left, right):
            tile[c - left, k] = row[c]


@entry
def count_in_columns(block, row0, rows, begin, end, ptr, item, threshold, order, above, tied, earlier):
    """Count for queries that are columns begin to end; `rows` of `block` belong to the gallery.

    A tile of columns is transposed so that each query's scores are contiguous.
    """
    tile = np.empty((TILE, rows.size), block.dtype)
    places = np.empty(rows.size, order.dtype)
    for k in range(rows.size):
        places[k] = order[row0 + rows[k]]
    for left in range(begin, end, TILE):
        right = min(left + TILE, end)
        if ptr[left] == ptr[right]:
            continue
        transpose_tile(block, rows, left, right, tile)
        for c in range(left, right):
            for j in range(ptr[c], ptr[c + 1]):
                here = 1 if row0 <= item[j] < row0 + block.shape[0] else 0
                own = order[item[j]]
                add_counts(tile[c - left], threshold[j], places, own, here, above, tied, earlier, j)


@compiled
def exact_product(a, b):
    """Return Σ a_i b_i in double precision, always in the same order: eight interleaved sums."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = a.size - a.size % 8
    for i in range(0, whole, 8):
        s0 += np.float64(a[i]) * np.float64(b[i])
        s1 += np.float64(a[i + 1]) * np.float64(b[i + 1])
        s2 += np.float64(a[i + 2]) * np.float64(b[i + 2])
        s3 += np.float64(a[i + 3]) * np.float64(b[i + 3])
        s4 += np.float64(a[i + 4]) * np.float64(b[i + 4])
        s5 += np.float64(a[i + 5]) * np.float64(b[i + 5])
        s6 += np.float64(a[i + 6]) * np.float64(b[i + 6])
        s7 += np.float64(a[i + 7]) * np.float64(b[i + 7])
    for i in range(whole, a.size):
        s0 += np.float64(a[i]) * np.float64(b[i])
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@entry
def exact_pairs(left, right, first, second, begin, end, out):
    """Write the exact product of left[first[j]] and right[second[j]] for j from begin to end."""
    for j in range(begin, end):
        out[j] = exact_product(left[first[j]], right[second[j]])


@compiled
def flag_between(values, low, high, flags):
    """Set the flags of the values from `low` to `high` to 1 and the others to 0."""
    for i in range(values.size):
        flags[i] = np.uint8(values[i] >= low) & np.uint8(values[i] <= high)


@compiled
def add_near_counts(
    values,
    error,
    threshold,
    query,
    items,
    index,
    exact,
    touched,
    n_touched,
    flags,
    order,
    own,
    above,
    tied,
    earlier,
    j,
):
    """Add a stretch of rounded scores to the counts of judged item `j`, as if they were exact.

    `threshold` is the judged item's exact score, and `error` bounds how far a rounded score is
    from its own: only scores closer than that are computed again. `exact` remembers them (NaN: not
    yet), `touched` says where; the number of these is returned.
    """
    kind = values.dtype.type
    # Outwards by some rounding steps, because the ends are themselves rounded.
    slack = 4 * np.finfo(values.dtype).eps * (abs(threshold) + error) + error
    low, high = kind(threshold - slack), kind(threshold + slack)
    for begin in range(0, values.size, STRETCH):
        part = values[begin : begin + STRETCH]
        higher, not_lower = higher_and_not_lower(part, low, high)
        above[j] += higher
        left = not_lower - higher
        if left == 0:
            continue
        flag_between(part, low, high, flags)
        # Few are flagged: look at eight flags at a time until all were found.
        words = flags.view(np.uint64)
        for w in range(words.size):
            if words[w] == 0:
                continue
            for k in range(8 * w, min(8 * w + 8, part.size)):
                if flags[k] == 0:
                    continue
                left -= 1
                i = begin + k
                if np.isnan(exact[i]):
                    exact[i] = exact_product(query, items[index[i]])
                    touched[n_touched] = i
                    n_touched += 1
                if exact[i] > threshold:
                    above[j] += 1
                elif exact[i] == threshold:
                    tied[j] += 1
                    if order[i] < own:
                        earlier[j] += 1
            if left == 0:
                break
    return n_touched


@compiled
def room_for_flags(size):
    """Return flags for a stretch of at most `size` values, in whole words of eight."""
    return np.zeros((min(size, STRETCH) + 7) // 8 * 8, np.uint8)


@entry
def count_near_in_rows(
    block, row0, begin, end, ptr, item, threshold, gallery, order, queries, items, error, above, tied, earlier
):
    """Count for queries that are rows of a product, with near ties decided exactly."""
    size = gallery.size
    everything = size == block.shape[1]
    buffer = np.empty(0 if everything else size, block.dtype)
    exact = np.full(size, np.nan)
    touched = np.empty(size, np.int64)
    flags = room_for_flags(size)
    places = np.empty(size, order.dtype)
    for k in range(size):
        places[k] = order[gallery[k]]
    for r in range(begin, end):
        first, last = ptr[row0 + r], ptr[row0 + r + 1]
        if first == last:
            continue
        values = block[r]
        if not everything:
            for k in range(size):
                buffer[k] = values[gallery[k]]
            values = buffer
        n = 0
        for j in range(first, last):
            n = add_near_counts(
                values,
                error[row0 + r],
                threshold[j],
                queries[row0 + r],
                items,
                gallery,
                exact,
                touched,
                n,
                flags,
                places,
                order[item[j]],
                above,
                tied,
                earlier,
                j,
            )
        for k in range(n):
            exact[touched[k]] = np.nan


@entry
def count_near_in_columns(
    block, row0, rows, begin, end, ptr, item, threshold, order, queries, items, error, above, tied, earlier
):
    """Count for queries that are columns of a product, with near ties decided exactly."""
    size = rows.size
    tile = np.empty((TILE, size), block.dtype)
    exact = np.full(size, np.nan)
    touched = np.empty(size, np.int64)
    flags = room_for_flags(size)
    places = np.empty(size, order.dtype)
    index = np.empty(size, np.int64)
    for k in range(size):
        index[k] = row0 + rows[k]
        places[k] = order[index[k]]
    for left in range(begin, end, TILE):
        right = min(left + TILE, end)
        if ptr[left] == ptr[right]:
            continue
        transpose_tile(block, rows, left, right, tile)
        for c in range(left, right):
            n = 0
            for j in range(ptr[c], ptr[c + 1]):
                n = add_near_counts(
                    tile[c - left],
                    error[c],
                    threshold[j],
                    queries[c],
                    items,
                    index,
                    exact,
                    touched,
                    n,
                    flags,
                    places,
                    order[item[j]],
                    above,
                    tied,
                    earlier,
                    j,
                )
            for k in range(n):
                exact[touched[k]] = np.nan


@entry
def count_in_lists(
    list_ptr, listed, group, inside, all_inside, begin, end, ptr, item, n_items, above, tied, earlier, depth
):
    """Find judged items in ranked lists, among the gallery's items: `above` is -1 where one is not listed.

    Rows of a list with the same `group` tie.
    """
    place = np.full(n_items, -1, np.int64)
    first = np.zeros(n_items, np.int64)
    width = np.zeros(n_items + 1, np.int64)
    for q in range(begin, end):
        found = 0
        start = 0
        last = -1
        for k in range(list_ptr[q], list_ptr[q + 1]):
            if all_inside or inside[listed[k]]:
                if group[k] != last:
                    start = found
                    last = group[k]
                    width[start] = 0
                place[listed[k]] = found
                first[listed[k]] = start
                width[start] += 1
                found += 1
        depth[q] = found
        for j in range(ptr[q], ptr[q + 1]):
            if place[item[j]] >= 0:
                above[j] = first[item[j]]
                tied[j] = width[above[j]] - 1
                earlier[j] = place[item[j]] - above[j]
        for k in range(list_ptr[q], list_ptr[q + 1]):
            place[listed[k]] = -1
