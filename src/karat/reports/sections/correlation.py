"""Which metrics order the systems alike: Kendall's tau of every pair (ECCV Caption, table D.3)."""

from __future__ import annotations

import numpy as np

from karat.reports.boards import board_of
from karat.reports.material import Material
from karat.reports.section import Found, section
from karat.reports.views import cell, table
from karat.scores.correlate import FEWEST_SYSTEMS, correlate
from karat.scores.phrasing import signed
from karat.stats.intervals import Intervals

RESAMPLES = 2000


@section("correlation", "Do the metrics agree?", "Agreement", order=60)
def collect(material: Material) -> Found:
    """Return the matrix of tau with intervals over systems."""
    board = board_of(material)
    if board is None or len(board.metrics) < 2:
        return None
    if len(board.systems) < FEWEST_SYSTEMS:
        return f"Whether metrics agree can be asked of {FEWEST_SYSTEMS} systems or more."
    given = (~np.isnan(board.values)).astype(int)
    shared = given.T @ given
    if shared[~np.eye(len(shared), dtype=bool)].max() < FEWEST_SYSTEMS:
        return f"No two metrics share {FEWEST_SYSTEMS} systems: too few to ask whether they agree."
    made = correlate(
        board, "tau", lower_is_better=board.lower_is_better(), intervals=Intervals(resamples=RESAMPLES)
    )
    known = np.array([[one.value for one in row] for row in made.matrix])
    if np.isnan(known[~np.eye(len(known), dtype=bool)]).all():
        return "No two metrics tell the systems that they share apart, so there is nothing to correlate."
    names = list(board.metrics)
    rows = []
    for name, line in zip(names, made.matrix):
        cells = [
            "1" if names[k] == name else cell(signed(one.value), between(one.low, one.high))
            for k, one in enumerate(line)
        ]
        rows.append([name, *cells])
    pairs = sorted(
        ((first, second, one) for first, second, one in made.pairs() if not np.isnan(one.value)),
        key=lambda pair: pair[2].value,
    )
    return {
        "metrics": names,
        "values": [[None if np.isnan(v) else round(float(v), 3) for v in row] for row in known],
        "least": [f"{a} and {b} (τ {signed(one.value)})" for a, b, one in pairs[:1]],
        "most": [f"{a} and {b} (τ {signed(one.value)})" for a, b, one in pairs[-1:]],
        "systems": len(board.systems),
        "notes": [note for note in made.notes if note not in board.notes],
        "table": table(
            "Kendall's tau of every two metrics, with 95% intervals over systems", ["", *names], rows
        ),
    }


def between(low: float, high: float) -> str:
    """Return an interval, or nothing where an end is not known.

    >>> between(-0.5, 1.0), between(float("nan"), 1.0)
    ('−0.50 to 1.00', '')
    """
    return "" if np.isnan(low) or np.isnan(high) else f"{signed(low)} to {signed(high)}"
