"""MedR and MeanR: the place of the first relevant item."""

from typing import ClassVar

import numpy as np

from karat.measures.aggregates import MEDIAN
from karat.measures.measure import Measure, Settled, register
from karat.measures.ranked import Ranked


class FirstRank(Measure):
    """The place of the first relevant item, counted from 1.

    It is `size` + 1 when nothing relevant is in the gallery. Where truncated rankings end before
    the first relevant item it is infinite, and so are ranks that cannot be compared with it: a
    median may still be known then.
    """

    formula = "place of the first relevant item"
    better = "low"
    unit = "rank"
    bounded = True
    settled_by: ClassVar[Settled] = "first"

    def depth(self, ranked: Ranked) -> float:
        """The whole ranking."""
        return np.inf

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return a + (T + 1)/(m + 1): the mean first of m places among T after the first a."""
        start, width, relevant = ranked.groups().first_relevant()
        rank = start + (width + 1) / (relevant + 1)
        rank = np.where(np.isinf(rank) & (ranked.unplaced == 0), ranked.size + 1.0, rank)
        hidden = np.isinf(rank)
        if hidden.any():
            # A hidden rank is somewhere below the end of its list, so no longer rank compares with it.
            rank = np.where(rank > ranked.depth[np.nonzero(hidden)[-1]].min(), np.inf, rank)
        return rank


@register
class MedianRank(FirstRank):
    """MedR: the median over queries of the place of the first relevant item.

    >>> ranked = Ranked.from_places([[3, 5], [8]], [[1, 1], [1]], size=10)
    >>> MedianRank()(ranked).tolist(), MedianRank.aggregate(MedianRank()(ranked)).tolist()
    ([3.0, 8.0], [5.5])
    """

    name = "MedR"
    aliases = ("MedianRank", "Med-r")
    aggregate = MEDIAN
    source = "Hodosh et al. 2013, §4.3.1"
    plain = "the place of the first right answer for the typical (median) query; 1 is perfect"
    settled_by: ClassVar[Settled] = "nothing"

    def depth(self, ranked: Ranked) -> float:
        """Nothing in particular: a rank that is not shown is infinite, which a median allows."""
        return 0


@register
class MeanRank(FirstRank):
    """MeanR: the mean over queries of the place of the first relevant item."""

    name = "MeanR"
    aliases = ("MeanRank",)
    source = "Karpathy and Fei-Fei, CVPR 2015"
    plain = "the place of the first right answer, averaged over queries; 1 is perfect"
