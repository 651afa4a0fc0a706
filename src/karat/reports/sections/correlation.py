"""Which metrics order the systems alike: Kendall's tau of every pair (ECCV Caption, table D.3)."""

from __future__ import annotations

import numpy as np

from karat._util import signed
from karat.reports.boards import board_of
from karat.reports.material import Material
from karat.reports.presentation import Cell, called, cell, table
from karat.reports.section import SectionData, section
from karat.scores import FEWEST_SYSTEMS, CorrelationTable, Leaderboard, correlate
from karat.stats import Correlation, Intervals

RESAMPLES = 2000


@section("correlation", "Do the metrics agree?", "Agreement", order=60)
def collect(material: Material) -> SectionData:
    """Return the matrix of tau with intervals over systems."""
    board = board_of(material)
    if board is None or len(board.metrics) < 2 or len(board.systems) < FEWEST_SYSTEMS:
        return None
    if most_shared(board) < FEWEST_SYSTEMS:
        return f"No two metrics share {FEWEST_SYSTEMS} systems: too few to ask whether they agree."
    found = correlate(
        board, "tau", lower_is_better=board.lower_is_better(), intervals=Intervals(resamples=RESAMPLES)
    )
    pairs = defined_pairs(found)
    if not pairs:
        return "No two metrics distinguish the systems that they share, so there is nothing to correlate."
    given = ", with 95% intervals over systems" if any(not np.isnan(tau.low) for _, _, tau in pairs) else ""
    said = [f"{called(a)} and {called(b)} (τ {signed(tau.value)})" for a, b, tau in pairs]
    names = list(board.metrics)
    return {
        "metrics": names,
        "values": rounded(found.matrix),
        "least": said[:1],
        "most": said[-1:],
        "systems": len(board.systems),
        "notes": [note for note in found.notes if note not in board.notes],
        "table": table(f"Kendall's tau of every two metrics{given}", ["", *names], rows(names, found.matrix)),
    }  # fmt: skip


def most_shared(board: Leaderboard) -> int:
    """Return how many systems two metrics share at most."""
    known = (~np.isnan(board.values)).astype(int)
    shared = known.T @ known
    return int(shared[~np.eye(len(shared), dtype=bool)].max())


def defined_pairs(found: CorrelationTable) -> list[tuple[str, str, Correlation]]:
    """Return the pairs of metrics whose tau is defined, the least first."""
    return sorted((pair for pair in found.pairs() if not np.isnan(pair[2].value)), key=lambda p: p[2].value)


def rounded(matrix: np.ndarray) -> list[list[float | None]]:
    """Return tau as plots take it."""
    return [[None if np.isnan(tau.value) else round(float(tau.value), 3) for tau in row] for row in matrix]


def rows(names: list[str], matrix: np.ndarray) -> list[list[Cell]]:
    """Return the rows of the table: tau with its interval, 1 for a metric with itself."""
    return [
        [name, *("1" if other == name else cell(signed(tau.value), between(tau.low, tau.high))
                 for other, tau in zip(names, line))]
        for name, line in zip(names, matrix)
    ]  # fmt: skip


def between(low: float, high: float) -> str:
    """Return an interval, or nothing where an end is not known.

    >>> between(-0.5, 1.0), between(float("nan"), 1.0)
    ('−0.50 to 1.00', '')
    """
    return "" if np.isnan(low) or np.isnan(high) else f"{signed(low)} to {signed(high)}"
