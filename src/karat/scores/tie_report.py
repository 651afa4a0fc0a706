"""What ties there were, and what their order could change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat.measures import Measure, parse_measure
from karat.runs import Run
from karat.scores.batches import Batch
from karat.scores.pooling import pool_folds
from karat.scores.scorecard import TieReport
from karat.scores.tables import show_value


def tie_report(
    run: Run,
    truth: str,
    direction: str,
    batches: Sequence[Batch],
    folds: np.ndarray,
    measures: Sequence[Measure],
) -> TieReport | None:
    """Return how many queries have a tied relevant item, and the range that ties leave."""
    tied_queries = sum(batch.tied_queries for batch in batches)
    if not tied_queries:
        return None
    ranges = {}
    for measure in measures:
        ends = [
            pool_folds(measure, np.concatenate([values[measure] for values in side]), folds)
            for side in ([batch.worst for batch in batches], [batch.best for batch in batches])
        ]
        worst, best = ends
        if worst is not None and best is not None and np.isfinite(worst) and np.isfinite(best):
            ranges[str(measure)] = (worst, best)
    largest = max(batch.largest for batch in batches)
    return TieReport(run.name, truth, direction, tied_queries, len(folds), largest, ranges)


def merged(reports: Sequence[TieReport]) -> list[TieReport]:
    """Return the reports of one run, truth and direction as one: the first, with every measure's range."""
    if not reports:
        return []
    ranges = {name: ends for report in reports for name, ends in report.range.items()}
    return [replace(reports[0], range=ranges)]


def tie_notes(reports: Sequence[TieReport]) -> list[str]:
    """Return one sentence on the ties of a run: how many, and what they change at most."""
    if not reports:
        return []
    most = max(reports, key=lambda report: report.tied_queries / report.queries)
    note = (
        f"{most.run}: ties: {most.tied_queries:,} of {most.queries:,} queries of {most.truth} "
        f"({most.direction}) have a relevant item that shares its score with others, "
        f"up to {max(report.largest for report in reports):,} at once"
    )
    changes = [
        (parse_measure(name).unit == "fraction", abs(ends[1] - ends[0]), name, where)
        for where in reports
        for name, ends in where.range.items()
    ]
    if not changes:
        return [note]
    # The widest range of a fraction, or of a rank where there are only ranks.
    _, change, name, where = max(changes, key=lambda entry: entry[:2])
    measure = parse_measure(name)
    if change < (0.5 if measure.unit == "rank" else 0.0005):
        return [f"{note}; their order changes nothing that matters"]
    low, high = (show_value(measure, end) for end in sorted(where.range[name]))
    return [
        f"{note}; by their order, {name} on {where.truth} ({where.direction}) lies between {low} and {high}"
    ]
