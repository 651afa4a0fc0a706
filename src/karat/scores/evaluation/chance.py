"""Chance: is a run better than a random ranking, and what else could it mean if not?"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from karat.benchmarks import Benchmark, Direction, is_direction, same_side
from karat.errors import InputError
from karat.runs import ENCODED, ID_FORMS, Run, TableRun
from karat.scores.evaluation.columns import score_runs
from karat.scores.evaluation.id_orders import suggest_order
from karat.scores.evaluation.options import check_options
from karat.scores.scorecard import Scorecard

FEW = 50
"""With fewer queries skill cannot be distinguished from luck."""
OFTEN = 0.25
"""Where a random ranking reaches this R@K, a good one can hardly be told from it."""
RECALL = re.compile(r"R@([0-9]+)")
NAME_ORDER = (
    "name theirs beside the table, in NAME.ids.json (karat convert --ids FILE writes it), or by ids= in "
    "Python: "
    f"{ID_FORMS}"
)
NO_ORDER = "no likely order (by id, by file name, captions grouped by image) makes it better"
UNTRAINED = (
    "its weights may not be trained, pictures or captions may be prepared in another way than in its "
    "training, or a function of your own returns rows in another order than the items it is given"
)
DIAGNOSIS = (
    "this order was picked by its score, which is a diagnosis and no proof, so it is not applied: if rows "
    f"and columns are in another order than the benchmark's, {NAME_ORDER}"
)


def check_chance(card: Scorecard, runs: Sequence[Run]) -> list[str]:
    """Return notes on runs no better than a random ranking; raise where the order of ids explains it."""
    notes = []
    for name, (truth, note) in runs_at_chance(card).items():
        run = next(run for run in runs if run.name == name)
        wrong_order, text = explain_chance(run, card.benchmark, truth)
        if wrong_order:
            raise InputError(f"{note}, but {text}", where=run.where)
        notes.append(f"{note}; {text}")
    return notes


def runs_at_chance(card: Scorecard) -> dict[str, tuple[str, str]]:
    """Return, for each run no better than a random ranking, the truth and a sentence.

    R@1 tells, or R@K of the smallest K that there is, unless a random ranking often finds something, too.
    """
    notes: dict[str, tuple[str, str]] = {}
    smallest: dict[tuple[str, str, str], int] = {}
    for column in card:
        if is_direction(column.direction) and (recall := RECALL.fullmatch(str(column.measure))):
            key = (column.run, column.truth, column.direction)
            smallest[key] = min(int(recall[1]), smallest.get(key, int(recall[1])))
    for column in card:
        truth = card.benchmark.truth(column.truth)
        k = smallest.get((column.run, column.truth, column.direction))
        if k is None or str(column.measure) != f"R@{k}" or column.value is None:
            continue
        if truth.implicit or truth.folds:
            continue
        chance = 1 - (1 - chance_r1(card.benchmark, truth.name, column.direction)) ** k
        if (k == 1 or chance < OFTEN) and at_chance(column.value, chance, column.n):
            where = f"{column.measure} on {truth.name} ({column.direction})"
            notes.setdefault(column.run, (truth.name, f"{column.run}: {where} is at chance level"))
    return notes


def explain_chance(run: Run, benchmark: Benchmark, truth: str) -> tuple[bool, str]:
    """Return what may explain a run at chance level on a truth, and whether it is the order of ids."""
    if not isinstance(run, TableRun):
        return False, "its lists may name other ids than the model ranked"
    if benchmark.one_collection:
        # Orders are tried on both sides apart, and these are one.
        return False, f"rows may be in another order than that which {benchmark.order_shown}"
    suggestion = suggest_order(run, benchmark, truth)
    if suggestion is not None and suggestion.reordered:
        return True, f"{suggestion}; {DIAGNOSIS}"
    if suggestion is not None:
        return False, f"{suggestion}: these are distances; save their negative"
    if run.made_with is not None and ENCODED in run.made_with.facts:
        return False, f"{UNTRAINED}; {NO_ORDER}"
    if run.ids:
        where = run.ids_where or run.where or "ids"
        return False, f"the ids in {where} may be in another order than its rows and columns; {NO_ORDER}"
    own = f"rows and columns may be in another order than that which {benchmark.order_shown}"
    return False, f"{own}; {NAME_ORDER}; {NO_ORDER}"


def at_chance(value: float, chance: float, queries: int) -> bool:
    """Whether R@1 is within three standard errors of a random ranking."""
    return queries >= FEW and value <= chance + 3 * float(np.sqrt(chance * (1 - chance) / queries))


def chance_r1(benchmark: Benchmark, truth: str, direction: Direction) -> float:
    """Return the expected R@1 of a random ranking."""
    rows = benchmark.truth(truth).judged(direction)
    size = benchmark.items(direction).size
    inside = (rows.grade > 0) & (rows.item < size)
    return float(inside.sum() / max(1, len(rows.queries)) / (size - same_side(direction)))


def listed_truth(benchmark: Benchmark) -> str | None:
    """Return the first truth that lists its pairs."""
    return next((name for name, truth in benchmark.truths.items() if not truth.implicit), None)


def quick_r1(run: Run, benchmark: Benchmark, truth: str) -> dict[Direction, float]:
    """Return R@1 in every direction that the run and the truth have."""
    queries = benchmark.truth(truth).queries
    directions = [direction for direction in run.directions if len(queries.get(direction, ()))]
    if not directions:
        return {}
    try:
        options = check_options(benchmark, "R@1", truth=truth, direction=directions, ties="expected")
        card = score_runs([run], options)
    except InputError:
        return {}
    return {d: card.value("R@1", direction=d) or 0.0 for d in directions}
