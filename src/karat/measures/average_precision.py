"""AP and mAP@R: precision averaged over the places of the relevant items."""

from typing import ClassVar

import numpy as np

from karat._util import Param, whole
from karat.measures.expectation import running_sum
from karat.measures.measure import Measure, register
from karat.measures.ranked import Ranked


def precision_at_hits(ranked: Ranked, cut: np.ndarray | float) -> np.ndarray:
    """Return Σ_{i ≤ cut} P@i · [item i is relevant], in expectation over tied places.

    A tied group of T places after the first a holds m relevant items, h were before it. Place
    a + p is relevant with chance m/T, and then (p − 1)(m − 1)/(T − 1) of the group's relevant
    items are expected before it (McSherry and Najork, ECIR 2008). Summed over the first L places
    of the group, with D = 1/(a + 1) + … + 1/(a + L):

        (m/T) [ (h + 1) D + (m − 1)/(T − 1) · (L − (a + 1) D) ]
    """
    groups = ranked.groups()
    if np.ndim(cut):
        cut = np.repeat(cut, np.diff(groups.ptr), axis=-1)
    placed = np.isfinite(groups.start)
    start = np.where(placed, groups.start, 0.0)
    seen = np.where(placed, np.clip(cut - start, 0, groups.width), 0.0)
    single = groups.width == 1
    inverse = np.where(seen > 0, 1 / (start + 1), 0.0)
    if not single.all():
        harmonic = running_sum("harmonic", start + seen) - running_sum("harmonic", start)
        inverse = np.where(single, inverse, harmonic)
    others = np.where(single, 0.0, (groups.relevant - 1) / np.maximum(groups.width - 1, 1))
    terms = (groups.relevant_before + 1) * inverse + others * (seen - (start + 1) * inverse)
    return groups.sum(groups.relevant / groups.width * terms)


@register
class AveragePrecision(Measure):
    """Average precision; its mean over queries is MAP. Grades count as relevant or not.

    With a cut-off, only the first K places add to the sum; it is still divided by R.

    >>> ranked = Ranked.from_places([[1, 4]], [[1, 1]], size=10)
    >>> AveragePrecision()(ranked).tolist(), AveragePrecision(k=3)(ranked).tolist()
    ([0.75], [0.5])
    """

    name = "AP"
    aliases = ("MAP",)
    trec_eval: ClassVar = {"map": "AP", "map_cut_K": "AP@K"}
    cutoff = Param("k", whole, "the last place that counts", None)
    formula = "(1/R) Σ_{i ≤ K} P@i · [item i is relevant]"
    source = "Manning et al. 2008, §8.4; with a cut-off as trec_eval's map_cut"
    plain = "how early the right answers come, averaged over all of them"
    k: int | None

    def depth(self, ranked: Ranked) -> float:
        """K places, or all."""
        return np.inf if self.k is None else self.k

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the sum over the first K places, over R."""
        return precision_at_hits(ranked, self.depth(ranked)) / ranked.relevant


@register
class MeanAveragePrecisionAtR(Measure):
    """mAP@R: average precision over the first R places only. Grades count as relevant or not.

    >>> ranked = Ranked.from_places([[1, 4]], [[1, 1]], size=10)
    >>> MeanAveragePrecisionAtR()(ranked).tolist()
    [0.5]
    """

    name = "mAP@R"
    aliases = ("mAPatR", "MAP-R")
    formula = "(1/R) Σ_{i ≤ R} P@i · [item i is relevant], with R the number of relevant items"
    source = "ECCV Caption §4.1, after Musgrave et al., ECCV 2020"
    plain = "how many of a query's R right answers are among its first R results, early ones counting more"

    def depth(self, ranked: Ranked) -> np.ndarray:
        """R places."""
        return ranked.relevant

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the sum over the first R places, over R."""
        return precision_at_hits(ranked, ranked.relevant) / ranked.relevant
