"""P@K: the share of the first K that is relevant."""

from typing import ClassVar

import numpy as np

from karat._util import Param, whole
from karat.measures.measure import Measure, register
from karat.measures.ranked import Ranked


@register
class Precision(Measure):
    """The mean grade of the first K; K counts in full where fewer items were ranked.

    >>> ranked = Ranked.from_places([[1, 3]], [[1, 0.5]], size=10)
    >>> Precision(k=5)(ranked).tolist()
    [0.3]
    """

    name = "P"
    aliases = ("Precision",)
    trec_eval: ClassVar = {"P_K": "P(rel=any)@K"}
    cutoff = Param("k", whole, "how many items are looked at")
    formula = "(1/K) Σ_{i ≤ K} m_i"
    source = "Manning et al. 2008, §8.4"
    plain = "the share of right answers among the first {k}"
    bounded = True
    k: int

    def depth(self, ranked: Ranked) -> float:
        """K places."""
        return self.k

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the sum of grades inside, over K."""
        return ranked.sum(ranked.count * ranked.grade * ranked.within(self.k)) / self.k
