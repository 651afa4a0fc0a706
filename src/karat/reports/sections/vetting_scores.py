"""The estimated score against effort, with the true one (Active Testing, figure 7; supplement, figure 1)."""

from __future__ import annotations

from typing import Any

from karat.estimation import Simulated
from karat.reports.effort_curves import VIEW_AXES, key_of, lines_and_table
from karat.reports.material import EstimateMaterial
from karat.reports.presentation import scaled, shown
from karat.reports.section import SectionData, section


@section("scores", "Estimated score against effort", "Score", order=50, pages=["simulation"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return the estimated scores, a view per run."""
    views = [view(result, at) for result in material.simulation.results for at in range(len(result.runs))]
    return {"axes": [*VIEW_AXES, "System"], "views": views, "unit": material.simulation.results[0].unit}


def view(result: Simulated, at: int) -> dict[str, Any]:
    """Return the curves of one run."""
    true, noisy = float(result.truth[at]), float(result.noisy[at])
    caption = (
        f"Estimated {result.title} of {result.runs[at]} in percent, ± one standard deviation; true score "
        f"{shown(result.measure, true)}, by the noisy labels {shown(result.measure, noisy)}"
    )
    return {
        "key": [*key_of(result), result.runs[at]],
        "true": scaled(result.measure, true),
        "noisy": scaled(result.measure, noisy),
        **lines_and_table(result, caption, lambda curve: curve.estimate[..., at]),
    }
