"""Judged@K: how much of what a measure looks at has been judged at all?"""

import numpy as np

from karat._util import Param, whole
from karat.measures.measure import Measure, register
from karat.measures.ranked import Ranked


@register
class Judged(Measure):
    """The share of the first K items that were judged, relevant or not.

    A low value says that scores at this depth rest on assumptions about unjudged pairs.

    >>> ranked = Ranked.from_places([[1, 3, 8]], [[1, 0, 1]], size=10)
    >>> Judged(k=5)(ranked).tolist()
    [0.4]
    """

    name = "Judged"
    cutoff = Param("k", whole, "how many items are looked at")
    params = ()
    formula = "(1/K) Σ_{i ≤ K} [item i is judged]"
    source = "Macdonald et al., ir_measures, ECIR 2022"
    plain = "the share of the first {k} results that were judged, right or wrong"
    of_relevance = False
    k: int

    def depth(self, ranked: Ranked) -> float:
        """K places."""
        return self.k

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return judged over seen; seen is the gallery where it is smaller than K."""
        if ranked.complete:
            return np.ones(ranked.n_queries)
        return ranked.sum(ranked.count * ranked.within(self.k)) / np.minimum(self.k, ranked.size)
