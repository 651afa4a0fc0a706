"""Two metrics against each other, with the systems whose place changes marked (ECCV Caption, figure 4)."""

from __future__ import annotations

from karat.reports.boards import plain_numbers, ranks, shown_board
from karat.reports.columns import ordered_columns
from karat.reports.material import Material
from karat.reports.section import SectionData, section
from karat.scores import FEWEST_SYSTEMS, Leaderboard


@section("scatter", "Two metrics side by side", "Two metrics", order=70)
def collect(material: Material) -> SectionData:
    """Return every system's value and place under every metric; the page chooses the two."""
    board = shown_board(material)
    if board is None or len(board.metrics) < 2 or len(board.systems) < FEWEST_SYSTEMS:
        return None
    place = ranks(board)
    return {
        "systems": list(board.systems),
        "metrics": list(board.metrics),
        "values": [plain_numbers(row) for row in board.values],
        "places": [plain_numbers(row) for row in place],
        "low": board.lower_is_better(),
        "start": starting_axes(material, board),
    }


def starting_axes(material: Material, board: Leaderboard) -> list[int]:
    """Return which metrics are shown first: the main one upwards, the first of other labels across.

    Of numbers alone: the two that order the systems least alike.
    """
    if material.card is not None:
        truth, _, measure = ordered_columns(material.card)[0]
        main = [k for k, name in enumerate(board.metrics) if name in (measure, f"{truth} {measure}")]
        others = [k for k, name in enumerate(board.metrics) if not name.startswith(f"{truth} ")]
        if main and any(k != main[0] for k in others):
            return [next(k for k in others if k != main[0]), main[0]]
        return [0, main[0] if main and main[0] else 1]
    place = ranks(board)
    moved = [(abs(place[:, 0] - place[:, k]).sum(), k) for k in range(1, len(board.metrics))]
    return [0, max((m, k) for m, k in moved if m == m)[1] if any(m == m for m, _ in moved) else 1]
