"""The hot loops of the one pass, compiled by numba: counts for judged items, and ranked lists.

A block of scores is small enough to stay in a processor's cache. Its rows are queries; for queries that are
columns of the table it is transposed first, so that every loop runs along memory. All results are integer
counts, so they depend neither on the size of blocks nor on their order nor on the number of threads.
Every function releases the interpreter lock.

Counters are floats of the scores' own type because compilers then keep them in the same vector
registers as the scores; blocks have far fewer than 2**24 columns, which keeps them exact.
"""

import numpy as np

from karat._util import njit

# What Python calls is cached on disk; what only kernels call is compiled into them.
entry = njit(nogil=True, cache=True, error_model="numpy")
compiled = njit(nogil=True, error_model="numpy")
# Counting commutes, so the compiler may add in any order.
counting = njit(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz"})


@counting
def higher_and_not_lower(values, low, high):
    """Return how many values are above `high`, and how many reach `low`."""
    one, zero = values.dtype.type(1), values.dtype.type(0)
    higher = zero
    not_lower = zero
    # Plain range(size): anything else makes numba guard against negative indices, and the loop
    # is then ten times slower.
    for i in range(values.size):
        higher += one if values[i] > high else zero
        not_lower += one if values[i] >= low else zero
    return int(higher), int(not_lower)


@counting
def any_reaching(values, bar):
    """Return whether a value reaches the bar."""
    one, zero = values.dtype.type(1), values.dtype.type(0)
    # A count, not a maximum: compilers do not vectorise that.
    number = zero
    for i in range(values.size):
        number += one if values[i] >= bar else zero
    return number > zero


@compiled
def band(threshold, error, kind_of):
    """Return between which rounded scores the exact one may be on either side of the threshold."""
    kind = kind_of.dtype.type
    # Outwards by some rounding steps, because the ends are themselves rounded; none where scores are exact.
    slack = 4 * np.finfo(kind_of.dtype).eps * (abs(threshold) + error) + error if error > 0 else 0.0
    return kind(threshold - slack), kind(threshold + slack)


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
def first_not_finite(block, left, right):
    """Return row and column of the first NaN or infinity in columns left to right, or (-1, -1)."""
    for r in range(block.shape[0]):
        row = block[r]
        if not all_finite(row[left:right]):
            for c in range(left, right):
                if not np.isfinite(row[c]):
                    return r, c
    return -1, -1


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
def exact_score(value, query, item):
    """Return the exact score of a pair: the product of its vectors, or the value where there are none."""
    if query.size == 0:
        return np.float64(value)
    return exact_product(query, item)


@compiled
def flag_between(values, low, high, flags):
    """Set the flags of the values from `low` to `high` to 1 and the others to 0."""
    for i in range(values.size):
        flags[i] = np.uint8(values[i] >= low) & np.uint8(values[i] <= high)


@compiled
def add_near(exact, threshold, order, own, above, tied, earlier, j):
    """Add one item with its exact score to the counts of judged item `j`, which is at `own` in the order."""
    if exact > threshold:
        above[j] += 1
    elif exact == threshold:
        tied[j] += 1
        if order < own:
            earlier[j] += 1


@entry
def count_in_block(
    block, left, begin, end, first_query, first_item, listed,
    ptr, item, threshold, order, above, tied, earlier,
    queries, items, error, query0, item0,
):  # fmt: skip
    """Add the scores of a block to the counts of the judged items of the queries that are its rows.

    Parameters
    ----------
    block, left
        Scores; its column `left` is that of item `first_item`, its row 0 that of query `first_query`.
    begin, end, listed
        The items of the gallery: begin to end, or those listed where some are.
    ptr, item, threshold, order
        Of all queries: their judged items with the exact scores, and of all items their place among equals.
    queries, items, error, query0, item0
        Vectors of the queries from `query0` and of the items from `item0`, without columns where scores are
        exact; per query, how far a score of the block is from the exact one at most.
    """
    size = listed.size if listed.size else end - begin
    buffer = np.empty(listed.size, block.dtype)
    exact = np.full(size, np.nan)
    touched = np.empty(size, np.int64)
    flags = np.zeros((size + 7) // 8 * 8, np.uint8)
    words = flags.view(np.uint64)
    for r in range(block.shape[0]):
        q = first_query + r
        first, last = ptr[q], ptr[q + 1]
        if first == last:
            continue
        row = block[r]
        if listed.size:
            for k in range(size):
                buffer[k] = row[listed[k] - first_item + left]
            values = buffer
        else:
            values = row[begin - first_item + left : end - first_item + left]
        if last - first > 2:
            lowest = threshold[first]
            for j in range(first + 1, last):
                lowest = min(lowest, threshold[j])
            # Where the judged items are among the first, most blocks have nothing that matters.
            if not any_reaching(values, band(lowest, error[q - query0], block)[0]):
                continue
        vector, bound, n_touched = queries[q - query0], error[q - query0], 0
        for j in range(first, last):
            t = threshold[j]
            low, high = band(t, bound, block)
            higher, not_lower = higher_and_not_lower(values, low, high)
            above[j] += higher
            near = not_lower - higher
            if near == 0:
                continue
            flag_between(values, low, high, flags)
            # Few are flagged: look at eight flags at a time until all were found.
            for w in range(words.size):
                if words[w] == 0:
                    continue
                for k in range(8 * w, min(8 * w + 8, size)):
                    if flags[k] == 0:
                        continue
                    near -= 1
                    i = listed[k] if listed.size else begin + k
                    # Several judged items of a query may be near one score: remember it.
                    if np.isnan(exact[k]):
                        exact[k] = exact_score(values[k], vector, items[i - item0])
                        touched[n_touched] = k
                        n_touched += 1
                    add_near(exact[k], t, order[i], order[item[j]], above, tied, earlier, j)
                if near == 0:
                    break
        for k in range(n_touched):
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
