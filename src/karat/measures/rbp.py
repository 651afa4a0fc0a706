"""RBP: rank-biased precision, with the residual that unjudged items leave."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat._util import Param, valid
from karat.measures.measure import REL, Measure, register
from karat.measures.ranked import Ranked


@valid("a number above 0 and below 1")
def persistence(value: Any) -> float:
    """Return a number above 0 and below 1; for `Param.type`.

    >>> persistence("0.8")
    0.8
    """
    number = float(value)
    if not 0 < number < 1:
        raise ValueError(value)
    return number


@register
class RBP(Measure):
    """Rank-biased precision: the value for a reader who goes on to the next item with probability p.

    Its bounds are always shown: the value, where everything unjudged is not relevant, and the value with its
    *residual*, the weight of the places whose items are unjudged, and of all places after the end of the
    ranking. So a ranking that ends early has a value, with a residual of at least p^depth. A query
    without a relevant item counts 0.

    >>> ranked = Ranked.from_places([[1, 2, 4]], [[1, 0, 1]], size=10)
    >>> RBP(p=0.5)(ranked).tolist()
    [0.5625]
    """

    name = "RBP"
    params = (
        REL,
        Param("p", persistence, "the probability with which the reader goes on", 0.8, always=True),
    )
    formula = "(1 − p) Σ_i m_i p^(i − 1)"
    source = "Moffat and Zobel, TOIS 2008"
    plain = "the share of right answers that a reader sees who goes on with probability {p} after each"
    bounded = True
    residual = True
    of_relevance = False
    p: float

    def depth(self, ranked: Ranked) -> float:
        """The whole ranking."""
        return np.inf

    def values(self, ranked: Ranked) -> np.ndarray:
        """Return the weight of the relevant items, each the mean over its places."""
        start = np.where(ranked.placed, ranked.start, 0.0)
        weight = np.where(ranked.placed, self.p**start * (1 - self.p**ranked.width) / ranked.width, 0.0)
        return ranked.sum(ranked.count * ranked.grade * weight)

    def upper(self, filled: Ranked) -> np.ndarray:
        """Return the value with its residual."""
        return self(filled) + self.p**filled.depth

    def unanswered(self, ranked: Ranked) -> np.ndarray:
        """Return no query: what may come after the end of a ranking is in the residual."""
        return np.zeros(ranked.n_queries, bool)
