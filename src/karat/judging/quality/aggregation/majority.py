"""Majority: the side that most answers are on, and its most frequent rating."""

from __future__ import annotations

from typing import Any

from karat.forms import Grouped
from karat.judging.quality.verdicts import AGGREGATIONS, EVEN, THRESHOLD, Aggregation, decide


def majority(grouped: Grouped, threshold: float = 0.5, even: str = "no") -> dict[str, Any]:
    """Return the verdicts of a vote: relevant or not first, then the rating (see `decide`).

    A pair is relevant when more than half of its answers say so. With ``even="yes"`` an even split is
    relevant too, as in Flickr8k's published judgments (Hodosh et al. 2013, section 4.3.2: 2,031 further pairs
    come out at a share of 0.5 or more, and only there).
    """
    return decide(grouped.shares, grouped, threshold, even)


AGGREGATIONS.add(
    "majority",
    Aggregation(
        "the side of more than half of the answers, its most frequent rating", majority, (THRESHOLD, EVEN)
    ),
    ["vote"],
)
