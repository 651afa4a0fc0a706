"""Intervals for every column of a scorecard, from one set of draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.scores.evidence import Evidence
from karat.scores.scorecard import Scorecard
from karat.stats.intervals import Intervals


def as_intervals(asked: Intervals | str | bool | None) -> Intervals | None:
    """Return the choices behind intervals: None for none, True for the usual ones, or a method's name.

    >>> as_intervals("bca").resamples, as_intervals(False)
    (10000, None)
    """
    if asked is None or asked is False:
        return None
    if asked is True:
        return Intervals()
    return asked if isinstance(asked, Intervals) else Intervals(asked)


def with_intervals(card: Scorecard, intervals: Intervals | str | bool = True) -> Scorecard:
    """Return the scorecard with an interval for every column that has a value.

    Images are drawn with replacement, and with each its captions: what would the score be on other
    queries of the same kind, over the same gallery? All columns of all runs see the same draws.
    """
    chosen = as_intervals(intervals)
    if chosen is None or all(column.value is None for column in card):
        return card
    evidence = Evidence(card.columns)
    low, high = chosen.ends(evidence.values(), *chosen.draw(evidence.resampled, evidence.clusters))
    return placed(card, evidence, low, high, chosen)


def placed(
    card: Scorecard, evidence: Evidence, low: np.ndarray, high: np.ndarray, intervals: Intervals
) -> Scorecard:
    """Return the scorecard with the given ends; those that are no number are left out."""
    ends = {
        column: tuple(float(end) if np.isfinite(end) else None for end in pair)
        for column, *pair in zip(evidence.columns, low, high)
    }
    columns = [
        replace(column, low=ends[column][0], high=ends[column][1]) if column in ends else column
        for column in card.columns
    ]
    return replace(card, columns=columns, intervals=intervals)
