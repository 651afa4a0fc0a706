"""The hot loops of expected values and changes: integrals, the first relevant item, Fourier transforms.

Queries `begin` to `end` are computed; threads take disjoint ones.
"""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def integrate(ptr, p, own, pair, node, weight, first, begin, end, values, differences):
    """Expected Σ_k z_k (own_k + pair_k Σ_{i<k} z_i) / N, and what each row's label changes in it.

    With f = 1 − p + p t, P = Π f, a = p t / f and S = Σ_k a_k (own_k + pair_k Σ_{i<k} a_i), the value is
    ∫ S P / t dt. Row j enters S as a_j G_j, so that a label of 1 instead of 0 adds
    ∫ (P / f_j) (G_j / f_j − S (1 − t) / t) dt.

    Query q has the nodes first[q] to first[q + 1]. `differences` may be empty; rows whose p is 0 or 1 keep
    what is in it.
    """
    most = 0
    for q in range(begin, end):
        most = max(most, first[q + 1] - first[q])
    product, before, total = np.empty(most), np.empty(most), np.empty(most)
    pairs, term = np.empty(most), np.empty(most)
    for q in range(begin, end):
        n = first[q + 1] - first[q]
        t, w = node[first[q] : first[q + 1]], weight[first[q] : first[q + 1]]
        product[:n] = 1.0
        before[:n] = 0.0
        total[:n] = 0.0
        pairs[:n] = 0.0
        for j in range(ptr[q], ptr[q + 1]):
            pj, qj, oj, rj = p[j], 1.0 - p[j], own[j], pair[j]
            if pj == 0:
                continue
            for m in range(n):
                f = qj + pj * t[m]
                a = pj * t[m] / f
                product[m] *= f
                total[m] += a * (oj + rj * before[m])
                before[m] += a
                pairs[m] += a * rj
        value = 0.0
        for m in range(n):
            value += w[m] * product[m] * total[m] / t[m]
            # From here on: what each row needs of the node.
            total[m] *= w[m] * product[m] * (1 - t[m]) / t[m]
            product[m] *= w[m]
        values[q] = value
        if differences.size == 0:
            continue
        before[:n] = 0.0
        for j in range(ptr[q], ptr[q + 1]):
            pj, qj, oj, rj = p[j], 1.0 - p[j], own[j], pair[j]
            if pj == 0:
                continue
            for m in range(n):
                r = 1 / (qj + pj * t[m])
                a = pj * t[m] * r
                pairs[m] -= a * rj
                term[m] = (product[m] * (oj + rj * before[m] + pairs[m]) * r - total[m]) * r
                before[m] += a
            if pj < 1:
                difference = 0.0
                for m in range(n):
                    difference += term[m]
                differences[j] = difference


@entry
def first_found(ptr, p, gain, begin, end, values, differences):
    """Expected gain of the first relevant row, and what each row's label changes in it."""
    for q in range(begin, end):
        after = 0.0
        for j in range(ptr[q + 1] - 1, ptr[q] - 1, -1):
            differences[j] = gain[j] - after
            after = p[j] * gain[j] + (1 - p[j]) * after
        values[q] = after
        none = 1.0
        for j in range(ptr[q], ptr[q + 1]):
            differences[j] *= none
            none *= 1 - p[j]


@entry
def transform(ptr, p, start, width, own, pair, most, largest, begin, end, values, differences):
    """Expected Σ_k z_k c_k(r) (own_k + pair_k Σ_{i<k} z_i) / r with r = min(N, most), and its differences.

    c_k(r) is the chance that row k is among the first r places. With f, P, a as in `integrate`, what belongs
    to N relevant items is the coefficient of t^N in P(t) Σ_k a_k c_k(r) (own_k + pair_k Σ_{i<k} a_i) / r,
    which a discrete Fourier transform gives: a sum over t on the unit circle. The nodes are odd in number, so
    that f is never 0, and come in conjugate pairs, of which one is taken.

    N is at most largest[q]. Where `pair` is not 0, every width must be 1. `differences` may be empty; rows
    whose p is 0 or 1 keep what is in it.
    """
    size = 0
    for q in range(begin, end):
        size = max(size, largest[q])
    nodes = size // 2 + 2
    columns = np.empty((6, nodes), np.complex128)
    node, product, before, total, pairs, share = (
        columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]
    )  # fmt: skip
    from_on = np.empty((size + 2, nodes), np.complex128)
    for q in range(begin, end):
        if certain(ptr, p, start, width, own, pair, most, q, values):
            continue
        size = largest[q]
        # An odd number above `size`.
        circle = size + 1 + size % 2
        n = circle // 2 + 1
        for m in range(n):
            node[m] = np.exp(2j * np.pi * m / circle)
            product[m] = 1.0
            before[m] = 0.0
            total[m] = 0.0
            pairs[m] = 0.0
            from_on[size + 1, m] = 0.0
        for number in range(size, 0, -1):
            r = min(float(number), most)
            for m in range(n):
                factor = (1.0 if m == 0 else 2.0) / (circle * r)
                power = np.exp(-2j * np.pi * ((m * number) % circle) / circle)
                from_on[number, m] = from_on[number + 1, m] + factor * power
        for j in range(ptr[q], ptr[q + 1]):
            pj, qj, oj, rj = p[j], 1.0 - p[j], own[j], pair[j]
            if pj == 0:
                continue
            shares(start[j], width[j], most, size, n, from_on, share)
            for m in range(n):
                f = qj + pj * node[m]
                a = pj * node[m] / f
                product[m] *= f
                total[m] += a * (oj + rj * before[m]) * share[m]
                before[m] += a
                pairs[m] += a * rj * share[m]
        value = 0.0
        for m in range(n):
            value += (product[m] * total[m]).real
            # From here on: what each row needs of the node.
            total[m] *= product[m] * (node[m] - 1)
            product[m] *= node[m]
        values[q] = value
        if differences.size == 0:
            continue
        for m in range(n):
            before[m] = 0.0
        for j in range(ptr[q], ptr[q + 1]):
            pj, qj, oj, rj = p[j], 1.0 - p[j], own[j], pair[j]
            if pj == 0:
                continue
            shares(start[j], width[j], most, size, n, from_on, share)
            difference = 0.0
            for m in range(n):
                r = 1 / (qj + pj * node[m])
                a = pj * node[m] * r
                pairs[m] -= a * rj * share[m]
                gain = (oj + rj * before[m]) * share[m] + pairs[m]
                difference += ((product[m] * gain * r + total[m]) * r).real
                before[m] += a
            if pj < 1:
                differences[j] = difference


@entry
def certain(ptr, p, start, width, own, pair, most, q, values):
    """Score a query whose labels are all known, without the rounding of a transform; else say no."""
    number = 0.0
    for j in range(ptr[q], ptr[q + 1]):
        if 0 < p[j] < 1:
            return False
        number += p[j]
    r = min(number, most)
    total, before = 0.0, 0
    for j in range(ptr[q], ptr[q + 1]):
        if p[j] == 1 and start[j] < r:
            total += min(r - start[j], width[j]) / width[j] * (own[j] + pair[j] * before)
            before += 1
    values[q] = total / r if r > 0 else 0.0
    return True


@entry
def shares(start, width, most, size, n, from_on, share):
    """Σ_N c(r) t^−N / r at every node, for a row at given places."""
    if width == 1:
        number = int(start) + 1 if start < min(float(size), most) else size + 1
        for m in range(n):
            share[m] = from_on[number, m]
        return
    for m in range(n):
        share[m] = 0.0
    if start >= size:
        return
    for number in range(int(start) + 1, size + 1):
        inside = min(max(min(float(number), most) - start, 0.0), width) / width
        for m in range(n):
            share[m] += inside * (from_on[number, m] - from_on[number + 1, m])
