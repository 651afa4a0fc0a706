"""Slow, literal definitions that the library is compared with: every order, every completion.

Nothing here comes from the library. A ranking is a list of grades, best place first, where None is
an unjudged item; `lost` are the grades of items that are never retrieved.
"""

import itertools
import math
from collections.abc import Iterator
from statistics import fmean

MEASURES = (
    "R@1", "R@3", "Recall@2", "P@2", "P@9", "RP", "mAP@R", "AP", "MRR", "MRR@2", "nDCG@3", "nDCG", "MedR",
    "MeanR", "Judged@2", "P(rel=1)@3", "AP(rel=1)", "P(rel=any)@2", "AP@2", "bpref", "bpref(rel=1)",
)  # fmt: skip
INCOMPLETE = ("Q", "Q(rel=1)", "RBP(p=0.8)", "AP′", "AP′(rel=1)", "nDCG′@2", "Q′")
"""Measures that are compared in fewer cases."""
BOUNDED = ("R", "P", "MRR", "MedR", "MeanR")
LOW_IS_GOOD = ("MedR", "MeanR")
GRADES = (0.5, 1.0)


def parts(name: str) -> tuple[str, float, float | None]:
    base, _, cut = name.partition("@")
    base, _, rel = base.partition("(rel=")
    if name == "mAP@R":
        return "mAP@R", math.inf, None
    least = 1e-9 if rel == "any)" else float(rel.rstrip(")")) if rel else None
    return base, float(cut) if cut else math.inf, least


def value(name: str, ranking: list[float | None], lost: list[float]) -> float:
    """The measure of one ranking."""
    base, k, rel = parts(name)
    judged = [g is not None for g in ranking]
    m = [g or 0.0 for g in ranking]
    if rel is not None:
        m, lost = [float(g >= rel) for g in m], [float(g >= rel) for g in lost]
    hit = [g > 0 for g in m]
    n_relevant = sum(hit) + sum(g > 0 for g in lost)
    if base.endswith("′"):
        return value(name.replace("′", ""), [g for g in ranking if g is not None], lost)
    if base == "RBP(p=0.8)":
        return sum(0.2 * g * 0.8**i for i, g in enumerate(m))
    if base == "Judged":
        return sum(g is not None for g in ranking[: int(k)]) / min(k, len(ranking)) if ranking else math.nan
    if n_relevant == 0:
        return math.nan
    top = m if k == math.inf else m[: int(k)]
    if base == "R":
        return max(top, default=0.0)
    if base == "Recall":
        return sum(top) / (sum(m) + sum(lost))
    if base == "P":
        return sum(top) / k
    if base == "RP":
        return sum(m[:n_relevant]) / n_relevant
    if base in ("AP", "mAP@R"):
        last = n_relevant if base == "mAP@R" else min(int(min(k, len(m))), len(m))
        return sum(sum(hit[: i + 1]) / (i + 1) for i in range(min(last, len(m))) if hit[i]) / n_relevant
    if base == "bpref":
        wrong = [not h and known for h, known in zip(hit, judged)]
        n_wrong = sum(wrong) + sum(g == 0 for g in lost)
        lost_share = [
            min(sum(wrong[:i]), n_relevant) / min(n_wrong, n_relevant) if any(wrong[:i]) else 0.0
            for i in range(len(m))
            if hit[i]
        ]
        return sum(1 - share for share in lost_share) / n_relevant
    if base == "Q":
        ideal = sorted(m + lost, reverse=True) + [0.0] * len(m)
        blended = [
            (sum(hit[: i + 1]) + sum(m[: i + 1])) / (i + 1 + sum(ideal[: i + 1]))
            for i in range(len(m))
            if hit[i]
        ]
        return sum(blended) / n_relevant
    if base == "MRR":
        return next((1 / (i + 1) for i in range(len(top)) if hit[i]), 0.0)
    if base in ("MedR", "MeanR"):
        return next((i + 1.0 for i in range(len(m)) if hit[i]), len(m) + 1.0)
    assert base == "nDCG"

    def dcg(grades: list[float]) -> float:
        shown = grades if k == math.inf else grades[: int(k)]
        return sum(g / math.log2(i + 2) for i, g in enumerate(shown))

    return dcg(m) / dcg(sorted(m + lost, reverse=True))


def orders(scores: list[float]) -> Iterator[list[int]]:
    """Every order of the items in which scores fall."""
    levels = sorted(set(scores), reverse=True)
    groups = [[i for i, s in enumerate(scores) if s == level] for level in levels]
    for choice in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [i for group in choice for i in group]


def resolved(
    name: str, policy: str, scores: list[float], grades: list[float | None], lost: list[float]
) -> float:
    """The measure under a tie policy: worst, best or mean of all orders, the stable one, or trec_eval's.

    Items are in the order of their ids as text, which trec_eval turns round.
    """
    if policy in ("stable", "trec_eval"):
        turn = 1 if policy == "stable" else -1
        order = sorted(range(len(scores)), key=lambda i: (-scores[i], turn * i))
        return value(name, [grades[i] for i in order], lost)
    values = [value(name, [grades[i] for i in order], lost) for order in orders(scores)]
    worst, best = (max, min) if parts(name)[0] in LOW_IS_GOOD else (min, max)
    return {"pessimistic": worst, "optimistic": best, "expected": lambda v: sum(v) / len(v)}[policy](values)


def read(
    name: str, policy: str, unjudged: str, scores: list[float], grades: list[float | None], lost: list[float]
) -> tuple[float, float | None, float | None]:
    """Value and bounds under a reading of unjudged items."""
    if unjudged == "left_out":
        kept = [i for i, g in enumerate(grades) if g is not None]
        return resolved(name, policy, [scores[i] for i in kept], [grades[i] for i in kept], lost), None, None
    plain = resolved(name, policy, scores, grades, lost)
    if unjudged == "misses" or math.isnan(plain) or parts(name)[0] not in BOUNDED:
        return plain, None, None
    open_items = [i for i, g in enumerate(grades) if g is None]
    values = []
    for filled in itertools.product((0.0, 1.0), repeat=len(open_items)):
        complete = list(grades)
        for i, grade in zip(open_items, filled):
            complete[i] = grade
        values.append(resolved(name, policy, scores, complete, lost))
    return plain, min(values), max(values)


def mean_range(known: list[list[float]], maybe: list[list[float]]) -> tuple[float, float]:
    """The lowest and highest mean over all sets of queries that may count, each at its lowest or highest."""
    ends = []
    for at in (0, -1):
        sets = itertools.product(*([None, values[at]] for values in maybe))
        means = [fmean([*(v[at] for v in known), *(v for v in some if v is not None)]) for some in sets]
        ends.append(min(means) if at == 0 else max(means))
    return ends[0], ends[1]
