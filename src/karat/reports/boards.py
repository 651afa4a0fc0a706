"""Systems by metrics as tables: for sections that hold metrics against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat.measures import parse_measure
from karat.reports.material import Material
from karat.reports.views import table
from karat.scores.leaderboard import Leaderboard
from karat.validation import KaratError, unknown_name

DASH = "—"


@dataclass(frozen=True, eq=False)
class MarkedBoard(Leaderboard):
    """A leaderboard with metrics that are low for good systems, though their names do not say so."""

    low: tuple[str, ...] = ()

    def lower_is_better(self) -> list[str]:
        """Return the metrics where low is good: those that were said to be, and those whose names say so."""
        known = super().lower_is_better()
        return [name for name in self.metrics if name in known or name in self.low]


def marked_low(board: Leaderboard, names: Sequence[str]) -> Leaderboard:
    """Return the leaderboard with metrics marked as low for good systems.

    >>> board = Leaderboard(("a", "b"), ("error", "R@1"), np.array([[0.2, 0.3], [0.3, 0.2]]))
    >>> marked_low(board, ["error"]).lower_is_better()
    ['error']
    """
    for name in names:
        if name not in board.metrics:
            raise unknown_name("metric", name, board.metrics, owner="the leaderboard")
    if not names:
        return board
    return MarkedBoard(board.systems, board.metrics, board.values, board.notes, tuple(names))


def is_rank(metric: str) -> bool:
    """Whether a metric's name says that it counts places, such as "eccv MedR".

    >>> is_rank("eccv MedR"), is_rank("R@1"), is_rank("my own")
    (True, False, False)
    """
    for part in (metric, *metric.split()):
        try:
            if parse_measure(part).unit == "rank":
                return True
        except KaratError:
            continue
    return False


def shown_board(material: Material) -> Leaderboard | None:
    """Return the leaderboard as it is shown: karat's own fractions in percent, other numbers as given."""
    board = material.board
    if board is None or material.card is None:
        return board
    scale = np.array([1.0 if is_rank(name) else 100.0 for name in board.metrics])
    return replace(board, values=board.values * scale)


def ranks(board: Leaderboard) -> np.ndarray:
    """Return the place of each system under each metric, [systems, metrics]; ties share the best place.

    >>> board = Leaderboard(("a", "b", "c"), ("R@1", "MedR"), np.array([[0.4, 3.0], [0.5, 3.0], [0.3, 9.0]]))
    >>> ranks(board).tolist()
    [[2.0, 1.0], [1.0, 1.0], [3.0, 3.0]]
    """
    low = board.lower_is_better()
    out = np.full(board.values.shape, np.nan)
    for k, name in enumerate(board.metrics):
        good = -board.values[:, k] if name in low else board.values[:, k]
        known = ~np.isnan(good)
        out[known, k] = [1 + int((good[known] > value).sum()) for value in good[known]]
    return out


def digits(column: np.ndarray) -> int:
    """Return how many decimals tell a metric's values apart without noise."""
    largest = np.nanmax(np.abs(column)) if (~np.isnan(column)).any() else 0
    return 3 if largest <= 1.5 else 1 if largest >= 10 else 2


def board_table(board: Leaderboard) -> dict[str, Any]:
    """Return every system with every metric and its place there, in the order of the first metric."""
    place = ranks(board)
    order = np.argsort(np.nan_to_num(place[:, 0], nan=np.inf), kind="stable")
    rows = [[board.systems[s], *values_and_places(board, place, s)] for s in order]
    return table("Every system by every metric, with its place", ["System", *board.metrics], rows)


def values_and_places(board: Leaderboard, place: np.ndarray, system: int) -> list[Any]:
    """Return a system's cells."""
    cells: list[Any] = []
    for k in range(len(board.metrics)):
        value, at = board.values[system, k], place[system, k]
        if np.isnan(value):
            cells.append(DASH)
            continue
        kind = {"c": "first"} if at == 1 else {}
        cells.append({"t": f"{value:.{digits(board.values[:, k])}f}", "s": f"place {at:.0f}", **kind})
    return cells


def whole(numbers: np.ndarray) -> list[float | None]:
    """Return numbers for json: rounded, None where there is none.

    >>> whole(np.array([1.23456, np.nan]))
    [1.2346, None]
    """
    return [None if np.isnan(number) else round(float(number), 4) for number in numbers]


def short_list(names: Sequence[str], most: int = 3) -> str:
    """Return names as a sentence lists them, the rest counted.

    >>> short_list(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
