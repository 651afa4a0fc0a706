"""R@K against gallery size: the same systems, if there were fewer items to choose from."""

from __future__ import annotations

from typing import Any

from karat.benchmarks import asks_first
from karat.reports.columns import truths_of
from karat.reports.material import Material
from karat.reports.presentation import AXES, Cell, curve_cell, curve_points, direction_heading, table
from karat.reports.section import SectionData, section
from karat.scores import GalleryCurve, Scorecard, first_places, gallery_curves

DEFAULT = (1, 5, 10)


@section("gallery", "Score against gallery size", "Gallery size", order=100)
def collect(material: Material) -> SectionData:
    """Return a curve per run, for every truth, direction and K."""
    card = material.card
    if card is None:
        return None
    places = material.places
    if places is None or not first_places(places):
        return (
            "For scores in smaller galleries the place of the first right answer is needed: make the report "
            "from the runs, or add MeanR to the measures."
        )
    curves = gallery_curves(places, cutoffs(card))
    groups: dict[tuple[str, str, int], list[GalleryCurve]] = {}
    for curve in curves:
        groups.setdefault((curve.truth, curve.direction, curve.k), []).append(curve)
    order = truths_of(card)
    keys = sorted(groups, key=lambda key: (order.index(key[0]), asks_first(key[1]), key[2]))
    views = [view(card.benchmark.item_side(key[1]).many, key, groups[key]) for key in keys]
    if not views:
        return "Scores in smaller galleries need whole rankings: these are cut off."
    return {"axes": list(AXES), "views": views}


def cutoffs(card: Scorecard) -> tuple[int, ...]:
    """Return the K of every R@K that was computed, or the usual ones."""
    computed = {getattr(column.measure, "k", 0) for column in card if column.measure.name == "R"}
    return tuple(sorted(computed)) or DEFAULT


def view(items: str, key: tuple[str, str, int], curves: list[GalleryCurve]) -> dict[str, Any]:
    """Return one view: the curves, and the same as a table."""
    truth, direction, k = key
    sizes = curves[0].sizes
    points = [curve_points(curve.values, curve.low, curve.high) for curve in curves]
    rows: list[list[Cell]] = [
        [f"{size:,}", *(curve_cell(line, s) for line in points)] for s, size in enumerate(sizes)
    ]
    caption = f"R@{k} on {truth}, {direction_heading(direction)}, by the number of {items} to choose from"
    return {
        "key": [truth, direction_heading(direction), f"R@{k}"],
        "sizes": sizes.tolist(),
        "runs": [curve.run for curve in curves],
        "curves": points,
        "item": items,
        "table": table(caption, [f"Number of {items}", *(curve.run for curve in curves)], rows),
    }
