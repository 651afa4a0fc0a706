"""infNDCG: nDCG inferred from a sample of each stratum of the pool."""

from __future__ import annotations

import numpy as np

from karat.measures.measure import register
from karat.measures.ndcg import NDCG, discount_between, discounts
from karat.measures.pool_measure import PoolMeasure, rates, weights
from karat.measures.ranked import Ranked


@register
class InferredNDCG(PoolMeasure):
    """nDCG of a pool that was sampled by strata; the gain is the grade itself.

    A judged item stands for the retrieved items of its stratum, and in the ideal order for all of its
    stratum: how many there are of each grade is estimated and rounded, as NIST's sample_eval does. Where all
    of the pool is judged it is nDCG.

    >>> from dataclasses import replace
    >>> ranked = Ranked.from_places([[1, 2, 3]], [[1, np.nan, 1]], size=5)
    >>> InferredNDCG()(replace(ranked, stratum=np.array([1.0, 2.0, 2.0]))).round(4).tolist()
    [0.9386]
    """

    name = "infNDCG"
    formula = (
        "Σ_s (N_s / n_s) Σ_{i in s} m_i / log₂(k_i + 1), over the ideal; of the retrieved items of a stratum "
        "n_s of N_s are judged, i on place k_i"
    )
    source = "Yilmaz, Kanoulas and Aslam, SIGIR 2008; as in NIST's sample_eval"
    plain = "how early the right answers come, better ones counting more, inferred from a sample of the pool"
    needs = ("stratum",)
    when_all_judged = NDCG

    def estimates(self, ranked: Ranked) -> np.ndarray:
        """Return the inferred DCG over the inferred ideal."""
        grade = np.where(ranked.grade > 0, ranked.grade, 0.0)
        gain = grade * discounts(ranked, np.inf) * rates(ranked, ranked.placed)
        return ranked.sum(gain) / ideal(ranked, grade, weights(ranked))


def ideal(ranked: Ranked, grade: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the DCG of the best order of as many items of each grade as are estimated, rounded."""
    out = np.zeros((*grade.shape[:-1], ranked.n_queries))
    reached = np.zeros_like(out)
    for level in np.unique(grade[grade > 0])[::-1]:
        number = np.floor(ranked.sum(np.where(grade == level, weight, 0.0)) + 0.5)
        out += level * discount_between(reached, reached + number)
        reached += number
    return out
