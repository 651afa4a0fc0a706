"""Scores with intervals, who is tied for first, and the places that each system can have."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.reports.boards import board_table
from karat.reports.main_column import column_of, ordered_columns
from karat.reports.material import Material
from karat.reports.section import Found, section
from karat.reports.views import DIRECTIONS, Cell, cell, interval, shown, table
from karat.scores import Column, Scorecard
from karat.scores.comparison_tables import show_places


@section("summary", "Scores", "Scores", order=20)
def collect(material: Material) -> Found:
    """Return a table per truth and direction, or one of all metrics where there are only numbers."""
    if material.card is None:
        assert material.board is not None
        return {"axes": [], "views": [{"key": [], "table": board_table(material.board)}], "kind": "numbers"}
    if len(material.card.runs) == 1:
        return {"axes": [], "views": [{"key": [], "table": one_run(material.card)}], "kind": "one"}
    groups: dict[tuple[str, str], list[str]] = {}
    for truth, direction, measure in ordered_columns(material.card):
        # Sums over both directions stand beside the means of both.
        shared = "mean" if direction == "both" else direction
        groups.setdefault((truth, shared), []).append(measure)
    views = [
        {"key": [truth, DIRECTIONS[direction]], "table": several_runs(material, truth, direction, measures)}
        for (truth, direction), measures in groups.items()
    ]
    kind = "many" if material.comparison is not None else "uncompared"
    return {"axes": ["Labels", "Direction"], "views": views, "kind": kind}


def one_run(card: Scorecard) -> dict[str, Any]:
    """Return measures by directions for one run."""
    directions = [d for d in DIRECTIONS if any(column.direction == d for column in card)]
    rows: list[list[Cell]] = []
    for truth, measure in dict.fromkeys((c.truth, str(c.measure)) for c in card):
        line = [column_of(card, (truth, direction, measure), card.runs[0]) for direction in directions]
        rows.append([f"{truth} · {measure}", *(value_cell(column) for column in line)])
    head = ["Labels · measure", *(DIRECTIONS[direction] for direction in directions)]
    return table(f"Scores of {card.runs[0]}", head, rows)


def several_runs(material: Material, truth: str, direction: str, measures: list[str]) -> dict[str, Any]:
    """Return runs by measures for one truth and direction, best run first."""
    card = material.card
    assert card is not None
    columns = {
        (run, measure): column_of(card, (truth, direction, measure), run)
        or column_of(card, (truth, "both", measure), run)
        for run in card.runs
        for measure in measures
    }
    rows = []
    for run in by_score(card.runs, [columns[run, measures[0]] for run in card.runs]):
        rows.append(
            [run, *(value_cell(columns[run, m], *standing_of(material, columns[run, m])) for m in measures)]
        )
    return table(f"Scores on {truth}, {DIRECTIONS[direction]}", ["System", *measures], rows)


def by_score(runs: list[str], columns: list[Column | None]) -> list[str]:
    """Return the runs, best first; those without a value last."""

    def goodness(at: int) -> float:
        column = columns[at]
        if column is None or column.value is None:
            return -np.inf
        return column.value if column.measure.better == "high" else -column.value

    return [runs[at] for at in sorted(range(len(runs)), key=goodness, reverse=True)]


def standing_of(material: Material, column: Column | None) -> tuple[bool, str]:
    """Return whether a run is (tied for) first in a column, and the places it can have."""
    if column is None or material.comparison is None:
        return False, ""
    for standing in material.comparison.standings:
        same = (standing.truth, standing.direction, str(standing.measure))
        if same == (column.truth, column.direction, str(column.measure)):
            places = standing.places.get(column.run)
            return column.run in standing.first, "" if places is None else show_places(places)
    return False, ""


def value_cell(column: Column | None, first: bool = False, places: str = "") -> Cell:
    """Return a value, its interval below it, and how it stands."""
    if column is None:
        return "—"
    below = interval(column.measure, column.low, column.high)
    if places:
        below = f"{below} · place {places}" if below else f"place {places}"
    return cell(shown(column.measure, column.value), below, "first" if first else "")
