"""Error before and after each refit: more labels against a better model (Active Testing, figure 6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat._util import MISSING
from karat.estimation import Curve, Simulated, spread_of
from karat.reports.effort_curves import VIEW_AXES, key_of, labels_at, plain
from karat.reports.material import EstimateMaterial
from karat.reports.presentation import Cell, cell, table
from karat.reports.section import SectionData, section


@section("refits", "More labels, or a better model?", "Refits", order=40, pages=["simulation"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return the errors before and after each refit, a view per method, the last method first."""
    views = [
        view(result, curve) for result in material.simulation.results for curve in reversed(result.curves)
    ]
    return {"axes": [*VIEW_AXES, "Method"], "views": views}


def view(result: Simulated, curve: Curve) -> dict[str, Any]:
    """Return the saw-tooth of one method."""
    before, after = (spread_of(part)[0] for part in (curve.error_before, curve.error))
    labels = labels_at(result, curve)
    rows: list[list[Cell]] = []
    for at, effort in enumerate(curve.effort):
        drop = after[at] - before[at]
        slope = before[at] - after[at - 1] if at else np.nan
        rows.append(
            [
                cell(f"{100 * effort:.0f}%", f"{labels[at]:,} {result.unit}s"),
                *(MISSING if np.isnan(v) else f"{v:.2f}" for v in (before[at], after[at])),
                *(MISSING if np.isnan(v) else f"{v:+.2f}".replace("-", "−") for v in (slope, drop)),
            ]
        )
    caption = f"Error per {result.per} in points, before and after each refit: {curve.method}, {result.title}"
    heads = [
        f"{result.unit.capitalize()}s vetted",
        "Before the refit",
        "After it",
        "By more labels",
        "By the refit",
    ]
    return {
        "key": [*key_of(result), curve.method],
        "effort": plain(100 * curve.effort, 2),
        "labels": labels,
        "before": plain(before),
        "after": plain(after),
        "says": words(before, after),
        "table": table(caption, heads, rows),
    }


def words(before: np.ndarray, after: np.ndarray) -> str:
    """Say how much of the change of the error came from labels, and how much from refits."""
    slope = float(np.nansum(before[1:] - after[:-1]))
    drop = float(np.nansum(after[1:] - before[1:]))
    parts = " and ".join(f"{what} changed it by {by:+.1f}" for what, by in
                         (("more labels", slope), ("refits", drop)))  # fmt: skip
    return f"From the first batch to the last, {parts} points.".replace("-", "−")
