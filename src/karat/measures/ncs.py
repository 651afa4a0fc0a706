"""NCS@K: how similar to the query the first K items are, next to the best that could be."""

import numpy as np

from karat.measures.measure import register
from karat.measures.ranked import Ranked
from karat.measures.semantic import Semantic


@register
class NormalizedCumulativeSemantic(Semantic):
    """Normalized Cumulative Semantic score: the summed φ of the first K items over the highest possible sum.

    N_qj is φ between the image's own captions and the caption. All retrieved items count: with the
    printed intersection of eq. 5, a model with R@1 of 0.3% could not have N@1 of 2.8% (table 2). A query
    to which no item has any similarity has no value. Not to be confused with non-common concept similarity.

    >>> from karat.measures.semantic import with_ideal
    >>> ranked = with_ideal(Ranked.from_places([[1, 2]], [[0.5, 1.0]], size=4), [[0.5, 1.0, 2.0, 0.0]])
    >>> NormalizedCumulativeSemantic(phi="cider", k=2)(ranked).tolist()
    [0.5]
    """

    name = "NCS"
    formula = "Σ_{j ∈ first K} N_qj / max over K items Σ N_qj"
    source = "Semantic margin eq. 3 and 5, corrected"
    plain = "how alike the query and the first {k} results are by {phi} of captions, relative to the best"

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the sum over the ideal sum."""
        assert ranked.ideal is not None
        gained = ranked.sum(ranked.count * ranked.grade * ranked.within(self.k))
        return gained / ranked.ideal[:, min(self.k, ranked.ideal.shape[1]) - 1]
