"""Estimated gaps between runs."""

from __future__ import annotations

from typing import Any

from karat._util import MISSING
from karat.reports.effort_curves import VIEW_AXES
from karat.reports.material import EstimateMaterial
from karat.reports.presentation import direction_heading, table
from karat.reports.section import SectionData, section


@section("differences", "Gaps between systems", "Gaps", order=30, pages=["estimate"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return the gap of every pair of runs, a view per measure and direction; nothing of one run."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for gap in material.estimate.differences():
        groups.setdefault((direction_heading(gap["direction"]), gap["measure"]), []).append(gap)
    if not groups:
        return None
    return {"axes": list(VIEW_AXES), "views": [view(key, gaps) for key, gaps in groups.items()]}


def view(key: tuple[str, str], gaps: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one measure in one direction."""
    rows, points = [], []
    for gap in gaps:
        name = f"{gap['first']} − {gap['second']}"
        known = gap["value"] is not None
        ahead = MISSING if gap["first_ahead"] is None else f"{100 * gap['first_ahead']:.0f}%"
        value = f"{100 * gap['value']:+.1f}".replace("-", "−") if known else MISSING
        spread = MISSING if gap["spread"] is None else f"± {100 * gap['spread']:.1f}"
        rows.append([name, value, spread, ahead])
        if known:
            points.append(
                {"name": name, "value": 100 * gap["value"], "ahead": ahead, "text": f"{value} {spread}",
                 "spread": None if gap["spread"] is None else 100 * gap["spread"],
                 "first": gap["first"]}
            )  # fmt: skip
    heads = ["Gap", "Points", "Spread", "First ahead in"]
    return {
        "key": list(key),
        "points": points,
        "table": table(f"Estimated gaps in points of percent: {key[1]}, {key[0]}", heads, rows),
    }
