"""Inputs: what estimates, simulations and plans start from: runs, measures, and truths of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import split_names
from karat.benchmarks import (
    Benchmark,
    Direction,
    Truth,
    as_benchmark,
    is_instances,
    item_side,
    query_side,
    same_side,
    turned,
)
from karat.errors import InputError, MissingDataError
from karat.estimation.candidates import CandidateRequest, Candidates, check_ties
from karat.estimation.features import score_features
from karat.estimation.label_file import find_truth
from karat.estimation.relevance import check_graded, cut_of
from karat.measures import MEAN, Measure, Named, Semantic, parse_measures
from karat.runs import Compute, Loading, Run, is_model, load_runs, notes_on_loading

ASKS = ("text", "query", "composed")
"""The kinds of sides that ask in a search: the direction that is taken where nothing says which."""


@dataclass(frozen=True, eq=False)
class EstimationInputs:
    """What is scored, on what; `load_inputs` makes it.

    Parameters
    ----------
    benchmark
        The one of the runs.
    measures
        What is estimated.
    truths
        Those that were named, in this order.
    runs
        The runs, matched to the benchmark.
    directions
        The ways to ask that were chosen, or those that all runs and truths have.
    notes
        What a reader should know about files.
    """

    benchmark: Benchmark
    measures: tuple[Measure, ...]
    truths: tuple[Truth, ...]
    runs: tuple[Run, ...]
    directions: tuple[Direction, ...]
    notes: tuple[str, ...]


def load_inputs(
    runs: Run | Sequence[Run] | Any,
    benchmark: Benchmark | str | Path,
    measure: Iterable[str | Named] | Named | str,
    truths: Sequence[str | Path | Truth | None],
    *,
    direction: Iterable[str] | str | None,
    ties: str,
    depth: int,
    loading: Loading | None,
    compute: Compute | None,
    setting: Mapping[str, Any] | None,
) -> EstimationInputs:
    """Read what an estimate, a simulation or a plan starts from, and check that it fits together.

    Everything that needs no run is checked before the first is opened.

    Parameters
    ----------
    runs, benchmark, measure, direction, ties, depth, loading, compute, setting
        As in `karat.estimate`.
    truths
        Names, files of labels, or truths; None is the benchmark's first.
    """
    if isinstance(benchmark, str | Path) and is_instances(benchmark):
        fix = "karat detections estimates their AP, karat.detections in Python"
        raise InputError("holds instances, which have no rankings", where=benchmark, fix=fix)
    bench = as_benchmark(benchmark, setting)
    measures = check_measures(measure)
    check_ties(ties)
    depth_of(measures, depth)
    default = next(iter(bench.truths))
    named = [find_truth(bench, default if truth is None else truth) for truth in truths]
    for one in measures:
        check_graded(one, [truth for truth, _ in named])
    asked = check_directions(direction, bench, [truth for truth, _ in named])
    loaded = load_runs(runs, bench, loading, compute)
    ways = directions_of(asked, loaded, [truth for truth, _ in named])
    notes = [*notes_on_loading(loaded), *(note for _, file_notes in named for note in file_notes)]
    return EstimationInputs(
        loaded[0].benchmark or bench,
        tuple(measures),
        tuple(truth for truth, _ in named),
        tuple(loaded),
        tuple(ways),
        tuple(notes),
    )


def check_measures(measure: Iterable[str | Named] | Named | str) -> list[Measure]:
    """Return measures whose score is a mean over queries, or raise."""
    names = split_names(measure) if isinstance(measure, str) else measure
    measures = []
    for named in parse_measures([names] if isinstance(names, Named) else names):
        if not isinstance(named, Measure):
            raise InputError(f"{named} is made of several columns", fix="estimate its parts: R@1,R@5,R@10")
        if isinstance(named, Semantic):
            raise InputError(f"{named} looks at similarities, not at labels", fix="choose P@10, RP, AP, …")
        if named.aggregate is not MEAN or named.better == "low":
            raise InputError(
                f"{named} is not a mean of shares over queries", fix="choose P@10, R@1, RP, mAP@R, AP or nDCG"
            )
        measures.append(named)
    if not measures:
        raise InputError("there is no measure to estimate", fix="name one: P@10")
    return measures


def check_directions(
    direction: Iterable[str] | str | None, benchmark: Benchmark, truths: Sequence[Truth]
) -> list[Direction] | None:
    """Return the directions that were asked for, None where none was, or raise where no truth has queries."""
    if direction is None:
        return None
    names = split_names(direction) if isinstance(direction, str) else list(direction)
    ways = [benchmark.direction(name) for name in names]
    for way in ways:
        for truth in truths:
            if way not in truth.directions:
                raise InputError(
                    f"truth {truth.name!r} has no {way} queries", fix="choose the other direction"
                )
    return ways


def directions_of(
    direction: list[Direction] | None, runs: Sequence[Run], truths: Sequence[Truth]
) -> list[Direction]:
    """Return the directions that were asked for, or those that all runs and truths have."""
    if direction is not None:
        return direction
    possible = [
        way
        for way in truths[0].directions
        if all(way in run.directions for run in runs) and all(way in truth.directions for truth in truths)
    ]
    if not possible:
        raise InputError("no direction is in all runs and both truths", fix="choose other runs or truths")
    return possible


def check_one_direction(direction: Iterable[str] | str | None) -> None:
    """Raise where several directions were asked for."""
    names = split_names(direction) if isinstance(direction, str) else list(direction or ())
    if len(names) > 1:
        raise InputError("pairs are drawn for one direction", fix=f"choose {' or '.join(names[::-1])}")


def check_drawn(direction: Direction) -> None:
    """Raise where pairs cannot be drawn: where a collection is searched with itself, each has two orders."""
    if same_side(direction):
        side = query_side(direction).many
        raise InputError(
            f"pairs are not drawn where {side} are searched with {side}: each would be drawn in both orders",
            fix="give their labels as a truth: karat estimate RUNS --noisy TRUTH --vetted LABELS",
        )


def one_direction(possible: Sequence[Direction]) -> tuple[Direction, list[str]]:
    """Return the only possible direction, else that of a search, and what a reader should know."""
    if len(possible) == 1:
        return possible[0], []
    way = next((way for way in possible if query_side(way).kind in ASKS), possible[0])
    searched = f"the direction is {way}, that of {item_side(way).one} search"
    return way, [f"{searched}; for the other, give --direction {turned(way)}"]


def is_cut(measure: Measure) -> bool:
    """Whether a measure looks at nothing below its cut-off."""
    return cut_of(measure) is not None


def depth_of(measures: Sequence[Measure], depth: int) -> int:
    """Return how many first items of each run are candidates."""
    if depth < 1:
        raise InputError(f"depth is {depth}", fix="give a whole number from 1")
    cuts = [cut for one in measures if (cut := cut_of(one)) is not None]
    return max(cuts) if len(cuts) == len(measures) else max([depth, *cuts])


def request_for(
    noisy: Truth, direction: Direction, measures: Sequence[Measure], depth: int, **choices: Any
) -> CandidateRequest:
    """Return which pairs are candidates for measures that call the same grades relevant.

    What lies below the cut-off of all of them is neither a candidate nor placed.
    """
    below = not all(is_cut(one) for one in measures)
    return CandidateRequest(
        noisy, direction, depth=depth_of(measures, depth), noisy_positives=below,
        rel=getattr(measures[0], "rel", None), exact=below, **choices,
    )  # fmt: skip


def check_several(runs: Any, why: str) -> None:
    """Raise where one source is given and several runs are needed; two files may still be one run."""
    if isinstance(runs, Run | str | Path) or (isinstance(runs, Sequence) and len(runs) == 1):
        raise InputError(f"{why}, and there is one run", fix="give a second run")


def check_features(features: Mapping[str, Any] | None) -> None:
    """Raise where the file of a feature is missing, before anything is read."""
    for name, table in (features or {}).items():
        if isinstance(table, str | Path) and not is_model(table) and not Path(table).exists():
            raise MissingDataError(f"feature {name}: there is no such file", where=Path(table))


def table_features(
    tables: Mapping[str, Any], benchmark: Benchmark, candidates: Candidates
) -> dict[str, np.ndarray]:
    """Return the scores that tables or runs give the candidates."""
    if not tables:
        return {}
    loaded = {name: load_runs(table, benchmark)[0] for name, table in tables.items()}
    return score_features(loaded, benchmark, candidates)
