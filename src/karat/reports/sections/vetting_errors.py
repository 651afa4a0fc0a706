"""Error per query against effort, one curve per method (Active Testing, figure 5)."""

from __future__ import annotations

from typing import Any

from karat.estimation import Simulated
from karat.reports.effort_curves import VIEW_AXES, key_of, lines_and_table
from karat.reports.material import EstimateMaterial
from karat.reports.section import SectionData, section


@section("errors", "Error against effort", "Error", order=30, pages=["simulation"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return the mean absolute error per query of every method."""
    found = material.simulation
    first = found.results[0]
    return {
        "axes": list(VIEW_AXES), "views": [view(one) for one in found.results], "times": found.times,
        "unit": first.unit, "per": first.per, "all_of": first.all_of,
    }  # fmt: skip


def view(result: Simulated) -> dict[str, Any]:
    """Return the curves of one measure in one direction."""
    caption = f"Mean absolute error per {result.per} in points, ± one standard deviation: {result.title}"
    return {
        "key": key_of(result),
        "noisy": round(100 * result.noisy_error, 3),
        **lines_and_table(result, caption, lambda curve: curve.error),
    }
