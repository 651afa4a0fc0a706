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
    """Return the scorecard with the given ends; an end that is no number is left out, with a note."""
    ends = {
        column: tuple(float(end) if np.isfinite(end) else None for end in pair)
        for column, *pair in zip(evidence.columns, low, high)
    }
    columns = [
        replace(column, low=ends[column][0], high=ends[column][1]) if column in ends else column
        for column in card.columns
    ]
    notes = [
        f"{c.run}: the interval of {c.measure} on {c.truth} ({c.direction}) has no upper end: "
        "too many rankings end before the first relevant item"
        for c in columns
        if c.low is not None and c.high is None
    ]
    return replace(card, columns=columns, intervals=intervals, notes=[*card.notes, *notes, *alone(card)])


def alone(card: Scorecard) -> list[str]:
    """Return the note on captions that are drawn one by one, since nobody knows which share an image."""
    asked = any(column.direction != "i2t" for column in card if column.value is not None)
    if not asked or card.benchmark.caption_image is not None:
        return []
    return [
        f"{card.benchmark.name} does not say which captions share an image: each is drawn by itself, "
        "and intervals and p-values of text→image are too small if some do"
    ]


def units_drawn(card: Scorecard) -> str:
    """Say what is resampled."""
    return "queries" if alone(card) else "images with their captions"
