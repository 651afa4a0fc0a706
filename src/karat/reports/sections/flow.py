"""Rank flow: how the places of systems change from metric to metric (ECCV Caption, figure 5)."""

from __future__ import annotations

import numpy as np

from karat.reports.boards import number_format, plain_numbers, ranks, shown_board, values_and_places
from karat.reports.material import Material
from karat.reports.presentation import Cell, table
from karat.reports.section import SectionData, section


@section("flow", "How places change from metric to metric", "Rank flow", order=50)
def collect(material: Material) -> SectionData:
    """Return the place of every system under every metric."""
    board = shown_board(material)
    if board is None or len(board.systems) < 2:
        return None
    place = ranks(board)
    order = np.argsort(np.nan_to_num(place[:, 0], nan=np.inf), kind="stable").tolist()
    # As the table has them: the plot only says them.
    forms = [number_format(column) for column in board.values.T]
    shown = [[float(format(v, form)) for v, form in zip(row, forms)] for row in board.values]
    rows = [[board.systems[s], *map(place_first, values_and_places(board, place, s))] for s in order]
    return {
        "systems": [board.systems[s] for s in order],
        "metrics": list(board.metrics),
        "places": [plain_numbers(place[s]) for s in order],
        "values": [plain_numbers(np.array(shown[s])) for s in order],
        "table": table(
            "Place of each system under each metric; place 1 has the best value",
            ["System", *board.metrics],
            rows,
        ),
    }


def place_first(cell: Cell) -> Cell:
    """Return a cell with its place above its value, the other way round than in the table of scores.

    The best value has no mark: elsewhere the mark means that a test found no system ahead.

    >>> place_first({"t": "41.2", "s": "place 1", "c": "best"})
    {'t': '1', 's': '41.2'}
    """
    return cell if isinstance(cell, str) else {"t": cell["s"].removeprefix("place "), "s": cell["t"]}
