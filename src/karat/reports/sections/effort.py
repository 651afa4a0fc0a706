"""The axis of effort: what one unit of it is, and how many there are (Active Testing, figure 2)."""

from __future__ import annotations

from typing import Any

from karat.benchmarks import item_side, query_side
from karat.estimation import Simulated
from karat.reports.effort_curves import VIEW_AXES, key_of
from karat.reports.material import EstimateMaterial
from karat.reports.presentation import ranked_items, table
from karat.reports.section import SectionData, section

SHARES = (0.05, 0.2, 1.0)


@section("effort", "What effort means here", "Effort", order=20, pages=["simulation"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return how many pairs are some shares of the effort, and what all pairs are."""
    views = [view(result) for result in material.simulation.results if result.unit == "pair"]
    return {"axes": list(VIEW_AXES), "views": views} if views else None


def view(result: Simulated) -> dict[str, Any]:
    """Return the numbers of pairs of one measure in one direction."""
    bars: list[dict[str, Any]] = [
        {"name": f"{share:.0%} of the effort", "count": round(share * result.looked_at)} for share in SHARES
    ]
    if result.candidates > result.looked_at:
        bars.append({"name": "all candidates", "count": result.candidates})
    bars.append({"name": "all pairs", "count": result.pairs})
    assert result.direction is not None
    query = query_side(result.direction).one
    items = ranked_items(result.direction, item_side(result.direction))
    rows = [
        [
            bar["name"],
            f"{bar['count']:,}",
            f"{bar['count'] / max(1, result.queries):.1f}",
            share_of(bar["count"], result.pairs),
        ]
        for bar in bars
    ]
    says = (
        f"Every {query} asks, and all {items} are ranked: {result.pairs:,} pairs. {result.measure} looks at "
        f"{result.looked_at:,} of them ({share_of(result.looked_at, result.pairs)}), and vetting these is "
        "100% of the effort."
    )
    heads = ["What", "Pairs", f"Per {query}", "Share of all pairs"]
    return {
        "key": key_of(result),
        "bars": bars,
        "says": says,
        "table": table(f"Effort in pairs: {result.title}", heads, rows),
    }


def share_of(part: int, whole: int) -> str:
    """Return a share in percent with enough digits not to be 0.

    >>> share_of(3, 1_000_000), share_of(1, 4)
    ('0.0003%', '25%')
    """
    return f"{float(f'{100 * part / max(1, whole):.2g}'):.10g}%"
