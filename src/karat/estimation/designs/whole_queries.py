"""Whole queries: all open pairs of randomly drawn queries."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat._util import Param, whole
from karat.errors import InputError
from karat.estimation.candidates import VettedLabels
from karat.estimation.design import SamplingDesign, register_design
from karat.estimation.statistics import Draw, drawn_in_strata
from karat.measures import Measure

PER_STRATUM = 10
"""How many queries a stratum gives at least, where there are several strata."""


@register_design
class WholeQueryDesign(SamplingDesign):
    """Random queries, each with all its open pairs: the only honest design for RP, AP and mAP@R.

    These are ratios whose denominator, the number of relevant items, is unknown until all pairs of a query
    are labelled. Queries differ in how many pairs they have; so that the number of pairs is never exceeded
    and little of it is left over, they are drawn inside of strata of queries of like size, as many of each as
    fit even if the largest ones are drawn.
    """

    name = "whole-queries"
    formula = "π_q = m_h / M_h for the queries of stratum h"
    source = "Särndal et al. 1992, section 4.2"
    unit = "query"
    params: ClassVar = (Param("strata", whole, "how many strata of queries by size, at most", 10),)
    strata: int

    def draw(
        self,
        labels: VettedLabels,
        probability: np.ndarray,
        measure: Measure,
        open_rows: np.ndarray,
        n: int,
        rng: np.random.Generator,
    ) -> Draw:
        """Return all open pairs of the drawn queries."""
        query = labels.candidates.query[open_rows]
        queries, cost = np.unique(query, return_counts=True)
        queries, cost = (values[np.argsort(cost, kind="stable")] for values in (queries, cost))
        stratum, number = plan(cost, n, self.strata)
        if not number.sum():
            raise InputError(
                f"{n:,} pairs are fewer than one query has ({cost.max(initial=0):,} at most)",
                fix="ask for more pairs, or lower the depth",
            )
        size = np.bincount(stratum)
        drawn = drawn_in_strata(stratum, number, rng)
        chance, part = np.zeros(len(labels.candidates.queries)), np.full(len(labels.candidates.queries), -1)
        chance[queries[drawn]] = (number / size)[stratum[drawn]]
        part[queries[drawn]] = stratum[drawn]
        taken = chance[query] > 0
        rows, query = open_rows[taken], query[taken]
        return Draw(rows, chance[query], part[query], query, str(self))


def plan(cost: np.ndarray, n: int, strata: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the stratum of each query, given their sorted costs, and how many of each fit into `n` pairs.

    >>> stratum, number = plan(np.array([1, 1, 1, 1, 9, 9, 9, 9]), 20, strata=1)
    >>> number.tolist()
    [2]
    """
    queries = len(cost)
    if queries == 0 or cost.sum() <= n:
        return np.zeros(queries, np.int64), np.array([queries])
    guess = int(n / cost.mean())
    parts = max(1, min(strata, guess // PER_STRATUM)) if cost[0] < cost[-1] else 1
    stratum = np.arange(queries) * parts // queries
    size = np.bincount(stratum)
    # Costs of the largest queries of each stratum, summed up from the largest.
    worst = [np.r_[0, np.cumsum(cost[stratum == part][::-1])] for part in range(parts)]
    edge = np.r_[0, np.cumsum(size)]

    def number(total: int) -> np.ndarray:
        return np.diff(edge * total // queries)

    low, high = 0, queries
    while low < high:
        middle = (low + high + 1) // 2
        if sum(int(w[k]) for w, k in zip(worst, number(middle))) <= n:
            low = middle
        else:
            high = middle - 1
    best = number(low)
    if parts > 1 and best.min() < 2:
        return plan(cost, n, 1)
    return stratum, best
