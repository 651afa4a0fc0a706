"""The first screen: what was measured, who is first, how sure that is, and what labels leave open."""

from __future__ import annotations

from karat.reports import board_headline, run_headline
from karat.reports.material import Material
from karat.reports.section import SectionData, section


@section("headline", "In short", "In short", order=10, scripted=False)
def collect(material: Material) -> SectionData:
    """Return the finding in one sentence, points that explain it, key numbers, and a small chart."""
    if material.card is None:
        return board_headline.collect(material)
    return run_headline.collect(material)
