"""Devices: what computes the tiles of a pass."""

from __future__ import annotations

from typing import Protocol

from karat._util import Registry, import_all
from karat.runs.scan import Partial, TileScores


class Device(Protocol):
    """Adds tiles to a partial result.

    A device may compute in any precision and any order. What makes the result exact and the same everywhere
    is the division of work, of which everything but the fast middle part is there to be used:

    1. Before the pass the exact scores of all judged pairs are computed (`TableRun.pair_scores`); they are
       the thresholds in `RankCounts`.
    2. The device computes the scores of the tile with an error of at most `TileScores.row_error` per row
       (`column_error` per column). For each judged item it adds to `RankCounts.above` what is higher than
       threshold + error, leaves out what is lower than threshold − error, and lists what is between.
    3. What was listed gets its exact scores (`exact_products`), which decide what is higher (`above`), the
       same (`tied`), and earlier in the order among the same (`earlier`). A judged item ties with itself.
    4. For each query in `Shortlists` it finds items that may be among the first k: all whose score reaches
       the k-th highest less twice the error. By their exact scores `Shortlists.add_lists` keeps the first k.

    Counts and lists of one tile may be computed in a `Partial.empty()` and merged later, elsewhere and in
    any order.
    """

    step: tuple[int, int]
    """Rows and columns of a tile at most."""

    @property
    def working(self) -> int:
        """Bytes of main memory that a pass may use besides its result, where nothing else is said."""

    def check(self) -> None:
        """Raise where this machine cannot use it."""

    def add(self, scores: TileScores, partial: Partial, threads: int) -> None:
        """Add all scores of a tile to the counts and lists; `threads` may be ignored."""


DEVICES: Registry[Device] = Registry(
    "device", fill=lambda: import_all("karat.runs.devices"), group="karat.devices"
)
"""By name, as `PassOptions` takes it."""
