"""What a comparison found, in words, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.scores.intervals import units_drawn
from karat.scores.paired_tests import TESTS

if TYPE_CHECKING:
    from karat.scores.comparison import Comparison, Standing


def headline(shown: Sequence[Standing]) -> list[str]:
    """Return sentences that say who is first where; equal outcomes are said once."""
    where: dict[tuple[str, ...], list[str]] = {}
    everyone = {run for standing in shown for run in standing.runs}
    for standing in shown:
        if not standing.tested:
            continue
        direction = "" if standing.direction in ("mean", "both") else f" {standing.direction}"
        where.setdefault(standing.first, []).append(f"{standing.truth} {standing.measure}{direction}")
    if len(where) == 1 and all(s.tested and set(s.runs) == everyone for s in shown):
        return [f"{outcome(next(iter(where)))} everywhere."]
    return [f"{outcome(first)} on {', '.join(columns)}." for first, columns in where.items()]


def outcome(first: Sequence[str]) -> str:
    """Say who is first.

    >>> outcome(["A"]), outcome(["A", "B", "C"])
    ('First: A', 'Tied for first: A, B and C')
    """
    if len(first) == 1:
        return f"First: {first[0]}"
    return f"Tied for first: {', '.join(first[:-1])} and {first[-1]}"


def method_line(comparison: Comparison) -> str:
    """Say how the numbers were made."""
    intervals = comparison.card.intervals
    made = [TESTS[comparison.test].about]
    if comparison.test == "randomisation":
        made[0] += f" with {comparison.samples:,} swaps"
    if intervals is not None:
        ends = (
            f"{100 * intervals.level:g}% {intervals.shown} intervals from {intervals.resamples:,} resamples"
        )
        made.append(f"{ends} of {units_drawn(comparison.card)}")
    if len(comparison.card.runs) > 2:
        made.append("p corrected by Holm over the pairs of runs of each measure")
    made.append(f"one run beats another at p ≤ {comparison.alpha:g}")
    return f"Values in percent, ranks as they are; {'; '.join(made)}."
