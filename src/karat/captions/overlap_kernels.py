"""The hot loops over shared n-grams, compiled by numba.

Names as in `Texts`, `Grams` and `Cells`. `turn` lists the candidates by length, so that what depends on a
candidate's length is worked out once for all that have it. Blocks are filled candidate by candidate,
[candidates, images], where writes are next to each other; `turned` makes that images by candidates.
"""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def weigh(length, fall, cell_entry, entry_value, entry_length, value):
    """Fill `value`: per cell the sum of its entries, each by how far its length is from `length`."""
    for c in range(value.size):
        total = 0.0
        for e in range(cell_entry[c], cell_entry[c + 1]):
            total += entry_value[e] * fall[abs(length - entry_length[e])]
        value[c] = total


@entry
def sum_blocks(
    begin, end, turn, candidate, start, gram, left, length, fall,
    cell_begin, cell_image, cell_entry, entry_value, entry_length, scale, out,
):  # fmt: skip
    """Fill rows of `out` with sums over shared grams, for candidates turn[begin:end]."""
    value = np.empty(cell_image.size)
    row = np.empty(scale.size)
    known = -1
    for k in range(begin, end):
        j = turn[k]
        t = candidate[j]
        if length[t] != known:
            known = length[t]
            weigh(known, fall, cell_entry, entry_value, entry_length, value)
        row[:] = 0
        for e in range(start[t, 0], start[t, start.shape[1] - 1]):
            by = left[e]
            if by != 0:
                for c in range(cell_begin[gram[e]], cell_begin[gram[e] + 1]):
                    row[cell_image[c]] += by * value[c]
        for i in range(row.size):
            out[j, i] = row[i] * scale[i]


@entry
def sum_pairs(
    begin, end, image, text, leave_out, first, reference, start, gram, left, right, length, fall, size, out
):
    """Fill `out` with sums over shared grams for the pairs begin to end."""
    for p in range(begin, end):
        t = text[p]
        a_end = start[t, start.shape[1] - 1]
        total = 0.0
        weight = 0.0
        for q in range(first[image[p]], first[image[p] + 1]):
            if q - first[image[p]] == leave_out[p]:
                continue
            r = reference[q]
            weight += size[r]
            a, b = start[t, 0], start[r, 0]
            b_end = start[r, start.shape[1] - 1]
            dot = 0.0
            while a < a_end and b < b_end:
                if gram[a] == gram[b]:
                    dot += left[a] * right[b]
                    a += 1
                    b += 1
                elif gram[a] < gram[b]:
                    a += 1
                else:
                    b += 1
            total += dot * fall[abs(length[t] - length[r])]
        out[p] = total / weight if weight > 0 else 0.0


@entry
def closest(length, begin, end, leave, reference, lengths):
    """Return the reference length nearest to `length`, the shorter of two; −1 without references."""
    best = -1
    for q in range(begin, end):
        if q - begin == leave:
            continue
        other = lengths[reference[q]]
        near, far = abs(other - length), abs(best - length)
        if best < 0 or near < far or (near == far and other < best):
            best = other
    return best


@entry
def brevity(length, nearest, tiny, small):
    """Return BLEU's penalty of captions that are shorter than the nearest reference."""
    ratio = (length + tiny) / (nearest + small)
    return np.exp(1 - 1 / ratio) if ratio < 1 else 1.0


@entry
def precision(covered, column, length, orders, tiny, small):
    """Return the geometric mean of the n-gram precisions; `covered` is [orders, columns]."""
    product = 1.0
    for n in range(orders):
        guesses = max(0, length - n) + small
        product *= (covered[n, column] + tiny) / guesses if guesses > 0 else 0.0
    return product if orders == 1 else product ** (1.0 / orders)


@entry
def cover_blocks(
    begin, end, turn, candidate, start, gram, length, tiny, small, brief,
    cell_begin, cell_image, first, reference, first_image, out,
):  # fmt: skip
    """Fill rows of `out` with BLEU, for candidates turn[begin:end]."""
    images = out.shape[1]
    orders = start.shape[1] - 1
    covered = np.empty((orders, images))
    penalty = np.ones(images)
    known = -1
    for k in range(begin, end):
        j = turn[k]
        t = candidate[j]
        if length[t] != known:
            known = length[t]
            for i in range(images):
                b, e = first[first_image + i], first[first_image + i + 1]
                if b == e:
                    penalty[i] = 0
                elif brief:
                    penalty[i] = brevity(known, closest(known, b, e, -1, reference, length), tiny, small)
        covered[:] = 0
        for n in range(orders):
            for e in range(start[t, n], start[t, n + 1]):
                for c in range(cell_begin[gram[e]], cell_begin[gram[e] + 1]):
                    covered[n, cell_image[c]] += 1
        for i in range(images):
            by = penalty[i]
            out[j, i] = by * precision(covered, i, known, orders, tiny, small) if by > 0 else 0.0


@entry
def cover_pairs(begin, end, image, text, leave_out, first, reference, start, gram, length, covered, near):
    """Fill `covered` [orders, pairs] and `near`, the nearest reference length (−1 without references)."""
    orders = start.shape[1] - 1
    for p in range(begin, end):
        t = text[p]
        b, e = first[image[p]], first[image[p] + 1]
        near[p] = closest(length[t], b, e, leave_out[p], reference, length)
        seen = np.zeros(start[t, orders] - start[t, 0], dtype=np.bool_)
        for q in range(b, e):
            if q - b == leave_out[p]:
                continue
            r = reference[q]
            a, c = start[t, 0], start[r, 0]
            while a < start[t, orders] and c < start[r, orders]:
                if gram[a] == gram[c]:
                    seen[a - start[t, 0]] = True
                    a += 1
                    c += 1
                elif gram[a] < gram[c]:
                    a += 1
                else:
                    c += 1
        for n in range(orders):
            for a in range(start[t, n], start[t, n + 1]):
                covered[n, p] += seen[a - start[t, 0]]


@entry
def turned(begin, end, block, out):
    """Copy columns begin to end of `block` [candidates, images] into rows of `out` [images, candidates]."""
    side = 32
    for i in range(begin, end, side):
        for j in range(0, block.shape[0], side):
            for a in range(i, min(i + side, end)):
                for b in range(j, min(j + side, block.shape[0])):
                    out[a, b] = block[b, a]
