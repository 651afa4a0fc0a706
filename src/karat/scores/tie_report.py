"""What ties there were, and what their order could change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.measures import Measure, parse_measure
from karat.measures.ties import Counts, resolve
from karat.runs import Run
from karat.scores.pooling import pool_folds
from karat.scores.scorecard import TieReport
from karat.scores.tables import show_value
from karat.scores.tasks import Task


def tie_report(
    run: Run, tasks: list[Task], counted: list[Counts], measures: list[Measure]
) -> TieReport | None:
    """Return how many queries have a tied relevant item, and the range that ties leave."""
    tied = [(c.tied > 0) & (c.grade > 0) & (c.above >= 0) for c in counted]
    if not any(rows.any() for rows in tied):
        return None
    folds = np.repeat(np.arange(len(tasks)), [len(task.queries) for task in tasks])
    extremes: dict[str, list[float]] = {}
    for policy in ("pessimistic", "optimistic"):
        ranked = [resolve(counts, policy) for counts in counted]
        for measure in measures:
            value = pool_folds(measure, np.concatenate([measure(part) for part in ranked]), folds)
            if value is not None and np.isfinite(value):
                extremes.setdefault(str(measure), []).append(value)
    return TieReport(
        run.name,
        tasks[0].truth.name,
        tasks[0].direction,
        sum(len(np.unique(c.query[rows])) for c, rows in zip(counted, tied)),
        sum(len(task.queries) for task in tasks),
        int(max(c.tied[rows].max(initial=0) for c, rows in zip(counted, tied))) + 1,
        {name: (values[0], values[1]) for name, values in extremes.items() if len(values) == 2},
    )


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
