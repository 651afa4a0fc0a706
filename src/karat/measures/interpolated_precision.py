"""iAP: precision interpolated at fixed levels of recall, as COCO and PASCAL VOC score detections."""

from typing import ClassVar

import numpy as np

from karat._util import Param, whole
from karat.measures.measure import REL, Measure, register
from karat.measures.ranked import Ranked


@register
class InterpolatedPrecision(Measure):
    """Interpolated average precision: the best precision from each level of recall on, averaged over levels.

    With 101 levels it is COCO's AP of one category, with 11 that of PASCAL VOC 2007. Items with equal scores
    come in together.

    >>> ranked = Ranked.from_places([[1, 4]], [[1, 1]], size=10)
    >>> InterpolatedPrecision()(ranked).round(4).tolist()      # 51 levels at 1, 50 at 2/4
    [0.7525]
    """

    name = "iAP"
    params: ClassVar = (Param("levels", whole, "how many levels of recall, from 0 to 1", 101), REL)
    formula = "(1/L) Σ_{r = 0, 1/(L−1), …, 1} max {P@i : recall at i ≥ r}"
    source = "Lin et al., ECCV 2014 (101 levels); Everingham et al., IJCV 2010 (11)"
    plain = "how precise the list is at each level of recall, averaged over the levels"
    levels: int

    def depth(self, ranked: Ranked) -> float:
        """All places."""
        return np.inf

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the best precision from each relevant group on, times the levels that it reaches first."""
        groups = ranked.groups()
        queries = len(groups.ptr) - 1
        shape = np.broadcast_shapes(groups.relevant.shape, groups.start.shape)
        relevant, before, start, width = (
            np.broadcast_to(part, shape).reshape(-1, shape[-1])
            for part in (groups.relevant, groups.relevant_before, groups.start, groups.width)
        )
        total = np.broadcast_to(ranked.relevant, (*shape[:-1], queries)).reshape(-1, queries)
        query = np.repeat(np.arange(queries), np.diff(groups.ptr))
        version, column = np.nonzero((relevant > 0) & np.isfinite(start))
        list_of = version * queries + query[column]
        earlier = before[version, column]
        found = earlier + relevant[version, column]
        precision = found / (start + width)[version, column]
        # The maximum over later groups of the same list: earlier lists lie higher, so that it starts anew.
        apart = -2.0 * list_of
        best = np.maximum.accumulate((precision + apart)[::-1])[::-1] - apart
        number, level = total[version, query[column]], np.linspace(0, 1, self.levels)
        reached = np.searchsorted(level, found / number, side="right")
        reached -= np.where(earlier > 0, np.searchsorted(level, earlier / number, side="right"), 0)
        sums = np.bincount(list_of, reached * best, len(total) * queries)
        return sums.reshape(*shape[:-1], queries) / self.levels
