"""AP and mAP@R: precision averaged over the places of the relevant items."""

import numpy as np

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

    >>> ranked = Ranked.from_places([[1, 4]], [[1, 1]], size=10)
    >>> AveragePrecision()(ranked).tolist()
    [0.75]
    """

    name = "AP"
    aliases = ("MAP",)
    formula = "(1/R) Σ_i P@i · [item i is relevant]"
    source = "Manning et al. 2008, §8.4"
    plain = "how early the right answers come, averaged over all of them"

    def depth(self, ranked: Ranked) -> float:
        """The whole ranking."""
        return np.inf

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the sum over all places, over R."""
        return precision_at_hits(ranked, np.inf) / ranked.relevant


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
