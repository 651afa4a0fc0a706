"""How many right answers a query has, by each set of labels (ECCV Caption, figure 3a)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from karat.reports.columns import positives_per_query, truths_of
from karat.reports.material import Material
from karat.reports.presentation import DIRECTION_TITLES, percent, table
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
        for direction in ("t2i", "i2t"):
            counts = positives_per_query(card.benchmark, truth, direction)
            if len(counts):
                views.append(view(truth, direction, counts))
    return {"axes": ["Labels", "Direction"], "views": views}


def view(truth: str, direction: str, counts: np.ndarray) -> dict[str, Any]:
    """Return the bars of one truth and direction: single numbers, or ranges where there are many."""
    low, high = int(counts.min()), int(counts.max())
    step = max(1, -(-(high - low + 1) // BARS))
    edges = np.arange(low, high + step + 1, step)
    heights = np.histogram(counts, edges)[0]
    names = [str(a) if step == 1 else f"{a}–{b - 1}" for a, b in pairwise(edges)]
    query, item = ("image", "caption") if direction == "i2t" else ("caption", "image")
    a_query = "an image" if query == "image" else "a caption"
    rows = [[name, f"{height:,}"] for name, height in zip(names, heights) if height]
    median = float(np.median(counts))
    key = [truth, DIRECTION_TITLES[direction]]
    return {
        "key": key,
        "x": [float(edge + (step - 1) / 2) for edge in edges[:-1]],
        "names": names, "heights": heights.tolist(), "step": step,
        "mean": round(float(counts.mean()), 2), "median": median,
        "query": query, "item": item,
        "says": f"By the labels “{truth}”, {a_query} has {counts.mean():.1f} right {item}s on average "
        f"(median {median:g}, at most {high:,}); {percent(float((counts == 1).mean()))} of the "
        f"{len(counts):,} {query}s have exactly one.",
        "table": table(", ".join(key), [f"Right {item}s", f"Number of {query}s"], rows),
    }  # fmt: skip
