"""What the labels leave open: how much was judged, what unjudged pairs could change, and ties."""

from __future__ import annotations

from typing import Any

from karat._util import MISSING
from karat.benchmarks import Side
from karat.measures import parse_measure
from karat.reports.columns import SUMS_UP, column_of, key_of, ordered_columns, truths_of
from karat.reports.material import JUDGED, Material
from karat.reports.presentation import direction_heading, shown, table
from karat.reports.section import SectionData, section
from karat.scores import Column, Scorecard, bound_notes


@section("labels", "What the labels leave open", "Open labels", order=90, scripted=False)
def collect(material: Material) -> SectionData:
    """Return Judged@10, the bounds and the tie report, as far as each is known."""
    card = material.card
    if card is None:
        return None
    return {
        "judged": judged_table(material),
        "bounds": bounds_table(card),
        "without": [f"{note[:1].upper()}{note[1:]}." for note in bound_notes(card.columns)],
        "reading": card.unjudged,
        "complete": [
            n for n in truths_of(card) if nothing_open(card, n) and not card.benchmark.truth(n).machine
        ],
        "machine": [name for name in truths_of(card) if card.benchmark.truth(name).machine],
        "one_sided": [name for name in truths_of(card) if not card.benchmark.truth(name).has_negatives],
        "ties": tie_table(card),
        "policy": card.ties,
        "everything": everything(*card.benchmark.sides),
    }


def everything(first: Side, second: Side) -> str:
    """Return all pairs in words."""
    return f"every {first.one} with {'every other' if first.kind == second.kind else f'every {second.one}'}"


def nothing_open(card: Scorecard, truth: str) -> bool:
    """Whether every pair of a truth is judged."""
    known = card.benchmark.truth(truth)
    return known.complete or known.implicit


def judged_table(material: Material) -> dict[str, Any] | None:
    """Return how much of the first ten results was judged, by run, truth and direction."""
    places = material.places
    if places is None or material.card is None:
        return None
    keys = [
        (truth, direction)
        for truth in truths_of(material.card)
        for direction in material.card.benchmark.directions
        if not nothing_open(material.card, truth)
        and any(key_of(column) == (truth, direction, JUDGED) for column in places)
    ]
    if not keys:
        return None
    rows = []
    for run in material.card.runs:
        cells = [column_of(places, (*key, JUDGED), run) for key in keys]
        rows.append([run, *(MISSING if c is None else shown(c.measure, c.value) for c in cells)])
    head = ["System", *(f"{truth}, {direction_heading(direction)}" for truth, direction in keys)]
    return table(f"Share of the first ten results that was ever judged ({JUDGED})", head, rows)


def bounds_table(card: Scorecard) -> dict[str, Any] | None:
    """Return the range of each score over everything that unjudged pairs could be."""
    keys = [key for key in ordered_columns(card) if not nothing_open(card, key[0])]
    keys = [key for key in keys if key[1] in SUMS_UP] or keys
    known = {(key, run): column_of(card, key, run) for key in keys for run in card.runs}
    bounded = [key for key in keys if any(has_bounds(known[key, run]) for run in card.runs)]
    if not bounded:
        return None
    head = [
        " · ".join([truth, measure, *([] if d in SUMS_UP else [direction_heading(d)])])
        for truth, d, measure in bounded
    ]
    rows = [[run, *(ends(known[key, run]) for key in bounded)] for run in card.runs]
    return table(
        "Lowest and highest score over everything that unjudged pairs could be", ["System", *head], rows
    )


def has_bounds(column: Column | None) -> bool:
    """Whether a column has bounds over what unjudged pairs could be."""
    return column is not None and column.upper_bound is not None


def ends(column: Column | None) -> str:
    """Return a column's bounds for people."""
    if column is None or column.lower_bound is None or column.upper_bound is None:
        return MISSING
    return f"{shown(column.measure, column.lower_bound)} to {shown(column.measure, column.upper_bound)}"


def tie_table(card: Scorecard) -> dict[str, Any] | None:
    """Return where relevant items share their score with others, and what their order could change."""
    rows = []
    for report in card.tie_reports:
        widest = max(report.range.items(), key=lambda item: abs(item[1][1] - item[1][0]), default=None)
        change = MISSING
        if widest is not None:
            measure = parse_measure(widest[0])
            low, high = (shown(measure, end) for end in sorted(widest[1]))
            change = f"{measure}: {low} to {high}" if low != high else "nothing that shows"
        rows.append([
            report.run, report.truth, direction_heading(report.direction),
            f"{report.tied_queries:,} of {report.queries:,}", f"{report.largest:,}", change,
        ])  # fmt: skip
    if not rows:
        return None
    head = [
        "System",
        "Labels",
        "Direction",
        "Queries with ties",
        "Largest group",
        "Widest range by their order",
    ]
    return table("Right answers that share their score with other items", head, rows)
