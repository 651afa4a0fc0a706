"""Which metrics order systems alike? From a leaderboard, evaluate's records or Scorecards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from karat.scores.correlation_table import CorrelationTable
from karat.scores.leaderboard import Leaderboard, as_leaderboard
from karat.scores.phrasing import how_intervals
from karat.stats.coefficients import COEFFICIENTS
from karat.stats.correlation import correlation_matrix
from karat.stats.intervals import Intervals
from karat.validation import InputError, check_choice, plural

FEWEST_SYSTEMS = 3


def correlate(
    source: Any,
    method: str = "tau",
    *,
    metrics: Iterable[str] | None = None,
    lower_is_better: Iterable[str] = (),
    intervals: Intervals | None = None,
) -> CorrelationTable:
    """Return how alike every two metrics order the systems of a leaderboard.

    Metrics where low is good change their sign first, so that a positive number always means
    agreement. Two metrics are compared on the systems that have both.

    Parameters
    ----------
    source
        A file (csv, tsv or Parquet whose first column names the system; json that `karat evaluate`
        wrote) or several json files, a `Leaderboard`, or one or several Scorecards.
    method
        "tau" (Kendall's tau-b), "spearman" or "pearson".
    metrics
        Which metrics, in this order; all when left out.
    lower_is_better
        Metrics where low is good, beside those whose names say so (MedR, MeanR).
    intervals
        How intervals are made; by default 95%, percentile, 10,000 resamples of the systems.

    Examples
    --------
    >>> board = Leaderboard(("a", "b", "c", "d"), ("R@1", "RP", "MedR"),
    ...                     np.array([[0.2, 0.3, 9.0], [0.3, 0.2, 5], [0.4, 0.4, 4], [0.5, 0.6, 2]]))
    >>> print(correlate(board))
    Kendall's tau-b of 3 metrics over 4 systems
    <BLANKLINE>
       τ        1     2     3
    ─  ────  ────  ────  ────
    1  R@1      ·  0.67  1.00
    2  RP    0.67     ·  0.67
    3  MedR  1.00  0.67     ·
    <BLANKLINE>
    Least alike, and how many pairs of systems change places:
      R@1 and RP: τ 0.67 (−1.00 to 1.00), 1 of 6
      RP and MedR: τ 0.67 (−1.00 to 1.00), 1 of 6
      R@1 and MedR: τ 1.00 (1.00–1.00), 0 of 6
    <BLANKLINE>
    In brackets: 95% percentile intervals, 10,000 resamples of systems.
    note: low is good for MedR: its sign is changed, so that a positive number means agreement
    """
    method = check_choice(method, tuple(COEFFICIENTS), "method")
    board = as_leaderboard(source)
    if metrics is not None:
        board = choose(board, list(metrics))
    for name in (low := list(lower_is_better)):
        board.place(name)
    if len(board.systems) < FEWEST_SYSTEMS:
        raise InputError(
            f"the leaderboard has {plural(len(board.systems), 'system')}",
            fix=f"correlation needs {FEWEST_SYSTEMS} or more",
        )
    turned = tuple(name for name in board.metrics if name in {*board.lower_is_better(), *low})
    signs = np.array([-1.0 if name in turned else 1.0 for name in board.metrics])
    board = replace(board, values=board.values * signs)
    made = intervals or Intervals()
    matrix = correlation_matrix(board.values, method, **asdict(made))
    notes = (*board.notes, *turning(turned), *remarks(board, matrix))
    return CorrelationTable(board, method, matrix, turned, notes, how_intervals(made, "systems"))


def choose(board: Leaderboard, metrics: list[str]) -> Leaderboard:
    """Return a leaderboard of some metrics."""
    columns = {name: board.place(name) for name in metrics}
    if len(columns) < 2:
        raise InputError(plural(len(columns), "metric"), fix="correlation needs two")
    return replace(board, metrics=tuple(columns), values=board.values[:, list(columns.values())])


def turning(turned: tuple[str, ...]) -> list[str]:
    """Return the note on metrics whose sign was changed."""
    if not turned:
        return []
    whose = "its sign is" if len(turned) == 1 else "their signs are"
    return [
        f"low is good for {', '.join(turned)}: {whose} changed, so that a positive number means agreement"
    ]


def remarks(board: Leaderboard, matrix: np.ndarray) -> list[str]:
    """Return notes on missing cells, metrics that never vary, and metrics that run against all others."""
    out = []
    missing = int(np.isnan(board.values).sum())
    if missing:
        cells = plural(missing, "cell")
        out.append(f"{cells} without a value: two metrics are compared on the systems that have both")
    values = np.array([[one.value for one in row] for row in matrix])
    np.fill_diagonal(values, np.nan)
    if len(board.metrics) == 2 and values[0, 1] < 0:
        out.append("the metrics run against each other: if low is good for one, pass --lower-is-better")
    for k, name in enumerate(board.metrics):
        if np.isnan(values[k]).all():
            out.append(f"{name} is the same for all systems, or shares too few with the other metrics")
        elif len(board.metrics) > 2 and np.nanmax(values[k]) < 0:
            out.append(f"{name} runs against all other metrics: if low is good, pass --lower-is-better")
    return out
