"""Majority: the side that most answers are on, and its most frequent rating."""

from __future__ import annotations

from typing import Any

from karat.judging.quality.answers import Grouped
from karat.judging.quality.verdicts import AGGREGATIONS, THRESHOLD, Aggregation, decide


def majority(grouped: Grouped, threshold: float = 0.5) -> dict[str, Any]:
    """Return the verdicts of a vote: relevant or not first, then the rating (see `decide`).

    A pair is relevant when at least half of its answers say so; an even split counts as relevant, as
    Flickr8k's published judgments do (Hodosh et al. 2013, section 4.3.2: 2,031 further pairs come out at a
    share of 0.5 or more, and only there). ``threshold=0.51`` requires more than half.
    """
    return decide(grouped.shares, grouped, threshold)


AGGREGATIONS.add(
    "majority",
    Aggregation("the side of at least half of the answers, its most frequent rating", majority, (THRESHOLD,)),
    ["vote"],
)
