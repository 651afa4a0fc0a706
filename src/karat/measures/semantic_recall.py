"""SR@K: how many of the m most similar items are among the first K."""

import numpy as np

from karat._util import Param, whole, yes_or_no
from karat.measures.hit_rate import HitRate
from karat.measures.measure import register
from karat.measures.ranked import Ranked
from karat.measures.semantic import GT, PHI, Semantic


@register
class SemanticRecall(Semantic):
    """Semantic Recall: the share of the m most similar items that is among the first K.

    An item without any similarity is never among the m; of equally similar ones the earlier in the
    gallery's order are taken. With `any=yes` it is 1 as soon as one of them is found: the hit rate R@K,
    whose rise with m figure 3 sets against the fall of SR.

    >>> from dataclasses import replace
    >>> ranked = replace(Ranked.from_places([[1, 3]], [[1, 1]], size=9), total=np.array([5.0]))
    >>> SemanticRecall(phi="cider", m=5, k=3)(ranked).tolist()
    [0.4]
    >>> SemanticRecall(phi="cider", m=5, k=3, any="yes")(ranked).tolist()
    [1.0]
    """

    name = "SR"
    params = (
        PHI,
        Param("m", whole, "how many of the most similar items count as relevant"),
        GT,
        Param("any", yes_or_no, "yes: one of them is enough", False),
    )
    formula = "|G̃_q ∩ first K| / |G̃_q|, G̃_q the m items with the highest N_qj > 0"
    source = "Semantic margin eq. 3 and 4; figure 3"
    plain = "the share of the {m} items most alike by {phi} of their captions that are among the first {k}"

    any: bool

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the share found, or whether any was."""
        if self.any:
            return HitRate(k=self.k).values(ranked)
        return ranked.sum(ranked.count * ranked.grade * ranked.within(self.k)) / ranked.relevant
