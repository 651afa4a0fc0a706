"""The longest common subsequence of captions, word by word, with 64 words of one of them in a machine word.

Bit k of `low[w]` says that the candidate's word k is w. Going through a reference's words, the bits that
turn to 0 count the subsequence (Hyyrö 2004): a word costs four operations instead of a row of a table.
"""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def ones(word):
    """Return how many bits of a 64-bit word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@entry
def set_masks(t, start, words, low, wide):
    """Note where a text has which word: in `low` [words]; beyond 64 words in `wide` [words, width]."""
    length = start[t + 1] - start[t]
    for k in range(length):
        word = words[start[t] + k]
        if length <= 64:
            low[word] |= np.uint64(1) << np.uint64(k)
        else:
            wide[word, k >> 6] |= np.uint64(1) << np.uint64(k & 63)


@entry
def clear_masks(t, start, words, low, wide):
    """Undo `set_masks`."""
    for k in range(start[t], start[t + 1]):
        low[words[k]] = 0
        if start[t + 1] - start[t] > 64:
            wide[words[k]] = 0


@entry
def common_short(begin, end, words, low):
    """Return the length of the longest common subsequence of the text in `low` and words begin to end."""
    # Bits beyond the text's length never match, so they stay 1.
    bits = ~np.uint64(0)
    for k in range(begin, end):
        hit = bits & low[words[k]]
        bits = (bits + hit) | (bits - hit)
    return ones(~bits)


@entry
def common_long(begin, end, words, wide, row):
    """Return the same for the text in `wide`; `row` is room for its bits."""
    row[:] = ~np.uint64(0)
    for k in range(begin, end):
        carry = np.uint64(0)
        for w in range(row.size):
            hit = row[w] & wide[words[k], w]
            total = row[w] + hit
            over = total < hit
            total += carry
            carry = np.uint64(1) if over or (carry and total == 0) else np.uint64(0)
            row[w] = total | (row[w] - hit)
    found = 0
    for w in range(row.size):
        found += ones(~row[w])
    return found


@entry
def f_score(best_precision, best_recall, beta):
    """Return the F-score of the best precision and the best recall."""
    if best_precision == 0 or best_recall == 0:
        return 0.0
    return (1 + beta**2) * best_precision * best_recall / (best_recall + beta**2 * best_precision)


@entry
def rouge_of(t, b, e, leave, reference, start, words, low, wide, row, beta):
    """Return ROUGE-L of text t, whose masks are set, and the references b to e, without number `leave`."""
    precision = recall = 0.0
    length = start[t + 1] - start[t]
    for q in range(b, e):
        begin, end = start[reference[q]], start[reference[q] + 1]
        if q - b == leave or end == begin or length == 0:
            continue
        if length <= 64:
            found = common_short(begin, end, words, low)
        else:
            found = common_long(begin, end, words, wide, row[: (length + 63) >> 6])
        precision = max(precision, found / length)
        recall = max(recall, found / (end - begin))
    return f_score(precision, recall, beta)


@entry
def rouge_blocks(
    begin, end, turn, candidate, start, words, first, reference, first_image, beta, low, wide, out
):
    """Fill rows of `out` [candidates, images] with ROUGE-L, for candidates turn[begin:end]."""
    row = np.empty(wide.shape[1], dtype=np.uint64)
    for k in range(begin, end):
        j = turn[k]
        t = candidate[j]
        set_masks(t, start, words, low, wide)
        for i in range(out.shape[1]):
            b, e = first[first_image + i], first[first_image + i + 1]
            out[j, i] = rouge_of(t, b, e, -1, reference, start, words, low, wide, row, beta)
        clear_masks(t, start, words, low, wide)


@entry
def rouge_pairs(begin, end, image, text, leave_out, start, words, first, reference, beta, low, wide, out):
    """Fill `out` with ROUGE-L of the pairs begin to end."""
    row = np.empty(wide.shape[1], dtype=np.uint64)
    for p in range(begin, end):
        b, e = first[image[p]], first[image[p] + 1]
        set_masks(text[p], start, words, low, wide)
        out[p] = rouge_of(text[p], b, e, leave_out[p], reference, start, words, low, wide, row, beta)
        clear_masks(text[p], start, words, low, wide)
