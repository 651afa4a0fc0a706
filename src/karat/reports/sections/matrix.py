"""Who beats whom: every pair of systems, with the difference and whether chance explains it."""

from __future__ import annotations

from typing import Any

from karat.reports.main_column import ordered_columns
from karat.reports.material import Material
from karat.reports.section import Found, section
from karat.reports.views import AXES, DIRECTIONS, cell, table
from karat.scores import Comparison, Standing
from karat.scores.comparison_tables import show_p, signed

FEW = 9
"""Up to so many systems each cell shows the difference; beyond, only who wins."""


@section("matrix", "Who beats whom", "Who beats whom", order=40)
def collect(material: Material) -> Found:
    """Return a matrix for every column."""
    found = material.comparison
    if found is None:
        return None
    standings = {(s.truth, s.direction, str(s.measure)): s for s in found.standings if s.tested}
    keys = [key for key in ordered_columns(found.card) if key in standings]
    if not keys:
        return f"Nothing to show: {found.test} could not be used on any column."
    views = [
        {"key": [key[0], DIRECTIONS[key[1]], key[2]], "table": matrix(found, standings[key])} for key in keys
    ]
    return {"axes": list(AXES), "views": views, "alpha": found.alpha, "few": len(found.card.runs) <= FEW}


def matrix(found: Comparison, standing: Standing) -> dict[str, Any]:
    """Return the table of one column: a row against every other system."""
    few = len(found.card.runs) <= FEW
    pairs = {}
    for one in found.differences:
        if (one.truth, one.direction, str(one.measure)) == (
            standing.truth, standing.direction, str(standing.measure),
        ):  # fmt: skip
            pairs[one.first, one.second] = (one.difference, one.corrected)
            pairs[one.second, one.first] = (-one.difference, one.corrected)
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
                cells.append(cell(signed(standing.measure, difference), below, kind))
            else:
                cells.append(cell({"win": "▲", "loss": "▼", "open": "·"}[kind], kind=kind))
        rows.append(cells)
    caption = f"{standing.measure} on {standing.truth}, {DIRECTIONS[standing.direction]}: row against column"
    return table(caption, ["", *standing.runs], rows)
