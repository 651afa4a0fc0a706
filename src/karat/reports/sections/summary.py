"""Scores with intervals, which systems no other is shown to beat, and the places that each can have.

Of two systems all scores are in one table, with their difference; of more, one table per labels and direction
has intervals and places, and one below it has all scores.
"""

from __future__ import annotations

from typing import Any

from karat._util import MISSING
from karat.reports.boards import board_of, board_table
from karat.reports.columns import Key, by_score, column_of, key_of, ordered_columns, standing_of
from karat.reports.material import Material
from karat.reports.presentation import (
    SUMS,
    Cell,
    cell,
    direction_heading,
    interval,
    short_direction,
    shown,
    table,
)
from karat.reports.section import SectionData, section
from karat.scores import Column, Difference, Scorecard, show_p, signed_value


@section("summary", "Scores", "Scores", order=20)
def collect(material: Material) -> SectionData:
    """Return a table per truth and direction, or one of all metrics where there are only numbers."""
    if material.card is None:
        board = board_of(material)
        assert board is not None
        return {"axes": [], "views": [{"key": [], "table": board_table(board)}], "kind": "numbers"}
    if len(material.card.runs) == 1:
        return {"axes": [], "views": [{"key": [], "table": one_run(material.card)}], "kind": "one"}
    if len(material.card.runs) == 2:
        return {"axes": [], "views": [{"key": [], "table": two_runs(material)}], "kind": "two"}
    groups: dict[tuple[str, str], list[str]] = {}
    columns = ordered_columns(material.card)
    for truth, direction, measure in columns:
        # Sums over both directions are next to the means of both, where there are any.
        means = any(key[:2] == (truth, "mean") for key in columns)
        shared = "mean" if direction == "both" and means else direction
        groups.setdefault((truth, shared), []).append(measure)
    views = [
        {
            "key": [truth, direction_heading(direction)],
            "table": several_runs(material, truth, direction, measures),
        }
        for (truth, direction), measures in groups.items()
    ]
    kind = "many" if marks_somebody(views) else "uncompared"
    every = every_score(material) if len(views) > 1 else None
    return {"axes": ["Labels", "Direction"], "views": views, "kind": kind, "every": every}


def marks_somebody(views: list[dict[str, Any]]) -> bool:
    """Whether any system in any table is marked as first."""
    cells = (value for view in views for row in view["table"]["rows"] for value in row)
    return any(isinstance(value, dict) and value.get("c") == "first" for value in cells)


def one_run(card: Scorecard) -> dict[str, Any]:
    """Return measures by directions for one run."""
    scored = {column.direction for column in card}
    directions = [direction for direction in (*SUMS, *card.benchmark.directions) if direction in scored]
    rows: list[list[Cell]] = []
    for truth, measure in dict.fromkeys((c.truth, str(c.measure)) for c in card):
        line = [column_of(card, (truth, direction, measure), card.runs[0]) for direction in directions]
        rows.append([f"{truth} · {measure}", *(value_cell(column) for column in line)])
    head = ["Labels · measure", *(direction_heading(direction) for direction in directions)]
    return table(f"Scores of “{card.runs[0]}”", head, rows)


def two_runs(material: Material) -> dict[str, Any]:
    """Return every score of two runs in one table, the better run first, and their difference."""
    card = material.card
    assert card is not None
    runs = by_score(card.runs, [column_of(card, ordered_columns(card)[0], run) for run in card.runs])
    comparison = material.comparison
    pairs = {} if comparison is None else {key_of(pair): pair for pair in comparison.differences}
    rows: list[list[Cell]] = []
    for key in ordered_columns(card):
        columns = [column_of(card, key, run) for run in runs]
        # With two systems the places say no more than the mark.
        cells = [value_cell(column, standing_of(material, column)[0]) for column in columns]
        rows.append([score_name(key), *cells, *([difference(pairs.get(key), runs[0])] if pairs else [])])
    head = ["Score", *runs, *(["Difference"] if pairs else [])]
    return table("Every score of the two systems", head, rows)


def difference(pair: Difference | None, first: str) -> Cell:
    """Return by how much the first run is higher than the other, with the corrected p-value below."""
    if pair is None:
        return MISSING
    value = pair.difference if pair.first == first else -pair.difference
    below = "not tested" if pair.corrected is None else f"p {show_p(pair.corrected).replace('< ', '<')}"
    return cell(signed_value(pair.measure, value), below)


def every_score(material: Material) -> dict[str, Any]:
    """Return all scores by all runs in one table, best run on the main score first, without intervals."""
    card = material.card
    assert card is not None
    keys = ordered_columns(card)
    runs = by_score(card.runs, [column_of(card, keys[0], run) for run in card.runs])
    rows: list[list[Cell]] = []
    for key in keys:
        columns = [column_of(card, key, run) for run in runs]
        cells = [
            MISSING
            if column is None
            else cell(
                shown(column.measure, column.value), "", "first" if standing_of(material, column)[0] else ""
            )
            for column in columns
        ]
        rows.append([score_name(key), *cells])
    return table("Every score of every system", ["Score", *runs], rows)


def score_name(key: Key) -> Cell:
    """Return a score as the heading of a row: its measure, with labels and direction below."""
    truth, direction, measure = key
    return cell(measure, f"{truth} · {short_direction(direction)}")


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
    caption = f"Scores on {truth}, {direction_heading(direction)}{summed if direction == 'mean' else ''}"
    return table(caption, ["System", *measures], rows)


def value_cell(column: Column | None, first: bool = False, places: str = "") -> Cell:
    """Return a value, its interval below it, and its mark."""
    if column is None:
        return MISSING
    below = interval(column.measure, column.low, column.high)
    if places:
        below = f"{below} · place {places}" if below else f"place {places}"
    return cell(shown(column.measure, column.value), below, "first" if first else "")
