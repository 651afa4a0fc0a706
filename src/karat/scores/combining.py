"""From columns to what was asked for: both directions with their mean, or a combination."""

from __future__ import annotations

import numpy as np

from karat.benchmarks import Direction
from karat.measures import Combined, Measure, Named
from karat.measures.measure import MeanOfBoth, Part
from karat.runs import Run
from karat.scores.scorecard import Column


def assemble(
    named: Named, truth: str, run: Run, parts: dict[Part, Column], directions: tuple[Direction, ...]
) -> list[Column]:
    """Return the columns that one asked-for name gives: both directions and their mean, or a combination."""
    if isinstance(named, Combined):
        return [combined(named, truth, run, parts)]
    assert isinstance(named, Measure)
    columns = [parts[Part(named, truth, direction)] for direction in directions]
    return [*columns, combined(MeanOfBoth(named), truth, run, parts)] if len(directions) == 2 else columns


def combined(named: Combined, truth: str, run: Run, parts: dict[Part, Column]) -> Column:
    """Combine pooled columns, and their bounds where all have some."""
    columns = [parts.get(part) for part in named.parts(truth)]
    found = [column for column in columns if column is not None]

    def together(field: str) -> float | None:
        values = [getattr(column, field) for column in found]
        if len(found) < len(columns) or None in values:
            return None
        return float(named.combine([np.atleast_1d(value) for value in values])[0])

    per_direction = {column.direction: column.n for column in found}
    note = None
    if together("value") is None:
        # The parts say why themselves when they are shown; a lone combination has to.
        reasons = [column.note for column in found if column.note] or ["it needs both directions"]
        note = reasons[0] if named.direction == "both" else None
    return Column(
        run.name,
        truth,
        named.direction,
        named,
        together("value"),
        sum(per_direction.values()),
        lower_bound=together("lower_bound"),
        upper_bound=together("upper_bound"),
        parts=tuple(found),
        note=note,
    )
