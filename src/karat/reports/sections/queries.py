"""Every query with the values of every run: to sort, filter and page through."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.benchmarks import Benchmark, Direction, asks_first, in_order
from karat.reports.bundle import Pack, packed_texts
from karat.reports.columns import truths_of
from karat.reports.material import Material
from karat.reports.presentation import direction_heading
from karat.reports.section import SectionData, section
from karat.reports.thumbnails import thumbnails
from karat.scores import Column, Scorecard, first_places

LISTED = 12
"""How many right answers of a query are listed; all are counted."""
PLACE = "place of the first right answer"


@section("queries", "Query by query", "Queries", order=110)
def collect(material: Material) -> SectionData:
    """Return the values per query, compressed, truth by truth and direction by direction."""
    card = material.card
    if card is None:
        return None
    places = {} if material.places is None else first_places(material.places)
    tops = all_first_results(material)
    tables = []
    for truth in truths_of(card):
        for direction in sorted(card.benchmark.truth(truth).directions, key=asks_first):
            table = one_table(card, places, tops.get(direction), truth, direction)
            if table is not None:
                tables.append(table)
    if not tables:
        return "No measure with a value per query was computed."
    benchmark = card.benchmark
    return {
        "runs": card.runs,
        "tables": tables,
        "firsts": {direction: packed_together(firsts) for direction, firsts in tops.items()},
        "images": packed_texts([str(image) for image in benchmark.images.values]),
        "captions": packed_texts([str(caption) for caption in benchmark.captions.values]),
        "texts": None if benchmark.texts is None else packed_texts(list(benchmark.texts)),
        "thumbnails": thumbnails(material),
        "sides": sides_shown(benchmark),
    }


def sides_shown(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return, for each side, its heading, and how its items are shown.

    Pictures are known of the first side alone, texts of the second; both sides may be one collection.
    """
    same = benchmark.one_collection
    sides = []
    for side, pictures, texts in zip(benchmark.sides, (True, same), (same, True)):
        listed = side.kind == "text" or (texts and benchmark.texts is not None)
        sides.append({
            "head": side.one.capitalize(), "pictures": pictures, "texts": texts,
            "listed": "texts" if listed else "gallery",
        })  # fmt: skip
    return sides


def one_table(
    card: Scorecard, places: dict[tuple[str, str, str], Column], tops: list[np.ndarray] | None,
    truth: str, direction: Direction,
) -> dict[str, Any] | None:  # fmt: skip
    """Return the values of one truth and direction, a row per query."""
    by_measure: dict[str, dict[str, Column]] = {}
    for run in card.runs:
        if (run, truth, direction) in places:
            by_measure.setdefault(PLACE, {})[run] = places[run, truth, direction]
    for column in card:
        if (column.truth, column.direction) == (truth, direction) and column.values is not None:
            by_measure.setdefault(str(column.measure), {})[column.run] = column
    shared = [columns for columns in by_measure.values() if len(columns) == len(card.runs)]
    if not shared:
        return None
    queries = asked_in(next(iter(shared[0].values())))
    pack = Pack()
    measures = []
    for name, columns in by_measure.items():
        if columns in shared and all(np.array_equal(asked_in(c), queries) for c in columns.values()):
            first = next(iter(columns.values())).measure
            measures.append({
                "name": name, "unit": first.unit, "better": first.better,
                "arrays": [pack.add(values_of(columns[run])) for run in card.runs],
            })  # fmt: skip
    described: dict[str, Any] = {"query": pack.add(queries)}
    described |= right_answers(card.benchmark, truth, direction, queries, pack)
    if tops is not None and not card.benchmark.truth(truth).folds:
        right = [is_right(card.benchmark, truth, direction, queries, top[queries]) for top in tops]
        described["hits"] = [pack.add(hits) for hits in right]
    return {
        "key": [truth, direction_heading(direction)], "direction": direction, "measures": measures,
        "asks": in_order(direction, 0, 1)[0],
        **described, "rows": len(queries), "pack": pack.describe(),
    }  # fmt: skip


def asked_in(column: Column) -> np.ndarray:
    """Return the queries of a column, in its order."""
    assert column.query is not None
    return column.query


def packed_together(arrays: list[np.ndarray]) -> dict[str, Any]:
    """Return arrays as one pack, in their order."""
    pack = Pack()
    for array in arrays:
        pack.add(array)
    return pack.describe()


def values_of(column: Column) -> np.ndarray:
    """Return a column's values; a place that a truncated list does not show is infinite."""
    assert column.values is not None
    return column.values


def right_answers(
    benchmark: Benchmark, truth: str, direction: Direction, queries: np.ndarray, pack: Pack
) -> dict[str, Any]:
    """Return how many right answers each query has, and the first few of them."""
    known = benchmark.truth(truth)
    if known.rule is not None:
        return {"count": pack.add(known.rule.positives(direction, queries))}
    rows = known.judged(direction)
    asked = np.full(benchmark.queries(direction).size, -1)
    asked[rows.queries] = np.arange(len(rows.queries))
    right = rows.grade > 0
    before = np.r_[0, np.cumsum(right)]
    begin, end = before[rows.ptr[:-1]], before[rows.ptr[1:]]
    at = asked[queries]
    count = (end - begin)[at]
    length = np.minimum(count, LISTED)
    items = rows.item[right]
    offset = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
    return {
        "count": pack.add(count),
        "right": pack.add(items[np.repeat(begin[at], length) + offset]),
        "listed": LISTED,
    }


def is_right(
    benchmark: Benchmark, truth: str, direction: Direction, queries: np.ndarray, items: np.ndarray
) -> np.ndarray:
    """Return whether each item is a right answer to its query, as 0 and 1."""
    known = benchmark.truth(truth)
    size = len(benchmark.items(direction))
    listed = items < size
    if known.rule is not None:
        right = np.zeros(len(items), bool)
        right[listed] = known.rule.relevant(direction, queries[listed], items[listed])
        return right.astype(np.uint8)
    rows = known.judged(direction)
    pairs = rows.query_of_row[rows.grade > 0] * (size + 1) + rows.item[rows.grade > 0]
    return np.isin(queries * (size + 1) + items, pairs).astype(np.uint8)


def all_first_results(material: Material) -> dict[str, list[np.ndarray]]:
    """Return each run's first results, per direction that all runs answer; nothing without details."""
    if material.details is None or material.card is None:
        return {}
    first = [material.details.first[run] for run in material.systems]
    return {
        direction: [items[direction] for items in first]
        for direction in material.card.benchmark.directions
        if all(direction in items for items in first)
    }
