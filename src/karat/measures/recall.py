"""Recall@K: the share of what is relevant that is among the first K."""

from typing import ClassVar

import numpy as np

from karat._util import Param, whole
from karat.measures.measure import Measure, register
from karat.measures.ranked import Ranked


@register
class Recall(Measure):
    """Information retrieval's recall. With graded labels, the share of the sum of grades.

    >>> ranked = Ranked.from_places([[1, 2, 9, 10]], [[1, 1, 1, 1]], size=10)
    >>> Recall(k=5)(ranked).tolist()
    [0.5]
    """

    name = "Recall"
    trec_eval: ClassVar = {"recall_K": "Recall(rel=any)@K"}
    cutoff = Param("k", whole, "how many items are looked at")
    formula = "Σ_{i ≤ K} m_i / Σ_i m_i"
    source = "Semantic margin eq. 1"
    plain = "the share of a query's right answers that are among the first {k}"
    mistaken_for = "R"
    k: int

    def depth(self, ranked: Ranked) -> float:
        """K places."""
        return self.k

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return found over all."""
        weight = ranked.count * ranked.grade
        everything = ranked.sum(weight) if ranked.total is None else ranked.total
        return ranked.sum(weight * ranked.within(self.k)) / everything
