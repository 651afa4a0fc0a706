"""The hot loop of correlations over many items: Pearson, Spearman and tau-b under weights in one visit."""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def weighted_correlations(weights, begin, end, x, y, x_rank, y_rank, levels, out):
    """Write Pearson's r, Spearman's ρ and Kendall's τ-b under rows begin to end of `weights` into `out`.

    Items come sorted by x. `x_rank` and `y_rank` number the different values from 0; `levels` says how
    many there are of each. A row costs O(n log levels[1]): the pairs that agree are counted with a
    Fenwick tree over the ranks of y.
    """
    n = x.size
    below = np.empty(levels[0]), np.empty(levels[1])
    weight_x, weight_y = np.empty(levels[0]), np.empty(levels[1])
    tree = np.empty(levels[1] + 1)
    for row in range(begin, end):
        weight_x[:] = 0
        weight_y[:] = 0
        total = sum_x = sum_y = sum_xx = sum_yy = sum_xy = 0.0
        for i in range(n):
            w = weights[row, i]
            if w == 0:
                continue
            total += w
            sum_x += w * x[i]
            sum_y += w * y[i]
            sum_xx += w * x[i] * x[i]
            sum_yy += w * y[i] * y[i]
            sum_xy += w * x[i] * y[i]
            weight_x[x_rank[i]] += w
            weight_y[y_rank[i]] += w
        out[:, row] = np.nan
        varies, spread, untied = True, 1.0, 1.0
        for side in range(2):
            part = weight_x if side == 0 else weight_y
            seen, filled, squares, ranks = 0.0, 0, 0.0, 0.0
            for k in range(levels[side]):
                # Mid-ranks, less their mean.
                middle = seen + part[k] / 2 - total / 2
                below[side][k] = middle
                ranks += part[k] * middle * middle
                squares += part[k] * part[k]
                filled += part[k] > 0
                seen += part[k]
            varies = varies and filled > 1
            spread *= ranks
            untied *= (total * total - squares) / 2
        if not varies:
            continue
        # A constant column is told by its values above, not by sums that rounding has touched.
        moment = (sum_xx - sum_x * sum_x / total) * (sum_yy - sum_y * sum_y / total)
        if moment > 0:
            out[0, row] = min(1.0, max(-1.0, (sum_xy - sum_x * sum_y / total) / np.sqrt(moment)))
        tree[:] = 0
        product = agreeing = done = 0.0
        first = 0
        while first < n:
            last = first
            while last < n and x_rank[last] == x_rank[first]:
                w = weights[row, last]
                if w > 0:
                    rank = y_rank[last]
                    product += w * below[0][x_rank[last]] * below[1][rank]
                    lower, at = 0.0, rank
                    while at > 0:
                        lower += tree[at]
                        at &= at - 1
                    higher, at = done, rank + 1
                    while at > 0:
                        higher -= tree[at]
                        at &= at - 1
                    agreeing += w * (lower - higher)
                last += 1
            for i in range(first, last):
                w = weights[row, i]
                if w > 0:
                    done += w
                    at = y_rank[i] + 1
                    while at <= levels[1]:
                        tree[at] += w
                        at += at & -at
            first = last
        out[1, row] = min(1.0, max(-1.0, product / np.sqrt(spread)))
        out[2, row] = min(1.0, max(-1.0, agreeing / np.sqrt(untied)))
