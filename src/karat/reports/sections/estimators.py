"""What each estimator says, side by side for every run."""

from __future__ import annotations

from typing import Any

from karat._util import MISSING
from karat.estimation import OTHERS, EstimatedColumn
from karat.reports.effort_curves import VIEW_AXES
from karat.reports.material import EstimateMaterial
from karat.reports.presentation import Cell, cell, direction_heading, table
from karat.reports.section import SectionData, section


@section("estimators", "What each estimator says", "Estimators", order=20, pages=["estimate"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return a point per run and estimator, a view per measure and direction."""
    found = material.estimate
    chosen = f"{found.estimator} (estimate)"
    views = [view(column, chosen) for column in found.columns]
    return {"axes": list(VIEW_AXES), "views": views, "series": [chosen, *OTHERS.values()]}


def view(column: EstimatedColumn, chosen: str) -> dict[str, Any]:
    """Return one measure in one direction."""
    marks = column.marks(chosen)
    runs, series = column.candidates.runs, [chosen, *OTHERS.values()]
    by_place = {(mark.row, mark.series): mark for mark in marks}
    rows: list[list[Cell]] = []
    for run in runs:
        row: list[Cell] = [run]
        for name in series:
            mark = by_place.get((run, name))
            value, _, spread = ("", "", "") if mark is None else mark.text.partition(" ± ")
            row.append(MISSING if mark is None else cell(f"{value}%", f"± {spread}" if spread else ""))
        rows.append(row)
    points = [
        {"run": mark.row, "series": mark.series, "value": mark.value,
         "spread": None if mark.high is None else mark.high - mark.value, "text": mark.text}
        for mark in marks
    ]  # fmt: skip
    return {
        "key": [direction_heading(column.direction), str(column.measure)],
        "runs": list(runs),
        "points": points,
        "table": table(f"Estimates of {column.title} in percent", ["System", *series], rows),
    }
