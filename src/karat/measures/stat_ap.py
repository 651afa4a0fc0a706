"""statAP: average precision estimated from items that were judged with known probabilities."""

from __future__ import annotations

import numpy as np

from karat.measures.average_precision import AveragePrecision
from karat.measures.expectation import running_sum
from karat.measures.measure import register
from karat.measures.pool_measure import PoolMeasure, weights
from karat.measures.ranked import Ranked


@register
class StatAP(PoolMeasure):
    """Average precision from a sample with known inclusion probabilities π. Grades count as relevant or not.

    A judged relevant item stands for 1/π relevant ones. The sum of precisions at relevant items and the
    number R of these are both estimated so, without bias where items are chosen independently of each
    other; their ratio has a bias that vanishes as the sample grows. Of a pool with strata, π is the judged
    share of the stratum. Where all of the pool is judged it is AP.

    >>> from dataclasses import replace
    >>> ranked = Ranked.from_places([[1, 4]], [[1, 1]], size=10)
    >>> StatAP()(replace(ranked, inclusion=np.array([1.0, 0.5]))).tolist()
    [0.6666666666666666]
    """

    name = "statAP"
    formula = (
        "Σ_r (1/π_r) (1 + Σ_{s before r} 1/π_s) / k_r, over Σ_r 1/π_r; r, s judged relevant, r on place k_r"
    )
    source = "Aslam and Pavlu, tech. report 2007; Carterette et al., SIGIR 2008"
    plain = (
        "how early the right answers come, estimated from judgments that were chosen with known probabilities"
    )
    needs = ("inclusion", "stratum")
    when_all_judged = AveragePrecision

    def estimates(self, ranked: Ranked) -> np.ndarray:
        """Return the expectation over tied places, which enters as in AP."""
        groups, first = ranked.groups(), ranked.group_first
        lengths = np.diff(np.r_[first, ranked.start.shape[-1]])
        weight = np.where(ranked.grade > 0, weights(ranked), 0.0)
        in_group = np.add.reduceat(weight, first, axis=-1) if len(first) else weight
        start, width = np.where(ranked.placed, ranked.start, 0.0), ranked.width
        inverse = 1 / (start + 1)
        if ranked.tied:
            harmonic = running_sum("harmonic", start + width) - running_sum("harmonic", start)
            inverse = np.where(width == 1, inverse, harmonic)
        before = np.repeat(groups.before(in_group), lengths, axis=-1)
        others = (np.repeat(in_group, lengths, axis=-1) - weight) / np.maximum(width - 1, 1)
        precision = ((1 + before) * inverse + others * (width - (start + 1) * inverse)) / width
        return ranked.sum(np.where(ranked.placed, weight * precision, 0.0)) / ranked.sum(weight)
