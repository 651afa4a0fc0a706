"""Who beats whom: every pair of systems, with the difference and whether chance explains it."""

from __future__ import annotations

from typing import Any

from karat.reports.columns import key_of, ordered_columns
from karat.reports.material import Material
from karat.reports.presentation import AXES, cell, direction_heading, table
from karat.reports.section import SectionData, section
from karat.scores import Comparison, Standing, show_p, signed_value

FEW = 9
"""Up to this many systems each cell shows the difference; beyond, only who wins."""


@section("matrix", "Who beats whom", "Who beats whom", order=40)
def collect(material: Material) -> SectionData:
    """Return a matrix for every column."""
    comparison = material.comparison
    if comparison is None:
        return None
    standings = {key_of(standing): standing for standing in comparison.standings if standing.tested}
    keys = [key for key in ordered_columns(comparison.card) if key in standings]
    if not keys:
        return f"Nothing to show: {comparison.test} could not be used on any column."
    views = [
        {"key": [key[0], direction_heading(key[1]), key[2]], "table": matrix(comparison, standings[key])}
        for key in keys
    ]
    return {
        "axes": list(AXES),
        "views": views,
        "alpha": comparison.alpha,
        "few": len(comparison.card.runs) <= FEW,
    }


def matrix(comparison: Comparison, standing: Standing) -> dict[str, Any]:
    """Return the table of one column: a row against every other system."""
    few = len(comparison.card.runs) <= FEW
    pairs = {}
    for pair in comparison.differences:
        if key_of(pair) == key_of(standing):
            pairs[pair.first, pair.second] = (pair.difference, pair.corrected)
            pairs[pair.second, pair.first] = (-pair.difference, pair.corrected)
    rows = []
    for a, run in enumerate(standing.runs):
        cells: list[Any] = [run]
        for b, other in enumerate(standing.runs):
            kind = "win" if standing.beats[a, b] else "loss" if standing.beats[b, a] else "open"
            if a == b:
                cells.append(cell("", kind="self"))
            elif few:
                difference, p = pairs[run, other]
                below = "" if p is None else f"p {show_p(p).replace('< ', '<')}"
                cells.append(cell(signed_value(standing.measure, difference), below, kind))
            else:
                cells.append(cell({"win": "▲", "loss": "▼", "open": "·"}[kind], kind=kind))
        rows.append(cells)
    caption = (
        f"{standing.measure} on {standing.truth}, {direction_heading(standing.direction)}: row against column"
    )
    return table(caption, ["", *standing.runs], rows)
