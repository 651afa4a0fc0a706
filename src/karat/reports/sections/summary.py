"""Scores with intervals, who is tied for first, and the places that each system can have."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from karat.reports.boards import board_of, board_table
from karat.reports.main_column import column_of, ordered_columns
from karat.reports.material import Material
from karat.reports.section import Found, section
from karat.reports.views import DIRECTIONS, Cell, cell, interval, shown, table
from karat.scores import Column, Comparison, Scorecard, Standing
from karat.scores.comparison_tables import show_places

NEEDED: WeakKeyDictionary[Standing, int] = WeakKeyDictionary()
"""What `draws_needed` found: every cell of every table asks."""


@section("summary", "Scores", "Scores", order=20)
def collect(material: Material) -> Found:
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
        # Sums over both directions stand beside the means of both, where there are any.
        means = any(key[:2] == (truth, "mean") for key in columns)
        shared = "mean" if direction == "both" and means else direction
        groups.setdefault((truth, shared), []).append(measure)
    views = [
        {"key": [truth, DIRECTIONS[direction]], "table": several_runs(material, truth, direction, measures)}
        for (truth, direction), measures in groups.items()
    ]
    kind = "many" if marks_somebody(views) else "uncompared"
    return {"axes": ["Labels", "Direction"], "views": views, "kind": kind}


def marks_somebody(views: list[dict[str, Any]]) -> bool:
    """Whether any system in any table is marked as first."""
    cells = (one for view in views for row in view["table"]["rows"] for one in row)
    return any(isinstance(one, dict) and one.get("c") == "first" for one in cells)


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
    sums = [c for c in columns.values() if c is not None and c.direction == "both"]
    summed = f" ({', '.join(dict.fromkeys(str(c.measure) for c in sums))}: sum)" if sums else ""
    caption = f"Scores on {truth}, {DIRECTIONS[direction]}{summed if direction == 'mean' else ''}"
    return table(caption, ["System", *measures], rows)


def by_score(runs: list[str], columns: list[Column | None]) -> list[str]:
    """Return the runs, best first; those without a value last."""

    def goodness(at: int) -> float:
        column = columns[at]
        if column is None or column.value is None:
            return -np.inf
        return column.value if column.measure.better == "high" else -column.value

    return [runs[at] for at in sorted(range(len(runs)), key=goodness, reverse=True)]


def standing_of(material: Material, column: Column | None) -> tuple[bool, str]:
    """Return whether a run is (tied for) first in a column, and the places it can have.

    Of a test that drew too little to tell anybody apart, neither is said.
    """
    if column is None or material.comparison is None:
        return False, ""
    for standing in material.comparison.standings:
        same = (standing.truth, standing.direction, str(standing.measure))
        if same == (column.truth, column.direction, str(column.measure)):
            if draws_needed(material, standing):
                return False, ""
            places = standing.places.get(column.run)
            return column.run in standing.first, "" if places is None else show_places(places)
    return False, ""


def draws_needed(material: Material, standing: Standing) -> int:
    """Return how many draws could show a difference; 0 where there were enough.

    The smallest p-value of S swaps is 1/(S + 1), of S resamples 2/(S + 1), and Holm multiplies it by the
    number of pairs: with too few draws, everybody is tied whatever the systems do.
    """
    found = material.comparison
    if found is None or not standing.tested or standing.beats.any():
        return 0
    if standing not in NEEDED:
        NEEDED[standing] = count_draws(found, standing)
    return NEEDED[standing]


def count_draws(found: Comparison, standing: Standing) -> int:
    """Return how many draws could show a difference on a column where nobody beats anybody."""
    if found.test == "randomisation":
        least, draws = 1, found.samples
    elif found.test == "bootstrap" and found.card.intervals is not None:
        least, draws = 2, found.card.intervals.resamples
    else:
        return 0
    pairs = len(standing.runs) * (len(standing.runs) - 1) // 2
    if pairs * least / (draws + 1) <= found.alpha:
        return 0
    same = (standing.truth, standing.direction, str(standing.measure))
    seen = [
        d.p for d in found.differences if (d.truth, d.direction, str(d.measure)) == same and d.p is not None
    ]
    # A pair that differs as much as the draws can show: more of them could tell.
    return round(2 * least * pairs / found.alpha) if seen and min(seen) <= 1.5 * least / (draws + 1) else 0


def value_cell(column: Column | None, first: bool = False, places: str = "") -> Cell:
    """Return a value, its interval below it, and how it stands."""
    if column is None:
        return "—"
    below = interval(column.measure, column.low, column.high)
    if places:
        below = f"{below} · place {places}" if below else f"place {places}"
    return cell(shown(column.measure, column.value), below, "first" if first else "")
