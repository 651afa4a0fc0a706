"""How many right answers a query has, by each set of labels (ECCV Caption, figure 3a)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from karat.benchmarks import Direction, Side, asks_first, in_order, sides_of
from karat.reports.columns import positives_per_query, truths_of
from karat.reports.material import Material
from karat.reports.presentation import direction_heading, percent, table, with_article
from karat.reports.section import SectionData, section

BARS = 40


@section("positives", "How many right answers does a query have?", "Right answers", order=80)
def collect(material: Material) -> SectionData:
    """Return a histogram per truth and direction."""
    card = material.card
    if card is None:
        return None
    views = []
    for truth in truths_of(card):
        for direction in sorted(card.benchmark.truth(truth).directions, key=asks_first):
            counts = positives_per_query(card.benchmark, truth, direction)
            views.append(view(truth, direction, counts, card.benchmark.sides))
    return {"axes": ["Labels", "Direction"], "views": views}


def view(
    truth: str, direction: Direction, counts: np.ndarray, sides: tuple[Side, Side] | None = None
) -> dict[str, Any]:
    """Return the bars of one truth and direction: single numbers, or ranges where there are many."""
    low, high = int(counts.min()), int(counts.max())
    step = max(1, -(-(high - low + 1) // BARS))
    edges = np.arange(low, high + step + 1, step)
    heights = np.histogram(counts, edges)[0]
    names = [str(a) if step == 1 else f"{a}–{b - 1}" for a, b in pairwise(edges)]
    query, item = in_order(direction, *(sides or sides_of(direction)))
    rows = [[name, f"{height:,}"] for name, height in zip(names, heights) if height]
    median = float(np.median(counts))
    key = [truth, direction_heading(direction)]
    return {
        "key": key,
        "x": [float(edge + (step - 1) / 2) for edge in edges[:-1]],
        "names": names, "heights": heights.tolist(), "step": step,
        "mean": round(float(counts.mean()), 2), "median": median,
        "query": query.one, "queries": query.many, "item": item.one, "items": item.many,
        "says": f"By the labels “{truth}”, {with_article(query.one)} has {counts.mean():.1f} right "
        f"{item.many} on average (median {median:g}, at most {high:,}); "
        f"{percent(float((counts == 1).mean()))} of the {len(counts):,} {query.many} have exactly one.",
        "table": table(", ".join(key), [f"Right {item.many}", f"Number of {query.many}"], rows),
    }  # fmt: skip
