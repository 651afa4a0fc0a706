"""The hot loops of matching detections to instances, one to one.

The pairs of a category are sorted by the detections' scores, those of one detection by their overlap, so that
one pass is COCO's greedy matching. With probabilities instead of labels, the same pass gives the probability
of each match: a detection takes an instance if it overlaps enough, the instance is free, and the detection
has taken none before.

Category c has the pairs pair_ptr[c] to pair_ptr[c + 1] and the detections det_ptr[c] to det_ptr[c + 1]. Pair
j has at threshold t the label base[c] + t * width[c] + place[j].
"""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def match(p, pair_ptr, det_ptr, base, width, place, detection, instance, thresholds, instances, matched):
    """Fill `matched` [D, detections at thresholds] from labels or probabilities `p` [D, J]."""
    free = np.ones(instances)
    for draw in range(len(p)):
        for c in range(len(pair_ptr) - 1):
            many = det_ptr[c + 1] - det_ptr[c]
            for t in range(thresholds):
                for j in range(pair_ptr[c], pair_ptr[c + 1]):
                    free[instance[j]] = 1.0
                at = det_ptr[c] * thresholds + t * many - det_ptr[c]
                last, still_open = -1, 1.0
                for j in range(pair_ptr[c], pair_ptr[c + 1]):
                    d, g = detection[j], instance[j]
                    if d != last:
                        last, still_open = d, 1.0
                    m = p[draw, base[c] + t * width[c] + place[j]] * free[g] * still_open
                    matched[draw, at + d] += m
                    still_open -= m
                    free[g] -= m


@entry
def shared_pairs(
    p,
    pair_ptr,
    det_ptr,
    base,
    width,
    place,
    detection,
    instance,
    thresholds,
    instances,
    pair,
    slope,
    less,
    change,
):
    """Sum what detections of one instance cannot both be, and pass slopes on to the labels.

    `pair` [detections at thresholds] weighs a detection's product with earlier ones, and `slope` is how the
    value changes with the probability of its match if all matches are independent; both are divided by N.
    `less` [C · T] becomes Σ_k pair_k Σ_{i<k} Σ_g m_ig m_kg, with m_ig the probability that detection i
    takes instance g. `change` [J] becomes the slope with respect to every label.
    """
    many_pairs = 0
    for c in range(len(pair_ptr) - 1):
        many_pairs = max(many_pairs, pair_ptr[c + 1] - pair_ptr[c])
    free, sums = np.ones(instances), np.zeros(instances)
    later, lost = np.zeros(instances), np.zeros(instances)
    m, was_free, was_open, earlier = (
        np.empty(many_pairs), np.empty(many_pairs), np.empty(many_pairs), np.empty(many_pairs)
    )  # fmt: skip
    for c in range(len(pair_ptr) - 1):
        first, end = pair_ptr[c], pair_ptr[c + 1]
        many = det_ptr[c + 1] - det_ptr[c]
        for t in range(thresholds):
            for j in range(first, end):
                g = instance[j]
                free[g], sums[g], later[g], lost[g] = 1.0, 0.0, 0.0, 0.0
            at = det_ptr[c] * thresholds + t * many - det_ptr[c]
            last, still_open = -1, 1.0
            spare = 0.0
            for j in range(first, end):
                d, g, k = detection[j], instance[j], j - first
                if d != last:
                    last, still_open = d, 1.0
                was_free[k], was_open[k], earlier[k] = free[g], still_open, sums[g]
                m[k] = p[base[c] + t * width[c] + place[j]] * free[g] * still_open
                spare += pair[at + d] * m[k] * sums[g]
                still_open -= m[k]
                free[g] -= m[k]
                sums[g] += m[k]
            less[c * thresholds + t] = spare
            last, lost_open = -1, 0.0
            for back in range(end - first):
                k = end - first - 1 - back
                j = first + k
                d, g = detection[j], instance[j]
                if d != last:
                    last, lost_open = d, 0.0
                row = base[c] + t * width[c] + place[j]
                moved = slope[at + d] - pair[at + d] * earlier[k] - later[g] - lost[g] - lost_open
                change[row] = moved * was_free[k] * was_open[k]
                lost[g] += moved * p[row] * was_open[k]
                lost_open += moved * p[row] * was_free[k]
                later[g] += pair[at + d] * m[k]
