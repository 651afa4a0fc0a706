"""The hot loop of diversity: Kendall's tau of the first items of two models, query by query."""

import numpy as np

from karat._util import njit


@njit(nogil=True, cache=True)
def compare_lists(ptr_a, item_a, ptr_b, item_b, n_items, tau, tau_common, overlap):
    """Per query, compare two lists of different items, best first; NaN where a number is undefined.

    Parameters
    ----------
    ptr_a, item_a, ptr_b, item_b
        The lists, compressed by query.
    n_items
        How many items there are.
    tau
        Over the items of either list, those missing from one tied after its end: agreed pairs minus
        non-agreed ones, divided by all pairs.
    tau_common
        Over the items of both lists alone.
    overlap
        Items of both lists, divided by the length of the longer one.
    """
    place_b = np.full(n_items, -1, np.int64)
    for q in range(len(ptr_a) - 1):
        a_begin, a_end, b_begin, b_end = ptr_a[q], ptr_a[q + 1], ptr_b[q], ptr_b[q + 1]
        n_a, n_b = a_end - a_begin, b_end - b_begin
        for j in range(b_begin, b_end):
            place_b[item_b[j]] = j - b_begin
        common = np.int64(0)
        inner = np.int64(0)
        score = np.int64(0)
        gone = np.int64(0)
        found = np.zeros(n_b, np.int64)
        for i in range(a_begin, a_end):
            at = place_b[item_a[i]]
            if at < 0:
                # Common items above it in A lie above it in B too. Those still to come in A lie below it
                # in A and above it in B, and are counted when they come.
                score += common
                gone += 1
                continue
            score -= gone
            # Common items seen before lie above it in A; do they in B?
            for j in range(n_b):
                if found[j]:
                    inner += 1 if j < at else -1
            found[at] = 1
            common += 1
        # The same for the items of B alone, against the common ones.
        above = np.int64(0)
        missing = np.int64(0)
        for j in range(n_b):
            if found[j]:
                score -= missing
                above += 1
            else:
                score += above
                missing += 1
        # An item of A alone and one of B alone are in one order here and in the other there.
        score += inner - gone * missing
        union = n_a + missing
        pairs = union * (union - 1) // 2
        tau[q] = score / pairs if pairs else np.nan
        pairs = common * (common - 1) // 2
        tau_common[q] = inner / pairs if pairs else np.nan
        longer = max(n_a, n_b)
        overlap[q] = common / longer if longer else np.nan
        for j in range(b_begin, b_end):
            place_b[item_b[j]] = -1
