"""The hot loops, compiled by numba: sums over all pairs of captions of two sets of items.

Captions come as flat arrays (see `karat.baselines.text.encoded_captions`). A call fills its own rows, so that
several threads can share one result.
"""

import numpy as np

from karat._util import njit

LANES = 8
"""Captions of rows that are worked on together, one per element of a vector register or two."""

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def fill_table(words, begin, end, lane, value, place, kappa, targets, table, seen):
    """Write the weighted similarity of a row caption's words to all target words into its lane."""
    for i in range(end - begin):
        word = words[begin + i]
        own = place[word]
        for t in range(targets.size):
            target = targets[t]
            if own >= 0 and place[target] >= 0:
                similar = kappa[own, place[target]]
            else:
                similar = 1.0 if word == target else 0.0
            if similar != 0.0:
                table[t, i * LANES + lane] = similar * value[word] * value[target]
                seen[t] = True


@entry
def trigram_sums(
    words, start, back, item, lanes, columns, column_start, column_back, column_first,
    targets, value, place, kappa, pairs, triples, out,
):  # fmt: skip
    """Add up the trigram kernel over all pairs of captions of row items and column items.

    With g[i, j] the weighted similarity of word i of one caption and word j of the other, and b[i, j] the
    sum of g over all that lies before both, single words give the sum of g, and pairs that of g b: a pair
    of places is a span. A triple is a span and one word inside it, which may occur there twice but counts
    once: its first place after the start. So word k in the middle takes starts from its last place before
    k on (`back`; 0 without one), and their sum is a difference of four values of b. With c the sum of what
    middles give over all that lies before both, triples give the sum of g c. One pass over the cells
    of both captions yields all three.

    Parameters
    ----------
    words, start, back, item
        The captions of rows, and the row of `out` that each adds to.
    lanes
        Captions in groups of `LANES`, -1 where a group has fewer; those of like lengths go together.
    columns, column_start, column_back, column_first
        The captions of columns; `columns` are places in `targets`.
    targets
        The distinct words of the columns.
    value
        The weight of every word, λ_m included.
    place, kappa
        The row of each word in the table of similarities; -1 for a word that is similar to itself alone.
    pairs, triples
        1.0 to count them, else 0.0.
    out
        [rows, columns], added to.
    """  # fmt: skip
    longest = 1
    for caption in range(start.size - 1):
        longest = max(longest, start[caption + 1] - start[caption])
    widest = 1
    for caption in range(column_start.size - 1):
        widest = max(widest, column_start[caption + 1] - column_start[caption])
    table = np.zeros((targets.size, longest * LANES))
    seen = np.zeros(targets.size, np.bool_)
    previous = np.zeros(longest * LANES, np.int64)
    before = np.zeros(longest * LANES)
    inside = np.zeros(longest * LANES)
    history = np.zeros((widest, longest * LANES))
    run, middle_run, total = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    for group in range(0, lanes.size, LANES):
        table[:] = 0.0
        seen[:] = False
        previous[:] = 0
        rows, repeats = 0, False
        for q in range(LANES):
            caption = lanes[group + q]
            if caption < 0:
                continue
            begin, end = start[caption], start[caption + 1]
            rows = max(rows, end - begin)
            for i in range(end - begin):
                previous[i * LANES + q] = back[begin + i]
                repeats |= back[begin + i] > 0
            fill_table(words, begin, end, q, value, place, kappa, targets, table, seen)
        width = rows * LANES
        for column in range(column_first.size - 1):
            total[:] = 0.0
            for caption in range(column_first[column], column_first[column + 1]):
                begin, end = column_start[caption], column_start[caption + 1]
                kept = repeats
                for j in range(begin, end):
                    kept |= column_back[j] > 0
                before[:width] = 0.0
                inside[:width] = 0.0
                for j in range(begin, end):
                    if kept:
                        history[j - begin, :width] = before[:width]
                    if not seen[columns[j]]:
                        continue
                    g_row = table[columns[j]]
                    run[:] = 0.0
                    middle_run[:] = 0.0
                    if not repeats and column_back[j] == 0:
                        for i in range(rows):
                            at = i * LANES
                            for q in range(LANES):
                                g, b, c = g_row[at + q], before[at + q], inside[at + q]
                                total[q] += g * (1.0 + pairs * b + triples * c)
                                before[at + q] = b + run[q]
                                inside[at + q] = c + middle_run[q]
                                run[q] += g
                                middle_run[q] += g * b
                    else:
                        now, then = history[j - begin], history[column_back[j]]
                        for i in range(rows):
                            at = i * LANES
                            for q in range(LANES):
                                g, b, c = g_row[at + q], before[at + q], inside[at + q]
                                p = previous[at + q] * LANES + q
                                starts = now[at + q] - now[p] - then[at + q] + then[p]
                                total[q] += g * (1.0 + pairs * b + triples * c)
                                before[at + q] = b + run[q]
                                inside[at + q] = c + middle_run[q]
                                run[q] += g
                                middle_run[q] += g * starts
            for q in range(LANES):
                if lanes[group + q] >= 0:
                    out[item[lanes[group + q]], column] += total[q]


@entry
def tag_rank_sums(
    words, start, values, sums, item, columns, column_start, column_values, column_sums, column_first,
    size, scale, out,
):  # fmt: skip
    """Add up the TAGRANK kernel over all pairs of captions of row items and column items.

    The sum of (x - y)² / (x + y) over all words is the sum of x and of y, less 4 x y / (x + y) for every
    word that both have; so only these are looked at.

    Parameters
    ----------
    words, start, values, sums, item
        The distinct words of each row caption, their two ranks [2, words] and the sums of these [2,
        captions]; the row of `out` that each caption adds to.
    columns, column_start, column_values, column_sums, column_first
        The same for the captions of columns, and the captions of each item.
    size
        The number of words.
    scale
        1 / (2 Ω) of both ranks.
    out
        [rows, columns], added to.
    """  # fmt: skip
    dense = np.zeros((size, 2))
    for caption in range(start.size - 1):
        for k in range(start[caption], start[caption + 1]):
            dense[words[k], 0] = values[0, k]
            dense[words[k], 1] = values[1, k]
        for column in range(column_first.size - 1):
            total = 0.0
            for other in range(column_first[column], column_first[column + 1]):
                far = sums[0, caption] + column_sums[0, other]
                near = sums[1, caption] + column_sums[1, other]
                for k in range(column_start[other], column_start[other + 1]):
                    x, y = dense[columns[k], 0], column_values[0, k]
                    if x > 0.0 and y > 0.0:
                        far -= 4.0 * x * y / (x + y)
                    x, y = dense[columns[k], 1], column_values[1, k]
                    if x > 0.0 and y > 0.0:
                        near -= 4.0 * x * y / (x + y)
                # Rounding may leave a distance just below 0.
                total += 0.5 * np.exp(-max(far, 0.0) * scale[0]) + 0.5 * np.exp(-max(near, 0.0) * scale[1])
            out[item[caption], column] += total
        for k in range(start[caption], start[caption + 1]):
            dense[words[k]] = 0.0
