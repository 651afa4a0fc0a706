"""Measures by their definitions, and their expectation as a sum over all 2^n assignments of labels."""

import itertools
import math

import numpy as np

from karat.measures import Ranked


def relevant_places(places, labels):
    return [place for place, label in zip(places, labels) if label and place < math.inf]


def precision(k):
    return lambda places, labels: sum(place <= k for place in relevant_places(places, labels)) / k


def average_precision(k=math.inf, number=None):
    def value(places, labels):
        total = sum(labels) if number is None else number
        hits = relevant_places(places, labels)
        return sum((i + 1) / place for i, place in enumerate(hits) if place <= k) / total if total else 0.0

    return value


def recall(k):
    return lambda places, labels: (
        sum(place <= k for place in relevant_places(places, labels)) / max(sum(labels), 1)
    )


def hit(k):
    return lambda places, labels: float(any(place <= k for place in relevant_places(places, labels)))


def reciprocal_rank(k=math.inf):
    return lambda places, labels: next((1 / x for x in relevant_places(places, labels) if x <= k), 0.0)


def r_precision(most=math.inf):
    def value(places, labels):
        r = min(sum(labels), most)
        return sum(place <= r for place in relevant_places(places, labels)) / r if r else 0.0

    return value


def map_at_r(places, labels):
    return average_precision(k=sum(labels))(places, labels)


DEFINITIONS = {
    "P@3": precision(3),
    "P@10": precision(10),
    "AP": average_precision(),
    "AP@4": average_precision(4),
    "Recall@4": recall(4),
    "R@1": hit(1),
    "R@5": hit(5),
    "MRR": reciprocal_rank(),
    "MRR@4": reciprocal_rank(4),
    "RP": r_precision(),
    "RP(cut=2)": r_precision(2),
    "mAP@R": map_at_r,
}
"""Measures with a closed form, by name."""


def expectation(value, places, p):
    """Return the sum over all assignments of their probability times their value."""
    terms = []
    for labels in itertools.product((0, 1), repeat=len(p)):
        chance = math.prod(x if label else 1 - x for x, label in zip(p, labels))
        if chance:
            terms.append(chance * value(places, labels))
    return math.fsum(terms)


def changes(value, places, p):
    """Return the expected absolute change of the expectation when each label becomes known."""
    now = expectation(value, places, p)
    out = []
    for j in range(len(p)):
        after = [expectation(value, places, [*p[:j], label, *p[j + 1 :]]) for label in (0.0, 1.0)]
        out.append((1 - p[j]) * abs(after[0] - now) + p[j] * abs(after[1] - now))
    return out


def random_lists(seed, number=6, most=8):
    """Return places with gaps and without end, and probabilities with certain ones, per query."""
    rng = np.random.default_rng(seed)
    places, p = [], []
    for q in range(number):
        n = int(rng.integers(1, most + 1)) if q else 0
        rows = np.sort(rng.choice(15, n, replace=False) + 1.0)
        rows[n - int(rng.integers(0, 3)) if n > 2 else n :] = np.inf
        kinds = rng.choice(4, n, p=[0.1, 0.1, 0.5, 0.3])
        p.append(np.select([kinds == 0, kinds == 1, kinds == 2], [0.0, 1.0, rng.random(n)], 1e-6).tolist())
        places.append(rows.tolist())
    return places, p


def ranked_of(places, p) -> Ranked:
    """Return what karat sees of them."""
    return Ranked.from_places(places, p, size=20)
