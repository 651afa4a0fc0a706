"""The first screen of a report on numbers alone, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.reports.boards import digits, ranks, short_list
from karat.reports.material import Material
from karat.scores.leaderboard import Leaderboard
from karat.validation import plural

BARS = 8


def collect(material: Material) -> dict[str, Any]:
    """Return who leads under how many metrics, and how far the metrics disagree."""
    board = material.board
    assert board is not None
    place = ranks(board)
    leads = {
        board.systems[s]: int((place[s] == 1).sum())
        for s in np.argsort(-(place == 1).sum(axis=1), kind="stable")
        if (place[s] == 1).any()
    }
    best = next(iter(leads))
    points = [
        (
            "What is shown?",
            f"Published or given numbers of {plural(len(board.systems), 'system')} under "
            f"{plural(len(board.metrics), 'metric')}. The answers behind them are not at hand, so nothing "
            "can be said about chance: no intervals, no tests.",
        ),
        ("Who leads?", leading(leads, len(board.metrics))),
        ("Do the metrics agree?", moving(board, place)),
    ]
    if board.notes:
        points.append(("Please note", f"{'; '.join(board.notes)}."))
    return {
        "finding": sentence(best, leads, len(board.metrics)),
        "points": [{"term": term, "text": text} for term, text in points],
        "tiles": [
            {"number": str(len(board.systems)), "text": "systems"},
            {"number": str(len(board.metrics)), "text": "metrics"},
            {"number": str(len(leads)), "text": "different leaders" if len(leads) > 1 else "leader"},
            {"number": f"{int(spread(place).max())}", "text": "places: the largest change of one system"},
        ],
        "bars": bars(board),
        "chart": board.metrics[0],
    }


def sentence(best: str, leads: dict[str, int], metrics: int) -> str:
    """Return the finding in one sentence."""
    if len(leads) == 1:
        return f"{best} leads under all {metrics} metrics."
    return f"Who is first depends on the metric: {best} leads under {leads[best]} of {metrics}."


def leading(leads: dict[str, int], metrics: int) -> str:
    """Return who leads how often."""
    names = [f"{name} ({number} of {metrics})" for name, number in leads.items()]
    return f"{short_list(names, 5)}."


def spread(place: np.ndarray) -> np.ndarray:
    """Return, per system, how far its places lie apart."""
    known = np.where(
        np.isnan(place), np.nanmin(np.where(np.isnan(place), np.inf, place), axis=1)[:, None], place
    )
    return np.where(np.isfinite(known), known, 0).max(axis=1) - np.where(np.isfinite(known), known, 0).min(
        axis=1
    )


def moving(board: Leaderboard, place: np.ndarray) -> str:
    """Say which system moves most."""
    moved = spread(place)
    s = int(moved.argmax())
    if moved[s] == 0:
        return "Yes: every system has the same place under every metric."
    low, high = int(np.nanargmin(place[s])), int(np.nanargmax(place[s]))
    return (
        f"Not fully. {board.systems[s]} moves most: place {place[s, low]:.0f} under {board.metrics[low]}, "
        f"place {place[s, high]:.0f} under {board.metrics[high]}."
    )


def bars(board: Leaderboard) -> list[dict[str, Any]]:
    """Return the best systems under the first metric."""
    place = ranks(board)[:, 0]
    column = board.values[:, 0]
    order = [s for s in np.argsort(np.nan_to_num(place, nan=np.inf), kind="stable") if not np.isnan(place[s])]
    top = 1.1 * max(float(np.nanmax(column)), 1e-12)
    return [
        {
            "name": board.systems[s], "width": round(max(0.0, 100 * float(column[s]) / top), 2), "low": None,
            "high": None, "text": f"{column[s]:.{digits(column)}f}", "first": place[s] == 1, "between": "",
            "places": "", "value": float(column[s]),
        }
        for s in order[:BARS]
    ]  # fmt: skip
