"""Scores with intervals, who is tied for first, and the places that each system can have."""

from __future__ import annotations

from typing import Any

from karat._util import MISSING
from karat.reports.boards import board_of, board_table
from karat.reports.columns import by_score, column_of, ordered_columns, standing_of
from karat.reports.material import Material
from karat.reports.presentation import DIRECTION_TITLES, Cell, cell, interval, shown, table
from karat.reports.section import SectionData, section
from karat.scores import Column, Scorecard


@section("summary", "Scores", "Scores", order=20)
def collect(material: Material) -> SectionData:
    """Return a table per truth and direction, or one of all metrics where there are only numbers."""
    if material.card is None:
        board = board_of(material)
        assert board is not None
        return {"axes": [], "views": [{"key": [], "table": board_table(board)}], "kind": "numbers"}
    if len(material.card.runs) == 1:
        return {"axes": [], "views": [{"key": [], "table": one_run(material.card)}], "kind": "one"}
    groups: dict[tuple[str, str], list[str]] = {}
    columns = ordered_columns(material.card)
    for truth, direction, measure in columns:
        # Sums over both directions are next to the means of both, where there are any.
        means = any(key[:2] == (truth, "mean") for key in columns)
        shared = "mean" if direction == "both" and means else direction
        groups.setdefault((truth, shared), []).append(measure)
    views = [
        {
            "key": [truth, DIRECTION_TITLES[direction]],
            "table": several_runs(material, truth, direction, measures),
        }
        for (truth, direction), measures in groups.items()
    ]
    kind = "many" if marks_somebody(views) else "uncompared"
    return {"axes": ["Labels", "Direction"], "views": views, "kind": kind}


def marks_somebody(views: list[dict[str, Any]]) -> bool:
    """Whether any system in any table is marked as first."""
    cells = (value for view in views for row in view["table"]["rows"] for value in row)
    return any(isinstance(value, dict) and value.get("c") == "first" for value in cells)


def one_run(card: Scorecard) -> dict[str, Any]:
    """Return measures by directions for one run."""
    directions = [d for d in DIRECTION_TITLES if any(column.direction == d for column in card)]
    rows: list[list[Cell]] = []
    for truth, measure in dict.fromkeys((c.truth, str(c.measure)) for c in card):
        line = [column_of(card, (truth, direction, measure), card.runs[0]) for direction in directions]
        rows.append([f"{truth} · {measure}", *(value_cell(column) for column in line)])
    head = ["Labels · measure", *(DIRECTION_TITLES[direction] for direction in directions)]
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
    sums = [c for c in columns.values() if c is not None and c.measure.unit == "sum"]
    summed = f" ({', '.join(dict.fromkeys(str(c.measure) for c in sums))}: sum)" if sums else ""
    caption = f"Scores on {truth}, {DIRECTION_TITLES[direction]}{summed if direction == 'mean' else ''}"
    return table(caption, ["System", *measures], rows)


def value_cell(column: Column | None, first: bool = False, places: str = "") -> Cell:
    """Return a value, its interval below it, and its mark."""
    if column is None:
        return MISSING
    below = interval(column.measure, column.low, column.high)
    if places:
        below = f"{below} · place {places}" if below else f"place {places}"
    return cell(shown(column.measure, column.value), below, "first" if first else "")
