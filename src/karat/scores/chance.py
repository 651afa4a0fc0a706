"""Chance: is a run better than a random ranking, and what else could it mean if not?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from karat.benchmarks import DIRECTIONS, Benchmark, Direction
from karat.errors import InputError
from karat.runs import EmbeddingRun, MatrixRun, RankingsRun, Run, load_run
from karat.scores.evaluation import check_options, score_runs
from karat.scores.scorecard import Scorecard

FEW = 50
"""With fewer queries skill cannot be distinguished from luck."""

Kind = Literal["sign", "order"]


def check_chance(card: Scorecard, runs: Sequence[Run]) -> list[str]:
    """Return notes on runs no better than a random ranking; raise where the order of ids explains it."""
    notes = []
    for name, note in runs_at_chance(card).items():
        run = next(run for run in runs if run.name == name)
        for kind, text in misread(run, card.benchmark):
            if kind == "order":
                raise InputError(f"{note}, but {text}", where=run.where)
            note = f"{note}; {text}"
        notes.append(note)
    return notes


def runs_at_chance(card: Scorecard) -> dict[str, str]:
    """Return, for each run whose R@1 is no better than a random ranking, a sentence that says where."""
    notes: dict[str, str] = {}
    for column in card:
        truth = card.benchmark.truth(column.truth)
        if str(column.measure) != "R@1" or column.value is None or truth.implicit or truth.folds:
            continue
        for direction in DIRECTIONS:
            if column.direction == direction and at_chance(
                column.value, chance_r1(card.benchmark, truth.name, direction), column.n
            ):
                notes.setdefault(
                    column.run, f"{column.run}: R@1 on {truth.name} ({direction}) is at chance level"
                )
    return notes


def at_chance(value: float, chance: float, queries: int) -> bool:
    """Whether R@1 is within three standard errors of a random ranking."""
    return queries >= FEW and value <= chance + 3 * float(np.sqrt(chance * (1 - chance) / queries))


def chance_r1(benchmark: Benchmark, truth: str, direction: Direction) -> float:
    """Return the expected R@1 of a random ranking."""
    rows = benchmark.truth(truth).judged(direction)
    inside = (rows.grade > 0) & (rows.item < benchmark.items(direction).size)
    return float(inside.sum() / max(1, len(rows.queries)) / benchmark.items(direction).size)


def misread(run: Run, benchmark: Benchmark) -> list[tuple[Kind, str]]:
    """Return what a run at chance level means, where reading it so makes it far better."""
    truth = listed_truth(benchmark)
    recalls = {} if truth is None else quick_r1(run, benchmark, truth)
    if truth is None or not recalls:
        return []
    queries = benchmark.truth(truth).queries
    out: list[tuple[Kind, str]] = []
    for kind, text, alternative in alternatives(run, benchmark):
        better = quick_r1(alternative, benchmark, truth)
        far = [
            better[d] > 2 * recalls[d]
            and not at_chance(better[d], chance_r1(benchmark, truth, d), len(queries[d]))
            for d in better
        ]
        if far and all(far):
            out.append((kind, text))
    return out


def alternatives(run: Run, benchmark: Benchmark) -> Iterator[tuple[Kind, str, Run]]:
    """Yield what the run could mean instead, with the sentence to print if it turns out better."""
    if isinstance(run, MatrixRun):
        table = run.scores if run.rows == "images" else run.scores.T
        yield (
            "sign",
            "with the sign changed it is far better: these are distances; save their negative",
            MatrixRun(-np.asarray(table, dtype=np.float32), ids=run.ids),
        )
    if isinstance(run, RankingsRun) or getattr(run, "ids", None):
        return
    for kinds in (("images",), ("captions",), ("images", "captions")):
        ids: dict[str, Any] = {kind: np.sort(getattr(benchmark, kind).gallery) for kind in kinds}
        which = " and ".join(kinds)
        yield (
            "order",
            f"with {which} in the order of their ids it is far better: write an ids file with that order",
            load_run(*tables_of(run), ids=ids),
        )


def tables_of(run: Run) -> tuple[np.ndarray, ...]:
    """Return the tables that a run was made of."""
    if isinstance(run, EmbeddingRun):
        return run.images, run.captions
    assert isinstance(run, MatrixRun)
    return (run.scores if run.rows == "images" else run.scores.T,)


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
