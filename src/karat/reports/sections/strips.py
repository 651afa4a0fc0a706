"""First results of some queries, vetted and guessed (Active Testing, figure 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.benchmarks import Benchmark, Direction, asks_first, item_side, query_side, same_side
from karat.estimation import EstimatedColumn
from karat.reports.material import EstimateMaterial
from karat.reports.presentation import direction_heading
from karat.reports.section import SectionData, section
from karat.reports.thumbnails import page_pictures

FIRST = 10
"""How many results of a query are shown."""
EACH = 3
"""How many queries are shown for each reason."""
MOST_RUNS = 4
LONGEST_TEXT = 160


@section("strips", "First results, vetted and guessed", "Results", order=50, pages=["estimate"])
def collect(material: EstimateMaterial) -> SectionData:
    """Return the first results of a few queries of each run, one column per direction."""
    bench = material.estimate.benchmark
    columns = {column.direction: column for column in reversed(material.estimate.columns)}
    groups = []
    for direction in sorted(columns, key=asks_first):
        column = columns[direction]
        for run in column.candidates.runs[:MOST_RUNS]:
            groups.append({
                "title": f"{run}, {direction_heading(direction)}",
                "run": run,
                "direction": direction_heading(direction),
                "queries": [strip(bench, column, query, why, rows) for query, why, rows in
                            chosen_queries(column, run)],
            })  # fmt: skip
    left_out = max(0, len(material.systems) - MOST_RUNS)
    return {"groups": groups, "first": FIRST, "left_out": left_out, **pictures(material, bench, groups)}


def first_rows(column: EstimatedColumn, run: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a run's first candidates of all queries, sorted by query and place, and their places."""
    places = column.candidates.exact.places[run]
    rows = np.flatnonzero(places < FIRST)
    rows = rows[np.lexsort((places[rows], column.candidates.query[rows]))]
    return rows, places[rows]


def chosen_queries(column: EstimatedColumn, run: str) -> list[tuple[int, str, np.ndarray]]:
    """Return the queries that are shown, each with the reason and its first candidates.

    The least certain ones, those whose number of relevant results changes most from what the noisy labels
    say, and a few at random, the same ones for the same data.
    """
    candidates = column.candidates
    rows, _ = first_rows(column, run)
    query = candidates.query[rows]
    chance = column.probability[rows]
    number = len(candidates.queries)
    known = np.nan_to_num(chance, nan=0.5)
    doubt = np.bincount(query, np.where(column.labels.vetted[rows], 0.0, known * (1 - known)), number)
    change = np.abs(np.bincount(query, known - candidates.noisy[rows], number))
    listed = np.bincount(query, minlength=number) > 0
    order = {
        "least certain": np.argsort(-doubt, kind="stable")[: int((doubt > 0).sum())],
        "largest correction": np.argsort(-change, kind="stable")[: int((change > 0).sum())],
        "at random": np.random.default_rng(0).permutation(number),
    }
    out: list[tuple[int, str, np.ndarray]] = []
    for why, queries in order.items():
        taken = {one[0] for one in out}
        fresh = [int(one) for one in queries if int(one) not in taken and listed[one]]
        out += [(one, why, rows[query == one][:FIRST]) for one in fresh[:EACH]]
    return out


def strip(
    bench: Benchmark | None, column: EstimatedColumn, query: int, why: str, rows: np.ndarray
) -> dict[str, Any]:
    """Return one query with its first results."""
    candidates, way = column.candidates, column.direction
    chance = column.probability[rows]
    results = [
        {
            **thing(bench, way, False, int(candidates.item[row])),
            **status(bool(column.labels.vetted[row]), float(value)),
            "noisy": "relevant" if candidates.noisy[row] else "not",
            "place": place,
        }
        for place, (row, value) in enumerate(zip(rows, chance), start=1)
    ]
    vetted = int(column.labels.vetted[rows].sum())
    relevant = "unknown" if np.isnan(chance).any() else f"{chance.sum():.1f}"
    says = (
        f"relevant among the first {len(rows)}: {relevant} estimated, {int(candidates.noisy[rows].sum())} by "
        f"the noisy labels; {vetted} vetted"
    )
    return {"why": why, "says": says, "results": results,
            "query": thing(bench, way, True, int(candidates.queries[query]))}  # fmt: skip


def status(vetted: bool, chance: float) -> dict[str, str]:
    """Return how a result's border looks, and the same in words."""
    if np.isnan(chance):
        return {"kind": "open", "sign": "?", "says": "unknown"}
    answer = "relevant" if chance >= 0.5 else "not relevant"
    return {
        "kind": f"{'vetted' if vetted else 'guessed'} {'yes' if chance >= 0.5 else 'no'}",
        "sign": "✓" if chance >= 0.5 else "✗",
        "says": answer if vetted else f"p = {chance:.2f}",
    }


def thing(bench: Benchmark | None, direction: Direction, asks: bool, index: int) -> dict[str, Any]:
    """Return a query or an item as the page shows it: with the number of its picture, and in words."""
    # Pictures are known of the first side alone, texts of the second; both sides may be one collection.
    first = asks == asks_first(direction)
    image = index if first or same_side(direction) else None
    if bench is None:
        side = (query_side if asks else item_side)(direction)
        return {"image": image, "text": f"{side.one} {index}"}
    if bench.texts is None or (first and not same_side(direction)):
        return {"image": image, "text": str(bench.ids[not first].values[index])}
    text = str(bench.texts[index])
    return {"image": image, "text": text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"}


def pictures(
    material: EstimateMaterial, bench: Benchmark | None, groups: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return small pictures of the images that are shown, each once, by their number."""
    shown = [
        one["image"]
        for group in groups
        for query in group["queries"]
        for one in (query["query"], *query["results"])
        if one["image"] is not None
    ]
    wanted = list(dict.fromkeys(shown))
    if bench is None or not bench.image_paths or not wanted:
        return {"wanted": [], "thumbnails": None}
    paths = [bench.image_paths[index] for index in wanted]
    found = page_pictures(paths, bench, material.page, material.target)
    return {"wanted": wanted if found else [], "thumbnails": found}
