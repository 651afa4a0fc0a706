"""Systems by metrics: leaderboards that know where low is good, with places, number formats and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._util import MISSING
from karat.errors import InputError, unknown_name
from karat.measures import Named, scale_value
from karat.reports.material import Material
from karat.reports.presentation import Cell, cell, table
from karat.scores import ARROWS, Leaderboard, Scorecard, is_low, metric_name


@dataclass(frozen=True, eq=False)
class MarkedBoard(Leaderboard):
    """A leaderboard with metrics that are low for good systems, though their names do not say so."""

    low: tuple[str, ...] = ()

    def lower_is_better(self) -> list[str]:
        """Return the metrics where low is good: those that were said to be, and those whose names say so."""
        return [name for name in self.metrics if name in self.low or says_low(name)]


@dataclass(frozen=True, eq=False)
class ScoredBoard(Leaderboard):
    """A leaderboard whose measures are known: names say nothing, since a truth may be called anything."""

    low: tuple[str, ...] = ()

    def lower_is_better(self) -> list[str]:
        """Return the metrics whose measures are low for good systems."""
        return list(self.low)


def says_low(metric: str) -> bool:
    """Whether a metric's name, or the last word of it, is that of a measure where low is good.

    >>> says_low("eccv MedR"), says_low("MedR i→t"), says_low("MedR labels, R@1"), says_low("my own")
    (True, True, False, False)
    """
    words = metric.split()
    if len(words) > 1 and words[-1] in ARROWS.values():
        words.pop()
    return is_low(metric) or (bool(words) and is_low(words[-1]))


def marked_low(board: Leaderboard, names: Sequence[str]) -> Leaderboard:
    """Return the leaderboard with metrics marked as low for good systems.

    >>> board = Leaderboard(("a", "b"), ("error", "R@1"), np.array([[0.2, 0.3], [0.3, 0.2]]))
    >>> marked_low(board, ["error"]).lower_is_better()
    ['error']
    """
    for name in names:
        if name not in board.metrics:
            raise unknown_name("metric", name, board.metrics, owner="the leaderboard")
    low = (*names, *(board.low if isinstance(board, MarkedBoard) else ()))
    return MarkedBoard(board.systems, board.metrics, board.values, board.notes, low)


def board_of(material: Material) -> Leaderboard | None:
    """Return systems by metrics that know where low is good; None where there is nothing to compare."""
    board = material.board
    if board is None:
        return None
    if material.card is None:
        return marked_low(checked(board), ())
    low = tuple(n for n, measure in measures_of(material.card, board).items() if measure.better == "low")
    return ScoredBoard(board.systems, board.metrics, board.values, board.notes, low)


def checked(board: Leaderboard) -> Leaderboard:
    """Return the leaderboard, or raise where it holds nothing that can be shown."""
    if not board.systems or not board.metrics:
        what = "metrics" if board.systems else "systems"
        raise InputError(f"the leaderboard has no {what}", fix="give a system and a metric or more")
    wrong = np.argwhere(np.isinf(board.values))
    if len(wrong):
        s, k = wrong[0]
        raise InputError(
            f"the leaderboard holds {board.values[s, k]} for {board.systems[s]!r} under {board.metrics[k]!r}",
            fix="give a finite number, or NaN for missing",
        )
    if np.isnan(board.values).all():
        raise InputError("the leaderboard holds no number", fix="give one or more")
    return board


def measures_of(card: Scorecard, board: Leaderboard) -> dict[str, Named]:
    """Return the measure behind each metric of a scorecard's leaderboard."""
    for several in (True, False):
        named = {metric_name(c.truth, str(c.measure), c.direction, several): c.measure for c in card}
        if all(metric in named for metric in board.metrics):
            break
    return {metric: named[metric] for metric in board.metrics}


def shown_board(material: Material) -> Leaderboard | None:
    """Return the leaderboard as it is shown: karat's own fractions in percent, other numbers as given."""
    board = board_of(material)
    if board is None or material.card is None:
        return board
    scale = [scale_value(measure, 1.0) for measure in measures_of(material.card, board).values()]
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


def number_format(column: np.ndarray) -> str:
    """Return the format of a metric's values: as given where short, else as many digits as distinguish them.

    >>> [format(value, number_format(np.array([45.64, 45.61, 45]))) for value in (45.64, 45)]
    ['45.64', '45.00']
    >>> number_format(np.array([1e-5, 0.123456])), number_format(np.array([1.0, 1.0]))
    ('.5f', '.0f')
    """
    known = sorted({float(f"{value:.10g}") for value in column[~np.isnan(column)]})
    if not known:
        return ".0f"
    for decimals in range(5):
        if all(round(value, decimals) == value for value in known):
            return f".{decimals}f"
    largest = max(map(abs, known))
    start = 3 if largest <= 1.5 else 1 if largest >= 10 else 2
    formats = [f".{decimals}f" for decimals in range(start, 11)]
    fits = (form for form in formats if tells_apart(known, form))
    return next(fits, None) or next(f".{n}g" for n in range(3, 11) if tells_apart(known, f".{n}g"))


def tells_apart(values: Sequence[float], form: str) -> bool:
    """Whether a format keeps different values different, and each near to what it is."""
    texts = [format(value, form) for value in values]
    near = all(abs(float(text) - value) <= 0.04 * abs(value) for text, value in zip(texts, values))
    return near and len(set(texts)) == len(values)


def board_table(board: Leaderboard) -> dict[str, Any]:
    """Return every system with every metric and its place there, in the order of the first metric."""
    place = ranks(board)
    order = np.argsort(np.nan_to_num(place[:, 0], nan=np.inf), kind="stable")
    rows = [[board.systems[s], *values_and_places(board, place, s)] for s in order]
    return table("Every system by every metric, with its place", ["System", *board.metrics], rows)


def values_and_places(board: Leaderboard, place: np.ndarray, system: int) -> list[Cell]:
    """Return a system's cells."""
    cells: list[Cell] = []
    for k in range(len(board.metrics)):
        value, at = board.values[system, k], place[system, k]
        if np.isnan(value):
            cells.append(MISSING)
            continue
        text = format(value, number_format(board.values[:, k]))
        cells.append(cell(text, f"place {at:.0f}", "best" if at == 1 and len(board.systems) > 1 else ""))
    return cells


def plain_numbers(numbers: np.ndarray) -> list[float | None]:
    """Return numbers for json: without the noise of their last digits, None where there is none.

    >>> plain_numbers(np.array([1.23456, 0.1 + 0.2, 1e-5, np.nan]))
    [1.23456, 0.3, 1e-05, None]
    """
    return [None if np.isnan(number) else float(f"{number:.10g}") for number in numbers]
