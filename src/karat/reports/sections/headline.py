"""The first screen: what was measured, who is first, how sure that is, and what labels leave open."""

from __future__ import annotations

from karat.reports import headline_board, headline_runs
from karat.reports.material import Material
from karat.reports.section import Found, section
from karat.validation import plural


@section("headline", "In short", "In short", order=10)
def collect(material: Material) -> Found:
    """Return the finding in one sentence, points that explain it, key numbers, and a small chart."""
    if material.card is None:
        return headline_board.collect(material)
    if len(material.card.runs) == 1:
        return headline_runs.of_one(material)
    return headline_runs.of_several(material)


def title_of(material: Material) -> str:
    """Return the page's title: as given, or what was done."""
    if material.title:
        return material.title
    systems = plural(len(material.systems), "system")
    if material.card is None:
        return f"{systems} by {plural(len(material.board.metrics), 'metric')}"  # type: ignore[union-attr]
    return f"{systems} on {material.card.benchmark.name}"
