"""Q: average precision for graded labels, a blend of precision and cumulative gain."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat._util import Param
from karat.measures.expectation import running_sum
from karat.measures.measure import REL, Measure, register
from karat.measures.ranked import Ranked

Array = np.ndarray


def not_negative(value: Any) -> float:
    """Return a number of at least 0; for `Param.type`.

    >>> not_negative("1")
    1.0
    """
    number = float(value)
    if not 0 <= number < np.inf:
        raise ValueError(value)
    return number


@register
class QMeasure(Measure):
    """Q-measure: like AP, with the blended ratio in place of precision at the relevant items.

    The gain of an item is its relevance as the labels have it (1, 2, 3 in qrels), or its grade where labels
    have no such scale. With β = 0 it is AP; a high β rewards high grades in early places.

    >>> ranked = Ranked.from_places([[1, 3]], [[1, 1]], size=10)
    >>> QMeasure()(ranked).round(6).tolist()
    [0.9]
    """

    name = "Q"
    aliases = ("Q-measure",)
    params = (REL, Param("beta", not_negative, "how much the gain counts beside the number of items", 1.0))
    formula = (
        "(1/R) Σ_i [item i is relevant] (C_i + β g_i) / (i + β g*_i); up to place i, C_i relevant items have "
        "the gain g_i, and g*_i is the ideal one"
    )
    source = "Sakai, IPM 2007; Sakai and Kando, Information Retrieval 2008"
    plain = "how early the right answers come, better ones counting more, averaged over all of them"
    beta: float

    def depth(self, ranked: Ranked) -> float:
        """The whole ranking."""
        return np.inf

    def values(self, ranked: Ranked) -> Array:
        """Return the expectation over tied places.

        A tied group of T places after the first a holds m relevant items of the gain G together, after h
        relevant items of the gain g. Summed over its relevant items, C + βg on place a + p is
        m (h + 1) + β (m g + G) + (p − 1) (m − 1) (m + β G) / (T − 1), over T.
        """
        groups, first = ranked.groups(), ranked.group_first
        gain = ranked.top * ranked.count * ranked.grade
        if len(first) < gain.shape[-1]:
            gain = np.add.reduceat(gain, first, axis=-1)
        found = np.isfinite(groups.start) & (groups.relevant > 0)
        start, width = np.where(np.isfinite(groups.start), groups.start, 0.0), groups.width
        query = np.repeat(np.arange(ranked.n_queries), np.diff(groups.ptr))
        m, h, before = groups.relevant, groups.relevant_before, groups.before(gain)
        ideal = Ideal(ranked, self.beta)
        inverse, late = ideal.between(query, start, start + width)
        terms = (m * (h + 1) + self.beta * (m * before + gain)) * inverse
        terms = terms + (m - 1) * (m + self.beta * gain) / np.maximum(width - 1, 1) * late
        return groups.sum(np.where(found, terms / width, 0.0)) / ranked.relevant


class Ideal:
    """The denominators r + β g*_r of the blended ratio, of every query, and sums of their inverses.

    Parameters
    ----------
    ranked
        The judged items, whose order by grade is the ideal one.
    beta
        How much the gain counts.
    """

    def __init__(self, ranked: Ranked, beta: float) -> None:
        self.ranked, self.beta = ranked, beta
        if ranked.total is not None:
            self.length, self.whole = ranked.total, beta * ranked.total
            return
        self.length = np.diff(ranked.ptr)
        query = np.broadcast_to(np.repeat(np.arange(ranked.n_queries), self.length), ranked.grade.shape)
        order = np.lexsort((-ranked.grade, query))
        best = ranked.top * np.take_along_axis(ranked.grade, order, axis=-1)
        place = np.arange(best.shape[-1]) - ranked.spread(ranked.ptr[:-1]) + 1
        inverse = 1 / (place + beta * self._running(best))
        self.whole = beta * ranked.sum(best)
        self.sums = self._running(inverse), self._running(place * inverse)

    def _running(self, per_row: Array) -> Array:
        """Return running sums within each query."""
        running = np.cumsum(per_row, axis=-1)
        rows = per_row.shape[-1]
        start = np.minimum(self.ranked.ptr[:-1], max(rows - 1, 0))
        return running - self.ranked.spread((running - per_row)[..., start]) if rows else running

    def between(self, query: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """Return Σ 1/(r + β g*_r), and the sum of (r − low − 1)/(r + β g*_r), over low < r ≤ high."""
        (first, first_late), (last, last_late) = (self.upto(query, end) for end in (low, high))
        inverse = last - first
        return inverse, last_late - first_late - (low + 1) * inverse

    def upto(self, query: Array, place: Array) -> tuple[Array, Array]:
        """Return Σ 1/(r + β g*_r), and Σ r/(r + β g*_r), over r ≤ place."""
        length, whole = self.length[query], self.whole[..., query]
        inside = np.minimum(place, length)
        if self.ranked.total is not None:
            inverse, late = running_sum("harmonic", inside) / (1 + self.beta), inside / (1 + self.beta)
        else:
            at = (self.ranked.ptr[query] + np.maximum(inside - 1, 0)).astype(np.int64)
            shape = np.broadcast_shapes(at.shape, (*self.sums[0].shape[:-1], at.shape[-1]))
            inverse, late = (
                np.where(inside > 0, np.take_along_axis(sums, np.broadcast_to(at, shape), axis=-1), 0.0)
                for sums in self.sums
            )
        beyond = place - inside
        if beyond.any():
            from scipy.special import digamma

            # All places after the last item of the ideal list have the whole gain.
            more = np.where(beyond > 0, digamma(place + whole + 1) - digamma(inside + whole + 1), 0.0)
            inverse, late = inverse + more, late + beyond - whole * more
        return inverse, late
