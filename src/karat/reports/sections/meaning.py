"""Semantic Recall against m, with the hit rate beside it (Semantic margin figure 3)."""

from __future__ import annotations

from typing import Any

from karat.benchmarks import asks_first, is_direction
from karat.reports.columns import truths_of
from karat.reports.material import Material
from karat.reports.presentation import AXES, Cell, curve_cell, curve_points, direction_heading, table
from karat.reports.section import SectionData, section
from karat.scores import SemanticCurve, semantic_curves


@section("meaning", "Recall by meaning", "Meaning", order=105)
def collect(material: Material) -> SectionData:
    """Return the curves of every truth, direction, similarity and K for which several m were computed."""
    if material.card is None:
        return None
    groups: dict[tuple[str, ...], list[SemanticCurve]] = {}
    for curve in semantic_curves(material.card):
        groups.setdefault((curve.truth, curve.direction, curve.title), []).append(curve)
    order = truths_of(material.card)
    keys = sorted(
        (key for key in groups if len(common(groups[key])) > 1),
        key=lambda key: (order.index(key[0]), not is_direction(key[1]) or asks_first(key[1]), key[2]),
    )
    if not keys:
        return None
    texts = material.card.benchmark.sides[1]
    by = f" by their {texts.many}" if texts.kind == "text" else ""
    return {"axes": list(AXES), "views": [view(key, groups[key]) for key in keys], "by": by}


def common(curves: list[SemanticCurve]) -> list[int]:
    """Return the m that all curves have: SR and the hit rate may have been computed at different ones."""
    return sorted(set.intersection(*(set(curve.m) for curve in curves)))


def view(key: tuple[str, ...], curves: list[SemanticCurve]) -> dict[str, Any]:
    """Return one view: the lines of every run, and the same as a table."""
    truth, direction, title = key
    m = common(curves)
    with_recall = {curve.run for curve in curves if not curve.any}
    lines: list[dict[str, Any]] = []
    for curve in curves:
        at = [curve.m.index(count) for count in m]
        points = curve_points(*([column[k] for k in at] for column in (curve.values, curve.low, curve.high)))
        name = f"{curve.run}, {'hit rate' if curve.any else 'SR'}"
        second = curve.any and curve.run in with_recall
        lines.append({"run": curve.run, "name": name, "second": second, **points})
    rows: list[list[Cell]] = [
        [f"{count:,}", *(curve_cell(line, s) for line in lines)] for s, count in enumerate(m)
    ]
    caption = (
        f"{title} on {truth}, {direction_heading(direction)}, by the number of items that count as right"
    )
    return {
        "key": [truth, direction_heading(direction), title],
        "name": title,
        "m": m,
        "lines": lines,
        "table": table(caption, ["m", *(line["name"] for line in lines)], rows),
    }
