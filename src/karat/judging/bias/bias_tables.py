"""Bias as tables: scores by annotating system, the curve, outsiders, distance to the truth, diversity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat._util import MISSING, Layout, bar, grouped
from karat.judging.bias.bias import BiasTable
from karat.judging.bias.diversity import Diversity
from karat.judging.bias.leave_one_out import LeftOut
from karat.judging.bias.true_bias import TruthGap
from karat.scores import DIRECTION_TITLES
from karat.stats import Estimate

WIDE = 8
"""Tables of systems by systems with more columns than this help nobody; the json has everything."""
BAR = 24
"""How long the longest bar of a curve is."""


def percent(value: float | None, sign: bool = False) -> str:
    """Return a share in percent, a dash where there is none.

    >>> percent(0.1234), percent(-0.02, sign=True), percent(-1e-9), percent(None)
    ('12.34', '−2.00', '0.00', '—')
    """
    if value is None or np.isnan(value):
        return MISSING
    # Adding 0 makes a plain zero of a negative one.
    return f"{round(100 * value, 2) + 0.0:{'+' if sign else ''}.2f}".replace("-", "−")


def with_interval(estimate: Estimate) -> str:
    """Return a difference in points with its interval."""
    ends = " to ".join(percent(end, sign=True) for end in (estimate.low, estimate.high))
    return f"{percent(estimate.value, sign=True)} ({ends})"


def score_layout(table: BiasTable, title: str, true: Sequence[float] | None = None) -> Layout:
    """Return the scores on the labels of no system, of each alone, and of all (tables E.1a and E.1b)."""
    size = table.size
    rows = [k for k in range(len(size)) if size[k] in (0, len(table.systems)) or size[k] == 1]
    heads = ["original" if not size[k] else "all" if size[k] > 1 else table.names(k)[0] for k in rows]
    if len(table.systems) == 1:
        heads[-1] = "all"
    columns = [table.scores[k] for k in rows]
    if true is not None:
        heads.append("truth")
        columns.append(np.asarray(true))
    best = {
        (int(system), 1 + k)
        for k, column in enumerate(columns)
        for system in np.flatnonzero(column == column.max())
    }
    cells = [
        [name, *(percent(column[system]) for column in columns)] for system, name in enumerate(table.systems)
    ]
    return Layout(["system", *heads], cells, best=best, title=f"{title}: scores on the labels of each system")


def curve_layout(table: BiasTable, title: str, against: BiasTable | None = None) -> Layout:
    """Return the mean bias by the number of systems (figure E.2), and the subset with the least."""
    head = ["systems", "subsets", "bias", "", "self", "non-self"]
    distance = None if against is None else {point.size: point.bias for point in against.curve()}
    curve = table.curve()
    most = max((point.bias or 0.0 for point in curve), default=0.0) or 1.0
    rows = []
    for point in curve:
        names = table.names(table.least(point.size))
        least = "" if point.size in (0, len(table.systems)) else " + ".join(names)
        cells = [percent(value) for value in (point.self_bias, point.other_bias)]
        off = [] if distance is None else [percent(distance[point.size])]
        drawn = bar((point.bias or 0.0) / most, BAR)
        rows.append([str(point.size), f"{point.subsets:,}", percent(point.bias), drawn, *cells, *off, least])
    if against is not None:
        head.append("from truth")
    return Layout([*head, "least bias"], rows, title=f"{title}: bias by the number of systems")


def left_out_layout(found: Sequence[LeftOut]) -> Layout:
    """Return what changes for systems that do not contribute."""
    head = [
        "measure", "direction", "system", "score", "as outsider", "change", "more than others", "place",
        "falls",
    ]  # fmt: skip
    lines = [
        (
            (one.measure, DIRECTION_TITLES[one.direction], one.system),
            [
                percent(one.score),
                percent(one.score_without),
                with_interval(one.change),
                with_interval(one.unfairness),
                f"{one.rank} → {one.rank_without}",
                f"{100 * one.falls:.0f}%",
            ],
        )
        for one in found
    ]
    return grouped(head, lines, title="A system that does not contribute to the pool")


def gap_layout(found: Sequence[TruthGap], truth: str | None) -> Layout:
    """Return how far the labels of all systems are from a complete truth."""
    head = ["measure", "direction", "system", "score", "true", "score − true"]
    lines = [
        (
            (one.measure, DIRECTION_TITLES[one.direction], one.system),
            [percent(one.score), percent(one.true), with_interval(one.gap)],
        )
        for one in found
    ]
    return grouped(head, lines, title=f"All labels against {truth}")


def pair_layout(systems: Sequence[str], values: np.ndarray, form: str, title: str) -> Layout:
    """Return a table of systems by systems; the row's system is compared with the column's."""
    rows = [
        [
            name,
            *(
                MISSING if a == b or np.isnan(values[a, b]) else f"{values[a, b]:{form}}".replace("-", "−")
                for b in range(len(systems))
            ),
        ]
        for a, name in enumerate(systems)
    ]
    return Layout(["", *systems], rows, title=title)


def diversity_layouts(found: Diversity) -> list[Layout]:
    """Return tables A.1a and A.1b."""
    side = DIRECTION_TITLES[found.direction]
    at_least = " (at least: some lie beyond the known places)" if (found.beyond > 0).any() else ""
    return [
        pair_layout(found.systems, values, form, title)
        for values, form, title in (
            (found.tau, ".2f", f"Kendall's tau of the first {found.depth}, {side}"),
            (found.overlap, ".0%", f"Share of the first {found.depth} in common, {side}"),
            (found.first_rank, ".1f",
             f"Mean place of the row's first item in the column's ranking, {side}{at_least}"),
        )
    ]  # fmt: skip
