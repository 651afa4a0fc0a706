"""Gaps between runs against effort: how far off, and how often in the wrong order (figure 8)."""

from __future__ import annotations

from typing import Any

from karat.estimation import Simulated
from karat.reports.effort_curves import VIEW_AXES, key_of, lines_and_table
from karat.reports.material import EstimateMaterial
from karat.reports.section import SectionData, section


@section("gaps", "Who is better?", "Gaps", order=60, pages=["simulation"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return squared errors of gaps and shares of wrong orders; nothing of one run."""
    results = [result for result in material.simulation.results if len(result.runs) > 1]
    if not results:
        return None
    views = [view(result) for result in results]
    return {"axes": list(VIEW_AXES), "views": views, "unit": results[0].unit}


def view(result: Simulated) -> dict[str, Any]:
    """Return both figures of one measure in one direction."""
    pairs = len(result.runs) * (len(result.runs) - 1) // 2
    about = f"{result.title}, mean over {pairs} pairs of systems"
    squared = f"Squared error of the gap in squared points, ± one standard deviation: {about}"
    wrong = f"Pairs of systems in the wrong order in percent, ± one standard deviation: {about}"
    return {
        "key": key_of(result),
        # Gaps are shares: a squared point is 1/10,000, and lines are in percent already.
        "squared": lines_and_table(result, squared, lambda curve: result.gaps(curve)[0], scale=100),
        "wrong": lines_and_table(result, wrong, lambda curve: result.gaps(curve)[1]),
    }
