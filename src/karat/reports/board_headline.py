"""The headline of a report on numbers alone: who leads under how many metrics, and how far they agree."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from karat._util import plural, word_for
from karat.reports.boards import board_of, number_format, ranks
from karat.reports.material import Material
from karat.reports.presentation import called, chart, scale_of, short_list, some_of
from karat.scores import Leaderboard

BARS = 8
Move = tuple[int, int, int, int, int, int]
"""By how many places a system moves, which, its place and metric before, its place and metric after."""


def collect(material: Material) -> dict[str, Any]:
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
