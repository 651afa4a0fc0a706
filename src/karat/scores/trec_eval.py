"""Scores as trec_eval gives them: which queries count, what a negative relevance is, and its own measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from karat.benchmarks import Benchmark, Direction, Judgments, Truth, in_order
from karat.measures import Measure
from karat.runs import Run

Like = Literal["trec_eval", "trec_eval_intersection"]
LIKES = ("trec_eval", "trec_eval_intersection")
"""Tools whose conventions scores can follow: trec_eval with its option -c, and without."""

SENTENCES: Mapping[str, str] = {
    "trec_eval": "As trec_eval -c: queries that a run lacks or that have no relevant item count 0",
    "trec_eval_intersection": "As trec_eval without -c: queries that a run lacks are left out, queries "
    "without a relevant item count 0",
}
MORE = (
    "; what is not listed is not retrieved, unjudged is not relevant; equal scores, in single precision for "
    "ranked lists, are ordered by falling id."
)


def like_in_words(like: str) -> str:
    """Return what scoring like another tool means, as a sentence."""
    return SENTENCES[like] + MORE


def read_like(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with its labels as trec_eval reads qrels.

    A negative rating is pooled and not judged, and a query counts as soon as a line names it.
    """
    return replace(benchmark, truths={name: read_truth(truth) for name, truth in benchmark.truths.items()})


def read_truth(truth: Truth) -> Truth:
    """Return a truth as trec_eval reads qrels; a rule stays as it is."""
    judgments = truth.judgments
    if judgments is None or not (truth.n_pooled or (judgments.rating < 0).any()):
        return truth
    known = judgments.rating >= 0
    pooled = [
        np.concatenate([old, column[~known]])
        for old, column in zip(judgments.pooled, (judgments.image, judgments.caption))
    ]
    judged = Judgments(
        judgments.image[known],
        judgments.caption[known],
        rating=judgments.rating[known],
        source=judgments.source[known],
        sources=judgments.sources,
        pooled=(pooled[0], pooled[1]),
        probability=judgments.probability[known],
        grade_if_relevant=judgments.grade_if_relevant[known],
        design=judgments.design,
    )
    queries: dict[Direction, np.ndarray] = {
        direction: np.union1d(truth.queries[direction], in_order(direction, *pooled)[0])
        for direction in truth.directions
    }
    return replace(truth, judgments=judged, queries=queries)


def aligned(run: Run, benchmark: Benchmark, ties: str) -> Run:
    """Return a run matched to a benchmark, equal scores in trec_eval's order where the policy says so."""
    run = run.align(benchmark)
    return run.in_trec_eval_order() if ties == "trec_eval" else run


def counted(measure: Measure, values: np.ndarray, listed: np.ndarray, like: str | None) -> np.ndarray:
    """Return values per query as they count in the mean.

    Parameters
    ----------
    measure, values
        Values of a measure, NaN for a query without a relevant item.
    listed
        Per query, whether the run has a list for it.
    like
        Which tool is followed; None keeps the values.

    Examples
    --------
    >>> from karat.measures import parse_measure
    >>> values, listed = np.array([0.5, np.nan, 0.0]), np.array([True, True, False])
    >>> [counted(parse_measure("AP"), values, listed, like).tolist() for like in LIKES]
    [[0.5, 0.0, 0.0], [0.5, 0.0, nan]]
    """
    if like is None or measure.better == "low":
        return values
    values = np.where(np.isnan(values), 0.0, values)
    return values if like == "trec_eval" else np.where(listed, values, np.nan)


def notes_on_queries(
    run: str, like: str, listed: Sequence[np.ndarray], relevant: Sequence[np.ndarray]
) -> list[str]:
    """Return how many queries a run lacks, and how many have no relevant item; per fold, for each query."""
    has_list, has_relevant = np.concatenate(listed), np.concatenate(relevant)
    everything, missing = len(has_list), int((~has_list).sum())
    empty = int((~has_relevant & has_list).sum())
    counts = "count 0" if like == "trec_eval" else "are left out"
    notes = []
    if missing:
        notes.append(f"{run}: {missing:,} of {everything:,} queries are not in the run and {counts}")
    if empty:
        notes.append(f"{run}: {empty:,} of {everything:,} queries have no relevant item and count 0")
    return notes
