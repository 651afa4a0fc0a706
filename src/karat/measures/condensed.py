"""AP′, nDCG′ and Q′: measures of the condensed list, from which unjudged items are left out."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat.measures.average_precision import AveragePrecision
from karat.measures.measure import Measure, register
from karat.measures.ndcg import NDCG
from karat.measures.q_measure import QMeasure
from karat.measures.ranked import Ranked


class Condensed(Measure):
    """What measures of the condensed list share: they rank the judged items alone, under every reading."""

    leaves_out = True
    source = "Sakai, SIGIR 2007"

    def __call__(self, ranked: Ranked) -> np.ndarray:
        """Return one value per query, of the judged items alone."""
        return super().__call__(ranked.condensed())

    def unanswered(self, ranked: Ranked) -> np.ndarray:
        """Return the queries whose value depends on judged items that a truncated ranking does not show."""
        return super().unanswered(ranked.condensed())


@register
class CondensedAP(Condensed, AveragePrecision):
    """Average precision of the judged items alone: AP under the reading `left_out`.

    >>> ranked = Ranked.from_places([[2, 5, 9]], [[1, 0, 1]], size=10)
    >>> CondensedAP()(ranked).round(4).tolist()
    [0.8333]
    """

    name = "AP′"
    aliases = ("AP'",)
    trec_eval: ClassVar = {}
    formula = "AP after unjudged items are taken out of the ranking"
    plain = "how early the right answers come among the results that were judged"


@register
class CondensedNDCG(Condensed, NDCG):
    """nDCG of the judged items alone: nDCG under the reading `left_out`.

    >>> ranked = Ranked.from_places([[4, 7]], [[0, 1]], size=10)
    >>> CondensedNDCG()(ranked).round(4).tolist()
    [0.6309]
    """

    name = "nDCG′"
    aliases = ("nDCG'",)
    trec_eval: ClassVar = {}
    formula = "nDCG after unjudged items are taken out of the ranking"
    plain = "how early the right answers come among the results that were judged, better ones counting more"


@register
class CondensedQ(Condensed, QMeasure):
    """Q-measure of the judged items alone: Q under the reading `left_out`.

    >>> ranked = Ranked.from_places([[3, 6, 9]], [[1, 0, 1]], size=10)
    >>> CondensedQ()(ranked).round(6).tolist()
    [0.9]
    """

    name = "Q′"
    aliases = ("Q'",)
    formula = "Q after unjudged items are taken out of the ranking"
    plain = "how early the right answers come among the results that were judged, better ones counting more"
