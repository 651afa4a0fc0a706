"""Answers without a task: imported ones, those of machines, and decisions."""

from __future__ import annotations

import numpy as np

COLUMNS = {
    "row": np.int64,
    "worker": np.int64,
    "pair": np.int64,
    "coded": bool,
    "at": float,
    "seconds": float,
}


class Loose:
    """Answers without a task; the last of each worker and pair counts, unless it was taken back."""

    def __init__(self) -> None:
        self.columns = {name: np.zeros(0, dtype) for name, dtype in COLUMNS.items()}
        self._kept: np.ndarray | None = None

    def add(self, **columns: np.ndarray) -> None:
        """Add rows, in the order in which they were written; those that are there already do nothing."""
        new = ~np.isin(columns["row"], self.columns["row"][-len(columns["row"]) * 4 :])
        if not new.any():
            return
        both = {name: np.concatenate([self.columns[name], columns[name][new]]) for name in COLUMNS}
        order = np.argsort(both["row"], kind="stable")
        self.columns = {name: column[order] for name, column in both.items()}
        self._kept = None

    def kept(self) -> dict[str, np.ndarray]:
        """Return the columns of the rows that count."""
        if self._kept is None:
            worker, pair = self.columns["worker"], self.columns["pair"]
            order = np.lexsort((pair, worker))
            same = (np.diff(worker[order]) == 0) & (np.diff(pair[order]) == 0)
            last = order[np.append(~same, True)[: len(order)]]
            self._kept = np.sort(last[self.columns["coded"][last]])
        return {name: column[self._kept] for name, column in self.columns.items()}
