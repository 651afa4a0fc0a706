"""The first k of each query in blocks, compiled by numba: short lists of what may still be among them.

A list holds rounded scores until it is full. Then what cannot be among the first k any more is dropped, and
where too much is left, because scores are too close, the exact scores decide.
"""

import numpy as np

from karat.runs.kernels import any_reaching, compiled, entry, exact_score

STEP = 128
"""Scores that are compared with the bar at once."""


@compiled
def sort_list(score, item, order, size):
    """Sort a list by falling score, equal ones by their order."""
    if size < 2:
        return
    places = np.empty(size, np.int64)
    for n in range(size):
        places[n] = order[item[n]]
    by_order = np.argsort(places)
    falling = np.argsort(-score[:size][by_order], kind="mergesort")
    index = by_order[falling]
    score[:size] = score[:size][index]
    item[:size] = item[:size][index]


@compiled
def settle(score, item, known, size, k, order, query, items, item0):
    """Make all scores of a list exact, sort it, keep the first k; return how many are left."""
    for n in range(size):
        if known[n] == 0:
            score[n] = exact_score(score[n], query, items[item[n] - item0])
    sort_list(score, item, order, size)
    size = min(size, k)
    known[:size] = 1
    return size


@compiled
def kth_listed(score, size, k):
    """Return the k-th highest score of a list."""
    if k > 1:
        return np.sort(score[:size])[size - k]
    highest = score[0]
    for n in range(1, size):
        highest = max(highest, score[n])
    return highest


@compiled
def drop_lowest(score, item, known, size, k, error):
    """Drop what is too low to be among the first k, whatever the rounding; return how many are left."""
    least = kth_listed(score, size, k) - 2.5 * error
    left = 0
    for n in range(size):
        if score[n] >= least:
            score[left], item[left], known[left] = score[n], item[n], known[n]
            left += 1
    return left, least


@compiled
def rounded_down(bar, kind_of):
    """Return the bar in the type of the scores, not higher than it is."""
    kind = kind_of.dtype.type
    return kind(bar - 2 * np.finfo(kind_of.dtype).eps * abs(bar)) if bar > -np.inf else kind(-np.inf)


@entry
def list_in_block(
    block, left, begin, end, first_query, first_item, listed,
    slot, k, order, score, item, known, size, bar,
    queries, items, error, query0, item0,
):  # fmt: skip
    """Add the scores of a block to the lists of the queries that are its rows.

    Parameters
    ----------
    block, left, begin, end, first_query, first_item, listed
        As `count_in_block` takes them.
    slot, k, order
        Per query from `query0`, the number of its list, or -1; how many are wanted; the order of equals.
    score, item, known, size, bar
        The lists: scores, items, whether a score is exact, how many there are, and what has to be reached.
    queries, items, error, query0, item0
        As `count_in_block` takes them.
    """
    room = score.shape[1]
    buffer = np.empty(listed.size, block.dtype)
    for r in range(block.shape[0]):
        q = first_query + r - query0
        s = slot[q]
        if s < 0:
            continue
        row = block[r]
        if listed.size:
            for n in range(listed.size):
                buffer[n] = row[listed[n] - first_item + left]
            values = buffer
        else:
            values = row[begin - first_item + left : end - first_item + left]
        least = rounded_down(bar[s], block)
        n_listed = size[s]
        for start in range(0, values.size, STEP):
            part = values[start : start + STEP]
            if not any_reaching(part, least):
                continue
            for c in range(part.size):
                if part[c] < least:
                    continue
                at = start + c
                score[s, n_listed] = part[c]
                item[s, n_listed] = listed[at] if listed.size else begin + at
                known[s, n_listed] = 0
                n_listed += 1
                if n_listed < room:
                    # Of the first alone, the bar is known without looking at the list.
                    if k == 1 and part[c] - 2.5 * error[q] > bar[s]:
                        bar[s] = part[c] - 2.5 * error[q]
                        least = rounded_down(bar[s], block)
                    continue
                n_listed, bar[s] = drop_lowest(score[s], item[s], known[s], n_listed, k, error[q])
                if n_listed > k + (room - k) // 2:
                    n_listed = settle(
                        score[s], item[s], known[s], n_listed, k, order, queries[q], items, item0
                    )
                    bar[s] = score[s, k - 1] - 1.5 * error[q]
                least = rounded_down(bar[s], block)
        size[s] = n_listed


@entry
def settle_lists(begin, end, k, order, score, item, known, size, query_of, queries, items, error, item0):
    """Make the lists begin to end exact: sorted, the first k; `query_of` says whose they are."""
    for s in range(begin, end):
        q = query_of[s]
        if size[s] > k:
            # Fewer exact scores have to be computed.
            size[s] = drop_lowest(score[s], item[s], known[s], size[s], k, error[q])[0]
        size[s] = settle(score[s], item[s], known[s], size[s], k, order, queries[q], items, item0)
        for n in range(size[s], k):
            score[s, n], item[s, n] = -np.inf, -1


@entry
def merge_lists(begin, end, slots, item, score, order, own_item, own_score, own_size):
    """Merge the sorted lists begin to end, which -1 fills up, into the lists with the numbers `slots`."""
    k = own_item.shape[1]
    items, scores = np.empty(k, np.int64), np.empty(k)
    for s in range(begin, end):
        slot = slots[s]
        size = own_size[slot]
        mine, its, n = 0, 0, 0
        while n < k:
            other = its < item.shape[1] and item[s, its] >= 0
            if mine >= size and not other:
                break
            take = other
            if other and mine < size:
                a, b = score[s, its], own_score[slot, mine]
                take = a > b or (a == b and order[item[s, its]] < order[own_item[slot, mine]])
            if take:
                items[n], scores[n] = item[s, its], score[s, its]
                its += 1
            else:
                items[n], scores[n] = own_item[slot, mine], own_score[slot, mine]
                mine += 1
            n += 1
        own_item[slot, :n], own_score[slot, :n] = items[:n], scores[:n]
        own_size[slot] = n


# Of whole rows: a heap of the best k, then one more look.


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
