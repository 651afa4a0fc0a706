"""R@K against gallery size: the same systems, if there were fewer items to choose from."""

from __future__ import annotations

from typing import Any

from karat.reports.columns import truths_of
from karat.reports.material import Material
from karat.reports.presentation import AXES, DIRECTION_TITLES, Cell, curve_cell, curve_points, table
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
    keys = sorted(groups, key=lambda key: (order.index(key[0]), key[1] != "t2i", key[2]))
    views = [view(key, groups[key]) for key in keys]
    if not views:
        return "Scores in smaller galleries need whole rankings: these are cut off."
    return {"axes": list(AXES), "views": views}


def cutoffs(card: Scorecard) -> tuple[int, ...]:
    """Return the K of every R@K that was computed, or the usual ones."""
    computed = {getattr(column.measure, "k", 0) for column in card if column.measure.name == "R"}
    return tuple(sorted(computed)) or DEFAULT


def view(key: tuple[str, str, int], curves: list[GalleryCurve]) -> dict[str, Any]:
    """Return one view: the curves, and the same as a table."""
    truth, direction, k = key
    sizes = curves[0].sizes
    points = [curve_points(curve.values, curve.low, curve.high) for curve in curves]
    rows: list[list[Cell]] = [
        [f"{size:,}", *(curve_cell(line, s) for line in points)] for s, size in enumerate(sizes)
    ]
    item = "captions" if direction == "i2t" else "images"
    caption = f"R@{k} on {truth}, {DIRECTION_TITLES[direction]}, by the number of {item} to choose from"
    return {
        "key": [truth, DIRECTION_TITLES[direction], f"R@{k}"],
        "sizes": sizes.tolist(),
        "runs": [curve.run for curve in curves],
        "curves": points,
        "item": item,
        "table": table(caption, [f"Number of {item}", *(curve.run for curve in curves)], rows),
    }
