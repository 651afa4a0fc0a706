"""RP: precision at R, the number of relevant items."""

from typing import ClassVar

import numpy as np

from karat._util import Param, whole
from karat.measures.measure import REL, Measure, register
from karat.measures.ranked import Ranked


@register
class RPrecision(Measure):
    """R-Precision. R counts the items with a grade above 0, also those outside the gallery.

    With graded labels m_i is the grade (ECCV Caption eq. E.4), so that the attainable maximum is
    the mean grade of the relevant items.

    >>> ranked = Ranked.from_places([[1, 4]], [[1, 1]], size=10)
    >>> RPrecision()(ranked).tolist()
    [0.5]
    """

    name = "RP"
    aliases = ("R-P", "R-Precision", "RPrecision")
    trec_eval: ClassVar = {"Rprec": "RP(rel=any)"}
    params = (REL, Param("cut", whole, "the most that R may be (50 for PMRP)", None))
    formula = "(1/R) Σ_{i ≤ R} m_i, with R the number of relevant items"
    source = "ECCV Caption eq. E.3; Hodosh et al. 2013, §4.3.3"
    plain = "the share of right answers among the first R results, R being how many right answers a query has"
    cut: int | None

    def depth(self, ranked: Ranked) -> np.ndarray:
        """R places."""
        return ranked.relevant if self.cut is None else np.minimum(ranked.relevant, self.cut)

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the mean grade of the first R."""
        r = self.depth(ranked)
        return ranked.sum(ranked.count * ranked.grade * ranked.within(r)) / r
