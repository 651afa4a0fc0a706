"""nDCG: gains discounted by place, over the best that is possible."""

from typing import ClassVar

import numpy as np

from karat._util import Param, whole
from karat.measures.expectation import running_sum
from karat.measures.measure import Measure, register
from karat.measures.ranked import Ranked


def discount_between(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return Σ 1/log₂(place + 1) over the places after `start` up to `end`."""
    return running_sum("discount", end) - running_sum("discount", start)


def discounts(ranked: Ranked, cut: float) -> np.ndarray:
    """Return, per row, the discount expected of its item among the first `cut` places; 0 outside."""
    placed = ranked.placed
    start = np.where(placed, ranked.start, 0.0)
    seen = np.where(placed, ranked.slots(cut), 0.0)
    discount = np.where(seen > 0, 1 / np.log2(start + 2), 0.0)
    if ranked.tied:
        discount = np.where(ranked.width == 1, discount, discount_between(start, start + seen) / ranked.width)
    return discount


@register
class NDCG(Measure):
    """Normalised discounted cumulative gain with linear gain (the grade itself).

    The ideal counts relevant items outside the gallery too.

    >>> ranked = Ranked.from_places([[2]], [[1]], size=10)
    >>> NDCG(k=5)(ranked).round(6).tolist()
    [0.63093]
    """

    name = "nDCG"
    trec_eval: ClassVar = {"ndcg": "nDCG", "ndcg_cut_K": "nDCG@K"}
    cutoff = Param("k", whole, "how many items are looked at", None)
    formula = "Σ_{i ≤ K} m_i / log₂(i + 1), over the same sum with items in the order of their grades"
    source = "Järvelin and Kekäläinen, TOIS 2002"
    plain = "how early the right answers come, better ones counting more"
    k: int | None

    def depth(self, ranked: Ranked) -> float:
        """K places, or all."""
        return np.inf if self.k is None else self.k

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return DCG over ideal DCG."""
        return ranked.sum(ranked.grade * discounts(ranked, self.depth(ranked))) / self.ideal(ranked)

    def ideal(self, ranked: Ranked) -> np.ndarray:
        """Return the sum that the best order reaches."""
        if ranked.total is not None:
            reach = np.minimum(ranked.total, self.depth(ranked))
            return discount_between(np.zeros_like(reach), reach)
        query = np.broadcast_to(
            np.repeat(np.arange(ranked.n_queries), np.diff(ranked.ptr)), ranked.grade.shape
        )
        order = np.lexsort((-ranked.grade, query))
        best = np.take_along_axis(ranked.grade, order, axis=-1)
        place = np.arange(best.shape[-1]) - ranked.spread(ranked.ptr[:-1])
        return ranked.sum(np.where(place < self.depth(ranked), best / np.log2(place + 2), 0.0))
