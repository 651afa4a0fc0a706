"""R@K: is something relevant among the first K?"""

from typing import ClassVar

import numpy as np

from karat._util import Param, whole
from karat.measures.expectation import chance_of_none
from karat.measures.measure import Measure, register
from karat.measures.ranked import Ranked


@register
class HitRate(Measure):
    """R@K, also called S@K: the best grade among the first K; with binary labels, 1 for at least one hit.

    This is what image–text retrieval calls recall; information retrieval's is `Recall@K`. Under
    graded labels R@1 is eq. E.4 of ECCV Caption: 0.5 when the first item is "partially yes".

    >>> ranked = Ranked.from_places([[2, 9], [1]], [[0.5, 1], [1]], size=10)
    >>> HitRate(k=1)(ranked).tolist(), HitRate(k=5)(ranked).tolist()
    ([0.0, 1.0], [0.5, 1.0])
    """

    name = "R"
    aliases = ("S", "Success", "HitRate")
    trec_eval: ClassVar = {"success_K": "R(rel=any)@K"}
    cutoff = Param("k", whole, "how many items are looked at")
    formula = "max of m_i over i ≤ K; for binary labels 1 if one of the first K is relevant, else 0"
    source = "Hodosh et al. 2013, §4.3.1 and §4.3.3 (S@k); Semantic margin eq. 2; ECCV Caption eq. E.2, E.4"
    plain = "the share of queries with a right answer among the first {k}"
    bounded = True
    settled_by = "best"
    k: int

    def depth(self, ranked: Ranked) -> float:
        """K places."""
        return self.k

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the expected best grade among the first K."""
        slots = ranked.slots(self.k)
        best = ranked.max(np.where(slots >= ranked.width, ranked.grade, 0.0))
        split = (slots > 0) & (slots < ranked.width)
        if not split.any():
            return best
        # K cuts through a tied group. E[max] adds, grade by grade, the chance that one of the
        # items with at least this grade is among those inside.
        floor = ranked.spread(best)
        new = np.zeros(ranked.start.shape[-1], bool)
        new[ranked.group_first] = True
        following = np.where(np.roll(new, -1), 0.0, np.roll(ranked.grade, -1, axis=-1))
        rise = np.maximum(ranked.grade, floor) - np.maximum(following, floor)
        running = np.cumsum(ranked.count)
        group = np.cumsum(new) - 1
        so_far = running - (running - ranked.count)[ranked.group_first][group]
        chance = 1 - chance_of_none(ranked.width, so_far, np.where(split, slots, 0))
        return best + ranked.sum(np.where(split, rise * chance, 0.0))
