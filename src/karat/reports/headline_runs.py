"""The first screen of a report on runs, in plain words."""

from __future__ import annotations

from typing import Any

from karat.reports.headline_sentences import (
    Key,
    elsewhere,
    finding,
    likely,
    measured,
    ranked,
    standing_at,
    sureness,
    unjudged,
    unranked,
    warnings,
)  # fmt: skip
from karat.reports.main_column import ordered_columns, positives_per_query, truths_of
from karat.reports.material import Material
from karat.reports.sections.summary import draws_needed, standing_of
from karat.reports.views import DIRECTIONS, interval, is_share, scaled, shown
from karat.reports.words import called
from karat.scores import Column

BARS = 8


def of_several(material: Material) -> dict[str, Any]:
    """Return the headline of several runs."""
    card = material.card
    assert card is not None
    key = ordered_columns(card)[0]
    columns = ranked(card, key)
    standing = standing_at(material, key)
    points = [measured(card, key), ("How sure is that?", sureness(material, columns, standing))]
    lacking = unranked(card, columns, key)
    if lacking:
        points.append(("Who is not ranked?", lacking))
    others = elsewhere(material, key)
    if others:
        points.append(("Does it depend on the labels or the measure?", others))
    points.append(("What could unjudged pairs change?", unjudged(material, key)))
    if noted := warnings(material):
        points.append(("Please note", noted))
    settled = standing is not None and not draws_needed(material, standing)
    return {
        "finding": finding(material, columns, standing, key),
        "points": [{"term": term, "text": text} for term, text in points],
        "tiles": tiles(material, key, len(standing.first) if standing is not None and settled else None),
        "bars": bars(material, columns),
        "chart": f"{key[2]}, labels “{key[0]}”, {DIRECTIONS[key[1]]}",
    }


def of_one(material: Material) -> dict[str, Any]:
    """Return the headline of one run."""
    card = material.card
    assert card is not None
    key = ordered_columns(card)[0]
    column = ranked(card, key)[0]
    sure = likely("the score", column, card.intervals)
    sure = sure or "No intervals were computed, so nobody knows how much of the score is chance."
    points = [
        measured(card, key),
        ("How sure is that?", sure),
        ("What could unjudged pairs change?", unjudged(material, key)),
    ]
    if noted := warnings(material):
        points.append(("Please note", noted))
    value = shown(column.measure, column.value)
    return {
        "finding": f"{called(column.run)} reaches {value} {key[2]} by the labels “{key[0]}”.",
        "points": [{"term": term, "text": text} for term, text in points],
        "tiles": tiles(material, key, None),
        "bars": [],
        "chart": "",
    }


def tiles(material: Material, key: Key, first: int | None) -> list[dict[str, str]]:
    """Return the key numbers."""
    card = material.card
    assert card is not None
    column = ranked(card, key)[0]
    out = [{"number": f"{len(card.runs):,}", "text": "system" if len(card.runs) == 1 else "systems"}]
    if first is not None:
        out.append({"number": f"{first:,}", "text": "first, alone" if first == 1 else "tied for first"})
    out.append(
        {"number": f"{column.n:,}", "text": f"{'query' if column.n == 1 else 'queries'} of “{key[0]}”"}
    )
    direction = "t2i" if len(card.benchmark.truth(key[0]).queries.get("t2i", ())) else "i2t"
    counts = positives_per_query(card.benchmark, key[0], direction)
    what = "images fit a caption" if direction == "t2i" else "captions fit an image"
    out.append({"number": f"{counts.mean():.1f}", "text": f"{what}, on average"})
    truths = len(truths_of(card))
    out.append({"number": f"{truths:,}", "text": "set of labels" if truths == 1 else "sets of labels"})
    return out


def bars(material: Material, columns: list[Column]) -> list[dict[str, Any]]:
    """Return the best systems' scores as shares of the chart's width, with their intervals."""
    fraction = is_share(columns[0].measure)
    largest = max(float(c.high if c.high is not None else c.value or 0) for c in columns)
    top = min(1.0, 1.15 * largest) if fraction else 1.1 * largest

    def share(value: float | None) -> float | None:
        return None if value is None or top <= 0 else round(100 * value / top, 2)

    out = []
    for column in columns[:BARS]:
        first, places = standing_of(material, column)
        out.append({
            "name": column.run, "width": share(column.value), "low": share(column.low),
            "high": share(column.high), "text": shown(column.measure, column.value), "first": first,
            "between": interval(column.measure, column.low, column.high), "places": places,
            "value": scaled(column.measure, column.value),
        })  # fmt: skip
    return out
