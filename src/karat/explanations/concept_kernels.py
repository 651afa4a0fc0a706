"""The hot loops of concept metrics: common and other concepts of two images, and their best matching."""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def assign(cost, rows, columns, chosen, work, used, match):
    """Write into `chosen` the column of each row so that the sum of costs is smallest; rows <= columns.

    The Hungarian method with potentials, O(rows² columns) (Kuhn 1955; Jonker and Volgenant 1987): one row
    after the other is added by the shortest augmenting path. `work` [4, columns + 1], `used` and `match` are
    scratch; place 0 stands for the row that is being added.
    """
    lowest, potential, row_potential = work[0], work[1], work[2]
    before = work[3]
    for j in range(columns + 1):
        potential[j] = 0.0
        row_potential[j] = 0.0
        match[j] = -1
    for row in range(rows):
        match[0] = row
        at = 0
        for j in range(columns + 1):
            lowest[j] = np.inf
            used[j] = False
        while True:
            used[at] = True
            i = match[at]
            step, nearest = np.inf, 0
            for j in range(1, columns + 1):
                if not used[j]:
                    reduced = cost[i, j - 1] - row_potential[i] - potential[j]
                    if reduced < lowest[j]:
                        lowest[j] = reduced
                        before[j] = at
                    if lowest[j] < step:
                        step, nearest = lowest[j], j
            for j in range(columns + 1):
                if used[j]:
                    row_potential[match[j]] += step
                    potential[j] -= step
                else:
                    lowest[j] -= step
            at = nearest
            if match[at] < 0:
                break
        while at != 0:
            previous = int(before[at])
            match[at] = match[previous]
            at = previous
    for j in range(1, columns + 1):
        if match[j] >= 0:
            chosen[match[j]] = j - 1


@entry
def counts_for(query, concept, mention_ptr, mention):
    """Whether a concept is among the sorted ones that a query mentions."""
    low, high = mention_ptr[query], mention_ptr[query + 1]
    while low < high:
        middle = (low + high) // 2
        if mention[middle] < concept:
            low = middle + 1
        else:
            high = middle
    return low < mention_ptr[query + 1] and mention[low] == concept


@entry
def split(g, r, ptr, synset, pair, informed, mention_ptr, mention, common, only_g, only_r):
    """Write the rows of common concepts [2, :], and of those in one image alone; return how many of each."""
    i, i_end, j, j_end = ptr[g], ptr[g + 1], ptr[r], ptr[r + 1]
    both = left = right = 0
    while i < i_end or j < j_end:
        if j == j_end or (i < i_end and synset[i] < synset[j]):
            if not informed or counts_for(pair, synset[i], mention_ptr, mention):
                only_g[left] = i
                left += 1
            i += 1
        elif i == i_end or synset[j] < synset[i]:
            if not informed or counts_for(pair, synset[j], mention_ptr, mention):
                only_r[right] = j
                right += 1
            j += 1
        else:
            if not informed or counts_for(pair, synset[i], mention_ptr, mention):
                common[0, both] = i
                common[1, both] = j
                both += 1
            i += 1
            j += 1
    return both, left, right


@entry
def count_rows(begin, end, ground, retrieved, concepts, informed, mention_ptr, mention, most, counts):
    """Write per pair of images how many concepts are common, in one alone, and how many sizes match."""
    ptr, synset, _, area_ptr, _ = concepts
    common = np.empty((2, most), np.int64)
    only_g, only_r = np.empty(most, np.int64), np.empty(most, np.int64)
    for pair in range(begin, end):
        both, left, right = split(
            ground[pair], retrieved[pair], ptr, synset, pair, informed, mention_ptr, mention, common, only_g,
            only_r,
        )  # fmt: skip
        sizes = 0
        for k in range(both):
            i, j = common[0, k], common[1, k]
            sizes += min(area_ptr[i + 1] - area_ptr[i], area_ptr[j + 1] - area_ptr[j])
        counts[0, pair] = both
        counts[1, pair] = left
        counts[2, pair] = right
        counts[3, pair] = sizes


@entry
def compare_rows(
    begin, end, ground, retrieved, concepts, informed, mention_ptr, mention, most, widest,
    steps, similarity, by_smaller, pair_ptr, matched, weight, size_ptr, sized, difference, enumeration,
):  # fmt: skip
    """Write per pair of images the matched concepts, the matched sizes, and the differences of counts."""
    ptr, synset, count, area_ptr, area = concepts
    common = np.empty((2, most), np.int64)
    only_g, only_r = np.empty(most, np.int64), np.empty(most, np.int64)
    cost, work = np.empty((widest, widest)), np.empty((4, widest + 1))
    used, match = np.empty(widest + 1, np.bool_), np.empty(widest + 1, np.int64)
    chosen = np.empty(widest, np.int64)
    for pair in range(begin, end):
        both, left, right = split(
            ground[pair], retrieved[pair], ptr, synset, pair, informed, mention_ptr, mention, common, only_g,
            only_r,
        )  # fmt: skip
        rows, columns, turned = (left, right, False) if left <= right else (right, left, True)
        if rows:
            for i in range(rows):
                for j in range(columns):
                    a, b = (only_g[j], only_r[i]) if turned else (only_g[i], only_r[j])
                    cost[i, j] = -similarity[steps[synset[a], synset[b]]]
            assign(cost, rows, columns, chosen, work, used, match)
            for i in range(rows):
                a, b = (only_g[chosen[i]], only_r[i]) if turned else (only_g[i], only_r[chosen[i]])
                at = pair_ptr[pair] + i
                matched[0, at] = synset[a]
                matched[1, at] = synset[b]
                weight[at] = similarity[steps[synset[a], synset[b]]]
        at = size_ptr[pair]
        for k in range(both):
            g, r = common[0, k], common[1, k]
            enumeration[0, pair] += abs(count[g] - count[r])
            enumeration[1, pair] += count[g] != count[r]
            g_size, r_size = area_ptr[g + 1] - area_ptr[g], area_ptr[r + 1] - area_ptr[r]
            turned = g_size > r_size
            rows, columns = min(g_size, r_size), max(g_size, r_size)
            if rows == 0:
                continue
            for i in range(rows):
                for j in range(columns):
                    a, b = (j, i) if turned else (i, j)
                    first, second = area[area_ptr[g] + a], area[area_ptr[r] + b]
                    cost[i, j] = abs(first - second) / (min(first, second) if by_smaller else first)
            assign(cost, rows, columns, chosen, work, used, match)
            for i in range(rows):
                a, b = (chosen[i], i) if turned else (i, chosen[i])
                sized[0, at] = synset[g]
                sized[1, at] = area_ptr[g] + a
                sized[2, at] = area_ptr[r] + b
                difference[at] = cost[i, chosen[i]]
                at += 1
