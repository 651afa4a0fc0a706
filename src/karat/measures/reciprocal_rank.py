"""MRR: one over the place of the first relevant item."""

from typing import ClassVar

import numpy as np

from karat._util import Param, whole
from karat.measures.expectation import mean_over_first
from karat.measures.measure import Measure, register
from karat.measures.ranked import Ranked


@register
class ReciprocalRank(Measure):
    """Reciprocal rank; with a cut-off, 0 when the first relevant item comes after place K.

    The text of the Explainable paper prints rank ≥ k; ranks up to K count.

    >>> ranked = Ranked.from_places([[4, 7], [20]], [[1, 1], [1]], size=50)
    >>> ReciprocalRank()(ranked).tolist(), ReciprocalRank(k=10)(ranked).tolist()
    ([0.25, 0.05], [0.25, 0.0])
    """

    name = "MRR"
    aliases = ("RR",)
    trec_eval: ClassVar = {"recip_rank": "MRR"}
    cutoff = Param("k", whole, "the last place that counts", None)
    formula = "1 / (place of the first relevant item); 0 after place K"
    source = "Voorhees, TREC 1999"
    plain = "1 divided by the place of the first right answer, averaged"
    bounded = True
    settled_by = "first"
    k: int | None

    def depth(self, ranked: Ranked) -> float:
        """K places, or all."""
        return np.inf if self.k is None else self.k

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the expectation of one over the first relevant place."""
        start, width, relevant = ranked.groups().first_relevant()
        last = np.inf if self.k is None else self.k

        def inverse(place: np.ndarray) -> np.ndarray:
            return np.where(place <= last, 1 / place, 0.0)

        if not ranked.tied:
            return inverse(start + 1)
        return mean_over_first(start, width, relevant, inverse)
