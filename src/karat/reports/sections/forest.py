"""Every score as a point with its interval: who overlaps whom."""

from __future__ import annotations

from typing import Any

from karat._util import MISSING
from karat.measures import is_share
from karat.reports.columns import by_score, column_of, draws_needed, ordered_columns, standing_of
from karat.reports.material import Material
from karat.reports.presentation import (
    AXES,
    direction_heading,
    interval,
    scaled,
    short_direction,
    shown,
    table,
)
from karat.reports.section import SectionData, section
from karat.scores import Column, Scorecard


@section("forest", "Scores with their intervals", "Intervals", order=30)
def collect(material: Material) -> SectionData:
    """Return the points of every column; of one run, all measures of a truth side by side."""
    card = material.card
    if card is None:
        return None
    standings = () if material.comparison is None else material.comparison.standings
    tested = {"tested": any(s.tested and not draws_needed(material, s) for s in standings)}
    if len(card.runs) == 1:
        views = one_run(card)
        if not views:
            return "There is nothing to draw side by side: sums over both directions have their own scale."
        return {"axes": ["Labels"], "views": views, "intervals": card.intervals is not None, **tested}
    views = [
        view([*key[:1], direction_heading(key[1]), key[2]], several_runs(material, key))
        for key in ordered_columns(card)
    ]
    return {"axes": list(AXES), "views": views, "intervals": card.intervals is not None, **tested}


def several_runs(material: Material, key: tuple[str, str, str]) -> list[dict[str, Any]]:
    """Return a point per run, best first."""
    card = material.card
    assert card is not None
    columns = {run: column_of(card, key, run) for run in card.runs}
    points = []
    for run in by_score(card.runs, list(columns.values())):
        column = columns[run]
        if column is not None and column.value is not None:
            first, places = standing_of(material, column)
            points.append(point(run, column, first, places))
    return points


def one_run(card: Scorecard) -> list[dict[str, Any]]:
    """Return a view per truth and unit, with a point per measure and direction."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for truth, direction, measure in ordered_columns(card):
        column = column_of(card, (truth, direction, measure), card.runs[0])
        # A sum over both directions has its own scale.
        if column is not None and direction != "both":
            kind = truth if is_share(column.measure) else f"{truth}, ranks"
            name = f"{measure}, {short_direction(direction)}"
            groups.setdefault((kind, column.measure.unit), []).append(point(name, column, False, ""))
    return [view([name], points) for (name, _), points in groups.items()]


def point(name: str, column: Column, first: bool, places: str) -> dict[str, Any]:
    """Return one point as the plot and the table take it."""
    ends = [scaled(column.measure, end) for end in (column.low, column.high)]
    bounds = [scaled(column.measure, end) for end in (column.lower_bound, column.upper_bound)]
    return {
        "name": name, "value": scaled(column.measure, column.value), "ends": ends, "bounds": bounds,
        "first": first, "places": places, "unit": column.measure.unit, "share": is_share(column.measure),
        "text": shown(column.measure, column.value),
        "between": interval(column.measure, column.low, column.high),
    }  # fmt: skip


def view(key: list[str], points: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a view with its table."""
    places = any(p["places"] for p in points)
    head = ["System", "Score", "Interval", *(["Places"] if places else [])]
    rows = [
        [p["name"], p["text"], p["between"] or MISSING, *([p["places"] or MISSING] if places else [])]
        for p in points
    ]
    return {"key": key, "points": points, "table": table(", ".join(key), head, rows)}
