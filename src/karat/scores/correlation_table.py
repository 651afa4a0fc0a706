"""The correlation of every pair of metrics over a leaderboard: as a table, in words, in files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from karat.scores.comparison_tables import show_p
from karat.scores.leaderboard import Leaderboard
from karat.scores.phrasing import ends, or_none, signed, with_interval
from karat.scores.tables import MISSING, Layout, markdown_of, text_of
from karat.stats.correlation import Correlation
from karat.validation import check_extension, plural, write_file

SIGNS = {"tau": "τ", "spearman": "ρ", "pearson": "r"}
FULL = {"tau": "Kendall's tau-b", "spearman": "Spearman's rho", "pearson": "Pearson's r"}
SHOWN_PAIRS = 3


@dataclass(frozen=True, eq=False)
class CorrelationTable:
    """The correlation of every pair of metrics, with intervals over systems.

    Parameters
    ----------
    board
        Systems by metrics; where low is good, the sign is changed already.
    method
        "tau", "spearman" or "pearson".
    matrix
        A `Correlation` for every pair, [metrics, metrics].
    turned
        The metrics whose sign was changed.
    notes
        What a reader should know.
    how
        How the intervals were made, as a sentence.
    """

    board: Leaderboard
    method: str
    matrix: np.ndarray
    turned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    how: str = ""

    def pair(self, first: str, second: str) -> Correlation:
        """Return the correlation of two metrics."""
        return self.matrix[self.board.place(first), self.board.place(second)]

    def pairs(self) -> list[tuple[str, str, Correlation]]:
        """Return every pair once, in the order of the metrics."""
        names = self.board.metrics
        return [(names[a], names[b], self.matrix[a, b]) for a, b in combinations(range(len(names)), 2)]

    def records(self) -> list[dict[str, Any]]:
        """Return one record per pair; what is not defined is None."""
        return [
            {"first": first, "second": second, "method": self.method,
             **{key: or_none(getattr(one, key)) for key in ("value", "low", "high", "p")},
             "level": one.level, "interval": one.method, "n": one.n}
            for first, second, one in self.pairs()
        ]  # fmt: skip

    def lay_out(self) -> Layout:
        """Return the matrix; columns go by numbers, so that many fit beside each other."""
        metrics = self.board.metrics
        rows = [
            [str(k + 1), name, *("·" if j == k else signed(one.value) for j, one in enumerate(row))]
            for k, (name, row) in enumerate(zip(metrics, self.matrix))
        ]
        head = ["", SIGNS[self.method], *(str(k + 1) for k in range(len(metrics)))]
        return Layout(head, rows, set(), 2, set())

    def lay_out_pairs(self) -> Layout:
        """Return a row per pair with its interval, the lowest first."""
        level = f"{100 * self.matrix[0, 0].level:g}% interval"
        rows = [
            [first, second, signed(one.value), ends(one.low, one.high),
             MISSING if np.isnan(one.p) else show_p(one.p), str(one.n)]
            for first, second, one in sorted(self.pairs(), key=lambda pair: sort_key(pair[2]))
        ]  # fmt: skip
        return Layout(["metric", "metric", SIGNS[self.method], level, "p", "n"], rows, set(), 2, set())

    def sentences(self) -> list[str]:
        """Return the least and the most alike metrics in words."""
        known = [pair for pair in self.pairs() if not np.isnan(pair[2].value)]
        known.sort(key=lambda pair: pair[2].value)
        least = known[:SHOWN_PAIRS]
        most = [pair for pair in known[::-1][:SHOWN_PAIRS] if pair not in least]
        how = ", and how many pairs of systems change places" if self.method == "tau" else ""
        out = []
        for title, chosen in (("Least alike", least), ("Most alike", most)):
            if chosen:
                out += [f"{title}{how}:", *(f"  {self.sentence(*pair)}" for pair in chosen)]
        return out

    def sentence(self, first: str, second: str, one: Correlation) -> str:
        """Return one pair in words."""
        text = f"{first} and {second}: {SIGNS[self.method]} {with_interval(one)}"
        if self.method != "tau":
            return text
        swapped, comparable = self._swapped(first, second)
        return f"{text}, {swapped:,} of {comparable:,}"

    def _swapped(self, first: str, second: str) -> tuple[int, int]:
        """Return how many pairs of systems the metrics order differently, and how many both know."""
        columns = self.board.values[:, [self.board.place(first), self.board.place(second)]]
        columns = columns[~np.isnan(columns).any(axis=1)]
        both = np.prod([np.sign(np.subtract.outer(column, column)) for column in columns.T], axis=0)
        return int((both < 0).sum()) // 2, len(columns) * (len(columns) - 1) // 2

    @property
    def title(self) -> str:
        """One line on what the table is."""
        metrics, systems = len(self.board.metrics), len(self.board.systems)
        return f"{FULL[self.method]} of {plural(metrics, 'metric')} over {plural(systems, 'system')}"

    def __str__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join(
            [self.title, "", text_of(self.lay_out()), "", *self.sentences(), "", self.how, *notes]
        )

    def __repr__(self) -> str:
        return f"CorrelationTable({self.title})"

    def to_json(self) -> str:
        """Return the records as json."""
        return json.dumps(self.records(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def to_markdown(self) -> str:
        """Return the matrix, the pairs with their intervals, and the notes, in markdown."""
        parts = [f"{self.title}\n", markdown_of(self.lay_out()), markdown_of(self.lay_out_pairs())]
        return "\n".join([*parts, *(f"Note: {note}.\n" for note in self.notes)])

    def save(self, path: str | Path) -> None:
        """Write the table; the extension says how: json, csv (a row per pair) or md."""
        path = Path(path)
        check_extension(path, WRITERS)
        write_file(path, lambda place: WRITERS[path.suffix](self, place))


def sort_key(one: Correlation) -> float:
    """Return the value, what is not defined last."""
    return np.inf if np.isnan(one.value) else one.value


def write_csv(table: CorrelationTable, path: Path) -> None:
    """Write a row per pair."""
    import polars as pl

    pl.DataFrame(table.records(), infer_schema_length=None).write_csv(path)


WRITERS: dict[str, Callable[[CorrelationTable, Path], object]] = {
    ".json": lambda table, path: path.write_text(table.to_json(), encoding="utf-8"),
    ".csv": write_csv,
    ".md": lambda table, path: path.write_text(table.to_markdown(), encoding="utf-8"),
}
