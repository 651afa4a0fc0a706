"""Does a run rank at all? R@1 against chance, and against what the run could mean instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.runs import EmbeddingRun, MatrixRun, RankingsRun, Run, load_run
from karat.scores.evaluate import evaluate
from karat.scores.findings import Inspection
from karat.scores.scorecard import Scorecard
from karat.validation import InputError

CHANCE = 3.0
"""R@1 below so many times chance is no ranking."""


def look_at_quality(run: Run, benchmark: Benchmark, seen: Inspection) -> None:
    """Score R@1, compare it with chance, and look for what would make it better."""
    truth = next((name for name, found in benchmark.truths.items() if not found.implicit), None)
    if truth is None:
        return
    found = quick_r1(run, benchmark, truth)
    if not found:
        return
    chance = {d: chance_r1(benchmark, truth, d) for d in found}
    shown = ", ".join(f"{d} {100 * found[d]:.2f}% (chance {100 * chance[d]:.3f}%)" for d in found)
    seen.add("fact", f"R@1 on {truth}: {shown}")
    if all(found[d] >= CHANCE * chance[d] for d in found):
        return
    seen.add("warning", "R@1 is at chance level: the order of rows or columns, or the sign, may be wrong")
    for text, other in alternatives(run, benchmark):
        better = quick_r1(other, benchmark, truth)
        if all(better[d] >= CHANCE * chance[d] and better[d] > 2 * found[d] for d in better):
            seen.add("warning", text)


def quick_r1(run: Run, benchmark: Benchmark, truth: str) -> dict[Direction, float]:
    """Return R@1 in every direction that has it."""
    try:
        card = evaluate(run, benchmark, ["R@1"], truths=truth, directions=run.directions, ties="expected")
    except InputError:
        return {}
    return {d: card.value("R@1", direction=d) or 0.0 for d in run.directions}


def chance_r1(benchmark: Benchmark, truth: str, direction: Direction) -> float:
    """Return what R@1 is on average when items are ranked by lot."""
    rows = benchmark.truth(truth).judged(direction)
    inside = (rows.grade > 0) & (rows.item < benchmark.items(direction).size)
    return float(inside.sum() / max(1, len(rows.queries)) / benchmark.items(direction).size)


def chance_notes(card: Scorecard) -> list[str]:
    """Return a sentence for each run whose R@1 is no better than drawing lots."""
    notes: dict[str, str] = {}
    for column in card:
        truth = card.benchmark.truth(column.truth)
        if str(column.measure) != "R@1" or column.value is None or truth.implicit or truth.folds:
            continue
        for direction in DIRECTIONS:
            chance = chance_r1(card.benchmark, truth.name, direction)
            if column.direction == direction and column.value < CHANCE * chance:
                where = f"R@1 on {truth.name} ({direction}) is at chance level"
                hint = "karat inspect looks for a wrong order or sign"
                notes.setdefault(column.run, f"{column.run}: {where}: {hint}")
    return list(notes.values())


def alternatives(run: Run, benchmark: Benchmark) -> Iterator[tuple[str, Run]]:
    """Yield what the run could mean instead, with the sentence to print if it turns out better."""
    if isinstance(run, MatrixRun):
        table = run.scores if run.rows == "images" else run.scores.T
        yield (
            "with the sign changed it is far better: these are distances; save their negative",
            MatrixRun(-np.asarray(table, dtype=np.float32), ids=run.ids),
        )
    if isinstance(run, RankingsRun) or getattr(run, "ids", None):
        return
    for kinds in (("images",), ("captions",), ("images", "captions")):
        ids: dict[str, Any] = {kind: np.sort(getattr(benchmark, kind).gallery) for kind in kinds}
        other = load_run(*tables_of(run), ids=ids)
        which = " and ".join(kinds)
        yield (
            f"with {which} in the order of their ids it is far better: write an ids file with that order",
            other,
        )


def tables_of(run: Run) -> tuple[np.ndarray, ...]:
    """Return the tables that a run was made of."""
    if isinstance(run, EmbeddingRun):
        return run.images, run.captions
    assert isinstance(run, MatrixRun)
    return (run.scores if run.rows == "images" else run.scores.T,)
