"""infAP and xinfAP: average precision inferred from a random sample of the pool, or of each of its strata."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from karat.measures.average_precision import AveragePrecision
from karat.measures.expectation import running_sum
from karat.measures.measure import register
from karat.measures.pool_measure import PoolMeasure, strata, weights
from karat.measures.ranked import Ranked

Array = np.ndarray

EPSILON = 0.00001
"""What trec_eval adds to the relevant and to the other judged items before a place."""
BLOCK = 1 << 22
"""How many terms of an expectation are summed at a time."""


def inferred_precision(ranked: Ranked) -> Array:
    """Return, per retrieved relevant row, the precision expected at its place; 0 for other rows.

    On place k, with N_s items of the pool's stratum s before it, r_s of them judged relevant and n_s not:

        1/k + (1/k) Σ_s N_s (r_s + ε) / (r_s + n_s + 2ε)

    What is not in the pool is not relevant.
    """
    groups, first = ranked.groups(), ranked.group_first
    lengths = np.diff(np.r_[first, ranked.start.shape[-1]])
    judged, relevant = ~np.isnan(ranked.grade), ranked.grade > 0
    hit = relevant & ranked.placed
    start = np.where(ranked.placed, ranked.start, 0.0)
    fixed = np.broadcast_to(ranked.width == 1, hit.shape)
    precision = np.where(hit & fixed, 1 / (start + 1), 0.0)
    tied = np.nonzero(hit & ~fixed)
    begin, width = (np.broadcast_to(column, hit.shape)[tied] for column in (start, ranked.width))
    expected = (running_sum("harmonic", begin + width) - running_sum("harmonic", begin)) / width
    for inside in strata(ranked):
        inside = np.broadcast_to(inside, hit.shape)
        in_group = [
            np.add.reduceat(1.0 * (rows & inside), first, axis=-1) if len(first) else np.zeros(hit.shape)
            for rows in (relevant, judged, ~judged)
        ]
        before = [np.repeat(groups.before(count), lengths, axis=-1) for count in in_group]
        share = (before[0] + EPSILON) / (before[1] + 2 * EPSILON)
        precision = precision + np.where(hit & fixed, (before[1] + before[2]) * share / (start + 1), 0.0)
        if len(expected):
            own = 1.0 * inside[tied]
            others = [np.repeat(count, lengths, axis=-1)[tied] for count in in_group]
            kinds = np.stack(
                [
                    begin,
                    width,
                    others[0] - own,
                    others[1] - own,
                    others[2],
                    *(count[tied] for count in before),
                ]
            )
            different, which = np.unique(kinds, axis=1, return_inverse=True)
            expected = (
                expected
                + np.array([expected_share(*map(float, kind)) for kind in different.T])[which.ravel()]
            )
    precision[tied] = expected
    return precision


def expected_share(
    begin: float, width: float, relevant: float, judged: float, unjudged: float, r: float, n: float, u: float
) -> float:
    """Return the mean of N (r + ε) / (r + n + 2ε) / place over the places of an item in a tied group.

    Of the `width` places after `begin`, the item is on each with equal chance. `judged` other judged items of
    the stratum tie with it, `relevant` of them relevant, and `unjudged` pooled ones; r relevant, n judged and
    u other pooled items come before all of them. On place p of the group, j of the tied judged ones are
    before the item with a hypergeometric chance; given j, the relevant among them, and the unjudged among the
    other p − 1 − j, are expected in proportion, and independent.
    """
    rest = width - 1 - judged
    j = np.arange(judged + 1)
    share = (r + j * (relevant / judged if judged else 0.0) + EPSILON) / (n + j + 2 * EPSILON)
    log_factorial = running_sum("log", np.arange(width))
    total, step = 0.0, max(1, int(BLOCK // (judged + 1)))
    for low in range(0, int(width), step):
        drawn = np.arange(low, min(low + step, int(width)))[:, None]
        other = drawn - j
        possible = (other >= 0) & (other <= rest)
        other = np.where(possible, other, 0)
        parts = np.int64(judged), np.int64(rest), np.int64(width - 1)
        chosen = np.asarray(j, dtype=np.int64), other.astype(np.int64), drawn.astype(np.int64)
        logs = [
            log_factorial[whole] - log_factorial[part] - log_factorial[whole - part]
            for whole, part in zip(parts, (chosen[0], chosen[1], chosen[2]))
        ]
        chance = np.where(possible, np.exp(logs[0] + logs[1] - logs[2]), 0.0)
        pooled = n + u + j + other * (unjudged / rest if rest else 0.0)
        total += float(((chance * pooled * share).sum(axis=1) / (begin + drawn[:, 0] + 1)).sum())
    return total / width


@register
class InferredAP(PoolMeasure):
    """Inferred average precision: the judged items are a random sample of the pool.

    Grades count as relevant or not. What was pooled and not judged (−1 in qrels) is taken to be relevant as
    often as the judged items before the same place; what is not in the pool is not relevant. As trec_eval
    computes it. Where all of the pool is judged it is AP, but for trec_eval's ε = 0.00001.

    The item on place 4 has two items of the pool before it, and the judged one of them is relevant:

    >>> ranked = Ranked.from_places([[1, 3, 4]], [[1, np.nan, 1]], size=10)
    >>> InferredAP()(ranked).round(4).tolist()
    [0.875]
    """

    name = "infAP"
    trec_eval: ClassVar = {"infAP": "infAP"}
    formula = (
        "(1/R) Σ (1 + N (r + ε) / (r + n + 2ε)) / k over relevant items; before place k are N items of the "
        "pool, r judged relevant and n not"
    )
    source = "Yilmaz and Aslam, CIKM 2006; as in trec_eval"
    plain = "how early the right answers come, inferred from a random sample of the pool"
    when_all_judged = AveragePrecision

    def estimates(self, ranked: Ranked) -> Array:
        """Return the mean of the precisions at the judged relevant items."""
        return ranked.sum(inferred_precision(replace(ranked, stratum=None))) / ranked.relevant


@register
class ExtendedInferredAP(PoolMeasure):
    """Inferred average precision of a pool that was sampled by strata. Grades count as relevant or not.

    infAP within each stratum: a judged item stands for all of its stratum that it was sampled from, and the
    precision at its place is inferred stratum by stratum. With one stratum it is infAP.

    The first item's stratum was judged throughout, of the other one half:

    >>> from dataclasses import replace
    >>> ranked = Ranked.from_places([[1, 2, 3]], [[1, np.nan, 1]], size=5)
    >>> ExtendedInferredAP()(replace(ranked, stratum=np.array([1.0, 2.0, 2.0]))).round(4).tolist()
    [0.8889]
    """

    name = "xinfAP"
    formula = (
        "Σ w p / Σ w over relevant items; p as in infAP, with a sum over strata, and w the items of the "
        "stratum over the judged ones"
    )
    source = "Yilmaz, Kanoulas and Aslam, SIGIR 2008"
    plain = "how early the right answers come, inferred from a sample of each stratum of the pool"
    needs = ("stratum",)
    when_all_judged = AveragePrecision

    def estimates(self, ranked: Ranked) -> Array:
        """Return the mean of the precisions at the judged relevant items, each for its part of a stratum."""
        weight = np.where(ranked.grade > 0, weights(ranked), 0.0)
        return ranked.sum(weight * inferred_precision(ranked)) / ranked.sum(weight)
