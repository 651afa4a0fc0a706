"""Systems by metrics: leaderboards that know where low is good, with places, a table and a headline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from karat._util import MISSING, plural, word_for
from karat.errors import InputError, unknown_name
from karat.measures import Named, scale_value
from karat.reports.material import Material
from karat.reports.presentation import Cell, called, cell, chart, scale_of, short_list, some_of, table
from karat.scores import Leaderboard, Scorecard, is_arrow, is_low, metric_name

BARS = 8
Move = tuple[int, int, int, int, int, int]
"""By how many places a system moves, which, its place and metric before, its place and metric after."""


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
    if len(words) > 1 and is_arrow(words[-1]):
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


def board_headline(material: Material) -> dict[str, Any]:
    """Return who leads under how many metrics, and how far the metrics disagree."""
    board = board_of(material)
    assert board is not None
    firsts = first_systems(board)
    leaders = {s for first in firsts for s in first}
    moved = largest_move(board)
    points = [
        (
            "What is shown?",
            f"Published or given numbers of {plural(len(board.systems), 'system')} under "
            f"{plural(len(board.metrics), 'metric')}. The values per query are not available, so nothing "
            "can be said about chance: no intervals, no tests.",
        ),
    ]
    if firsts:
        points.append(("Who leads?", leading(board, firsts)))
    if len(board.metrics) > 1 and len(board.systems) > 1:
        points.append(("Do the metrics agree?", moving(board, moved)))
    if board.notes:
        points.append(("Please note", f"{'; '.join(board.notes)}."))
    tiles = [
        {"number": f"{len(board.systems):,}", "text": word_for(len(board.systems), "system")},
        {"number": f"{len(board.metrics):,}", "text": word_for(len(board.metrics), "metric")},
    ]
    if firsts:
        leads = word_for(len(leaders), "leader", "systems lead or share a lead")
        tiles.append({"number": str(len(leaders)), "text": leads})
    if moved is not None:
        places = word_for(moved[0], "place")
        tiles.append({"number": f"{moved[0]}", "text": f"{places}: the largest change of one system"})
    shown = next(k for k in range(len(board.metrics)) if not np.isnan(board.values[:, k]).all())
    return {
        "finding": sentence(board, firsts),
        "points": [{"term": term, "text": text} for term, text in points],
        "tiles": tiles,
        "title": board.metrics[shown],
        **bars(board, shown),
    }


def first_systems(board: Leaderboard) -> list[tuple[int, ...]]:
    """Return who is first, or shares the first place, under each metric that has two systems or more."""
    place = ranks(board)
    compared = [k for k in range(len(board.metrics)) if (~np.isnan(place[:, k])).sum() > 1]
    return [tuple(int(s) for s in np.flatnonzero(place[:, k] == 1)) for k in compared]


def sentence(board: Leaderboard, firsts: list[tuple[int, ...]]) -> str:
    """Return the finding in one sentence."""
    if len(board.systems) == 1:
        return f"{called(board.systems[0])} is the only system: there is no other to compare it with."
    if not firsts:
        return "No metric has numbers of two systems, so no system leads."
    under = f"under {some_of(len(firsts), len(firsts), 'metric')}"
    if len(firsts) < len(board.metrics):
        under += " that several systems have"
    counts = {s: sum(s in first for first in firsts) for s in sorted({s for first in firsts for s in first})}
    most = max(counts.values())
    best = [s for s in counts if counts[s] == most]
    names = short_list([called(board.systems[s]) for s in best])
    alone = sum(first == (best[0],) for first in firsts)
    if most == len(firsts):
        if len(best) > 1:
            return f"{names} are tied for first {under}."
        if alone == len(firsts):
            return f"{names} leads {under}."
        return f"{names} is first {under}, but shares the first place under {len(firsts) - alone}."
    if len(best) > 1:
        return f"Who is first depends on the metric: {names} are each first under {most} of {len(firsts)}."
    how = "leads" if alone == most else "leads, or shares the lead,"
    return f"Who is first depends on the metric: {names} {how} under {most} of {len(firsts)}."


def leading(board: Leaderboard, firsts: list[tuple[int, ...]]) -> str:
    """Return who leads how often."""
    counts = {s: sum(s in first for first in firsts) for s in sorted({s for first in firsts for s in first})}
    names = []
    for s in sorted(counts, key=lambda s: -counts[s]):
        shared = sum(s in first and len(first) > 1 for first in firsts)
        how = f", {shared} of them shared" if shared else ""
        names.append(f"{called(board.systems[s])} ({counts[s]} of {len(firsts)}{how})")
    text = f"{short_list(names, 5)}."
    if np.isnan(board.values).any():
        text += " Not every system has a number under every metric; each metric ranks those that have one."
    return text


def largest_move(board: Leaderboard) -> Move | None:
    """Return the largest change of place between two metrics, among the systems that have both.

    >>> board = Leaderboard(("a", "b", "c"), ("x", "y"), np.array([[3, np.nan], [2, 5], [1, 4.0]]))
    >>> largest_move(board)[0]
    0
    """
    best: Move | None = None
    low = board.lower_is_better()
    good = board.values * np.array([-1.0 if name in low else 1.0 for name in board.metrics])
    for a, b in combinations(range(len(board.metrics)), 2):
        both = np.flatnonzero(~np.isnan(good[:, [a, b]]).any(axis=1))
        if len(both) < 2:
            continue
        places = [1 + (good[both, k][None, :] > good[both, k][:, None]).sum(axis=1) for k in (a, b)]
        at = int(np.abs(places[0] - places[1]).argmax())
        before, after = int(places[0][at]), int(places[1][at])
        if best is None or abs(before - after) > best[0]:
            best = abs(before - after), int(both[at]), before, a, after, b
    return best


def moving(board: Leaderboard, moved: Move | None) -> str:
    """Say which system moves most."""
    if moved is None:
        return "Unknown: no two metrics have numbers of the same two systems."
    by, system, before, first, after, second = moved
    some = bool(np.isnan(board.values).any())
    if by == 0:
        whom = (
            "the systems that two metrics share have the same order"
            if some
            else "every system has the same place"
        )
        return f"Yes: {whom} under {'both' if some else 'every metric'}."
    among = ", among the systems that have both" if some else ""
    return (
        f"Not fully. {called(board.systems[system])} moves most: place {before} under "
        f"{called(board.metrics[first])}, place {after} under {called(board.metrics[second])}{among}."
    )


def bars(board: Leaderboard, metric: int) -> dict[str, Any]:
    """Return the best systems under one metric as shares of the chart's width, with a scale."""
    place = ranks(board)[:, metric]
    column = board.values[:, metric]
    order = [s for s in np.argsort(np.nan_to_num(place, nan=np.inf), kind="stable") if not np.isnan(place[s])]
    scale = scale_of(float(max(column[s] for s in order[:BARS])))
    top = scale[-1][0] if scale else 1.0
    form = number_format(column)
    rows = [
        {
            "name": board.systems[s], "width": round(100 * max(0.0, float(column[s])) / top, 2),
            "low": None, "high": None, "text": format(column[s], form),
            "first": bool(place[s] == 1) and len(order) > 1, "between": "", "places": "",
            "value": float(column[s]),
        }
        for s in order[:BARS]
    ]  # fmt: skip
    return chart(rows, scale, len(order), board.metrics[metric] in board.lower_is_better(), "best")
