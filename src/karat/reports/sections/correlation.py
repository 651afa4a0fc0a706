"""Which metrics order the systems alike: Kendall's tau of every pair (ECCV Caption, table D.3)."""

from __future__ import annotations

import numpy as np

from karat._util import signed
from karat.reports.boards import board_of
from karat.reports.material import Material
from karat.reports.presentation import called, cell, table
from karat.reports.section import SectionData, section
from karat.scores import FEWEST_SYSTEMS, correlate
from karat.stats import Intervals

RESAMPLES = 2000


@section("correlation", "Do the metrics agree?", "Agreement", order=60)
def collect(material: Material) -> SectionData:
    """Return the matrix of tau with intervals over systems."""
    board = board_of(material)
    if board is None or len(board.metrics) < 2 or len(board.systems) < FEWEST_SYSTEMS:
        return None
    known = (~np.isnan(board.values)).astype(int)
    shared = known.T @ known
    if shared[~np.eye(len(shared), dtype=bool)].max() < FEWEST_SYSTEMS:
        return f"No two metrics share {FEWEST_SYSTEMS} systems: too few to ask whether they agree."
    correlations = correlate(
        board, "tau", lower_is_better=board.lower_is_better(), intervals=Intervals(resamples=RESAMPLES)
    )
    values = np.array([[tau.value for tau in row] for row in correlations.matrix])
    if np.isnan(values[~np.eye(len(values), dtype=bool)]).all():
        return "No two metrics distinguish the systems that they share, so there is nothing to correlate."
    names = list(board.metrics)
    rows = []
    for name, line in zip(names, correlations.matrix):
        cells = [
            "1" if names[k] == name else cell(signed(tau.value), between(tau.low, tau.high))
            for k, tau in enumerate(line)
        ]
        rows.append([name, *cells])
    pairs = sorted(
        ((first, second, tau) for first, second, tau in correlations.pairs() if not np.isnan(tau.value)),
        key=lambda pair: pair[2].value,
    )
    given = ", with 95% intervals over systems" if any(not np.isnan(tau.low) for _, _, tau in pairs) else ""
    return {
        "metrics": names,
        "values": [[None if np.isnan(v) else round(float(v), 3) for v in row] for row in values],
        "least": [f"{called(a)} and {called(b)} (τ {signed(tau.value)})" for a, b, tau in pairs[:1]],
        "most": [f"{called(a)} and {called(b)} (τ {signed(tau.value)})" for a, b, tau in pairs[-1:]],
        "systems": len(board.systems),
        "notes": [note for note in correlations.notes if note not in board.notes],
        "table": table(f"Kendall's tau of every two metrics{given}", ["", *names], rows),
    }


def between(low: float, high: float) -> str:
    """Return an interval, or nothing where an end is not known.

    >>> between(-0.5, 1.0), between(float("nan"), 1.0)
    ('−0.50 to 1.00', '')
    """
    return "" if np.isnan(low) or np.isnan(high) else f"{signed(low)} to {signed(high)}"
