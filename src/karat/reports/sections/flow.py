"""Rank flow: how the places of systems change from metric to metric (ECCV Caption, figure 5)."""

from __future__ import annotations

import numpy as np

from karat.reports.boards import ranks, shown_board, values_and_places, whole, written
from karat.reports.material import Material
from karat.reports.section import Found, section
from karat.reports.views import Cell, table


@section("flow", "How places change from metric to metric", "Rank flow", order=50)
def collect(material: Material) -> Found:
    """Return the place of every system under every metric."""
    board = shown_board(material)
    if board is None or len(board.systems) < 2:
        return None
    place = ranks(board)
    order = np.argsort(np.nan_to_num(place[:, 0], nan=np.inf), kind="stable").tolist()
    # As the table has them: the plot only says them.
    forms = [written(column) for column in board.values.T]
    shown = [[float(format(v, form)) for v, form in zip(row, forms)] for row in board.values]
    rows = [[board.systems[s], *map(place_first, values_and_places(board, place, s))] for s in order]
    return {
        "systems": [board.systems[s] for s in order],
        "metrics": list(board.metrics),
        "places": [whole(place[s]) for s in order],
        "values": [whole(np.array(shown[s])) for s in order],
        "table": table(
            "Place of each system under each metric; place 1 has the best value",
            ["System", *board.metrics],
            rows,
        ),
    }


def place_first(one: Cell) -> Cell:
    """Return a cell with its place above its value, the other way round than in the table of scores.

    The best value has no mark: elsewhere the mark means that a test found nobody ahead.

    >>> place_first({"t": "41.2", "s": "place 1", "c": "first"})
    {'t': '1', 's': '41.2'}
    """
    return one if isinstance(one, str) else {"t": one["s"].removeprefix("place "), "s": one["t"]}
