"""Signed bias against a complete truth, where one exists: s_Θ(φ) − s_true(φ).

Eq. E.5 takes the labels of all models as the truth, so that it cannot show what all of them miss. Where the
whole truth is known (a drawn world, a small set that was judged completely) the difference can be measured,
with its sign: labels that lack positives make a score too low or, where a smaller R is easier to reach, too
high.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import Layout, grouped, or_none
from karat.benchmarks import Benchmark, Direction, Fold, shown
from karat.errors import InputError
from karat.judging.bias.bias import percent, with_interval
from karat.judging.bias.subsets import Key, SubsetScorer
from karat.measures import Measure
from karat.runs import Compute, Run
from karat.scores import Column, evaluate, query_samples
from karat.stats import Estimate, Intervals


@dataclass(frozen=True)
class TruthGap:
    """The difference between the labels of all models and the complete truth, for one model's score.

    Parameters
    ----------
    system, direction, measure
        The model, the direction and the measure.
    score, true
        Its score on the labels of all models, and on the complete truth.
    gap
        The first minus the second, with its interval over images.
    """

    system: str
    direction: Direction
    measure: str
    score: float
    true: float
    gap: Estimate

    def record(self) -> dict[str, Any]:
        """Return it as plain values."""
        ends = {"gap_low": or_none(self.gap.low), "gap_high": or_none(self.gap.high)}
        return {**vars(self), "gap": self.gap.value, **ends}


def true_columns(
    runs: Sequence[Run],
    benchmark: Benchmark,
    truth: str,
    queries: Mapping[Direction, np.ndarray],
    measures: Sequence[Measure],
    fold: Fold | None = None,
    threads: int | None = None,
) -> dict[Key, list[Column]]:
    """Return the column of every run on a complete truth, by direction and measure.

    Parameters
    ----------
    runs, benchmark, truth
        The runs to score, and the truth; one that is not marked as complete raises an error.
    queries
        Per direction, the queries that have labels; only these are scored.
    measures, threads
        See `karat.evaluate`.
    fold
        The part of the benchmark that is ranked; all by default.
    """
    known = benchmark.truth(truth)
    if not (known.complete or known.implicit):
        raise InputError(
            f"the truth {truth!r} is not complete: pairs that it does not list are unjudged",
            fix="choose a complete one, or leave it out",
        )
    kept = {
        direction: np.intersect1d(some, known.queries.get(direction, ()))
        for direction, some in queries.items()
    }
    directions = [direction for direction in kept if len(kept[direction])]
    if not directions:
        raise InputError(f"the truth {truth!r} covers none of the pooled queries", fix="choose another one")
    small = replace(
        benchmark,
        truths={truth: replace(known, queries=kept, folds=() if fold is None else (fold,))},
        defaults={},
    )
    card = evaluate(
        list(runs), small, measures, direction=directions, ties="stable", compute=Compute(threads=threads)
    )
    out = {}
    for direction in directions:
        for measure in measures:
            columns = [card.column(str(measure), direction=direction, run=run.name) for run in runs]
            for column in columns:
                if column.value is None:
                    what = f"{measure} on {truth} ({direction}) has no value: {column.note}"
                    raise InputError(what, where=column.run, fix="pass the complete runs with --run")
            out[direction, str(measure)] = columns
    return out


def truth_gaps(
    scorer: SubsetScorer,
    measures: Sequence[Measure],
    truth: Mapping[Key, Sequence[Column]],
    intervals: Intervals | None = None,
) -> list[TruthGap]:
    """Return the difference between the labels of all models and a complete truth, with intervals.

    Parameters
    ----------
    scorer
        Labels and runs.
    measures
        What `bias_measures` returned.
    truth
        What `true_columns` returned for the scorer's runs.
    intervals
        How they are computed; 95% percentile intervals from 10,000 resamples of images by default.
    """
    chosen = Intervals() if intervals is None else intervals
    all_models = np.ones((1, len(scorer.runs)), bool)
    out = []
    for direction in scorer.directions:
        for measure in measures:
            exact = truth.get((direction, str(measure)))
            if exact is None:
                continue
            queries = scorer.queries(direction)
            numbers = range(len(scorer.runs))
            on_labels = [scorer.values(all_models, number, direction, measure)[0] for number in numbers]
            columns = [(queries, values) for values in on_labels]
            columns += [(column.query, column.values) for column in exact]  # type: ignore[misc]
            drawn = query_samples(scorer.benchmark, direction, columns, chosen)
            half = len(on_labels)
            gaps = drawn.estimates(lambda scores, half=half: scores[:half] - scores[half:])  # type: ignore[misc]
            for k, (run, gap) in enumerate(zip(scorer.runs, gaps)):
                score, true = float(drawn.values[k]), float(drawn.values[half + k])
                out.append(TruthGap(run.name, direction, str(measure), score, true, gap))
    return out


def gap_layout(rows: Sequence[TruthGap], truth: str | None) -> Layout:
    """Return the table of differences between the labels of all models and a complete truth."""
    head = ["measure", "direction", "model", "score", "true", "score − true"]
    lines = [
        (
            (row.measure, shown(row.direction), row.system),
            [percent(row.score), percent(row.true), with_interval(row.gap)],
        )
        for row in rows
    ]
    return grouped(head, lines, title=f"All labels against {truth}")
