"""Stratified: pairs of one kind are drawn together, more of those kinds that are uncertain."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat._util import Param, whole
from karat.estimation.candidates import Candidates, VettedLabels
from karat.estimation.design import SamplingDesign, pair_weights, register_design
from karat.estimation.statistics import Draw, drawn_in_strata
from karat.estimation.strategy import guessed
from karat.measures import Measure

EDGES = np.array([0.05, 0.2, 0.4, 0.6, 0.8, 0.95])
"""Where predicted probabilities are cut."""
LEAST = 2
"""How many are drawn of every stratum: its variance is not known from one."""
EVEN = 0.05
"""The smallest variance of a label that allocation believes in."""


@register_design
class StratifiedDesign(SamplingDesign):
    """Strata by noisy label, predicted probability and place, with Neyman's allocation.

    Cells that are too small for the number of draws are merged with their neighbours.
    """

    name = "stratified"
    aliases = ("neyman",)
    formula = "n_h ∝ N_h S_h, at least 2; π_i = n_h / N_h"
    source = "Neyman 1934; Särndal et al. 1992, section 3.7"
    params: ClassVar = (Param("strata", whole, "how many strata at most", 20),)
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
        """Return simple random samples of the strata."""
        candidates = labels.candidates
        weight = np.sqrt((pair_weights(candidates, measure, self) ** 2).sum(axis=0))[open_rows]
        p = guessed(probability)[open_rows]
        n = min(n, len(open_rows))
        cell = cells(candidates, p, open_rows)
        stratum = merged(cell, max(1, min(self.strata, n // (2 * LEAST))))
        size = np.bincount(stratum)
        variance = np.bincount(stratum, weight**2 * np.maximum(p * (1 - p), EVEN)) / np.maximum(size, 1)
        number = allocate(size, size * np.sqrt(variance), n)
        drawn = np.sort(drawn_in_strata(stratum, number, rng))
        which = stratum[drawn]
        return Draw(open_rows[drawn], (number / np.maximum(size, 1))[which], which, design=str(self))


def cells(candidates: Candidates, p: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the cell of each candidate, numbered so that neighbours are alike."""
    place = np.min([places[rows] for places in candidates.places.values()], axis=0)
    middle = np.median(place[np.isfinite(place)]) if np.isfinite(place).any() else 0.0
    level = np.searchsorted(EDGES, p)
    return (candidates.noisy[rows] * (len(EDGES) + 1) + level) * 2 + (place > middle)


def merged(cell: np.ndarray, most: int) -> np.ndarray:
    """Return strata of neighbouring cells, about equally large and `most` at most, numbered from 0.

    >>> merged(np.array([0, 0, 0, 1, 4, 4]), 2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    values, inverse, count = np.unique(cell, return_inverse=True, return_counts=True)
    if len(values) <= most and count.min(initial=LEAST) >= LEAST:
        return inverse
    before = np.cumsum(count) - count
    # The middle of a cell decides; a stratum of one pair cannot arise unless the frame is that small.
    part = np.minimum(((before + count / 2) * most / max(len(cell), 1)).astype(np.int64), most - 1)
    while True:
        used, number = np.unique(part, return_inverse=True)
        sizes = np.bincount(number, count)
        if len(used) < 2 or sizes.min() >= LEAST:
            return number[inverse]
        small = int(sizes.argmin())
        part = np.where(number == small, small - 1 if small else 1, number)


def allocate(size: np.ndarray, want: np.ndarray, n: int) -> np.ndarray:
    """Return how many of each stratum are drawn: at least two, all at most, `n` in total.

    >>> allocate(np.array([10, 100, 4]), np.array([1.0, 6.0, 9.0]), 12).tolist()
    [2, 6, 4]
    """
    number = np.minimum(size, LEAST)
    while number.sum() < n:
        room = size - number
        wish = np.where(room > 0, np.maximum(want, 1e-12 * max(want.max(), 1e-300)), 0.0)
        target = np.minimum(wish / wish.sum() * n, size)
        gap = np.maximum(target - number, 0.0)
        if gap.sum() <= 0:
            gap = room.astype(np.float64)
        left = n - int(number.sum())
        step = np.minimum(np.floor(gap * min(1.0, left / gap.sum())).astype(np.int64), room)
        if not step.any():
            best = np.argsort(-gap * (room > 0), kind="stable")[: min(left, int((room > 0).sum()))]
            step[best[room[best] > 0]] = 1
        number = number + step
    return number
