"""Correlation of metrics over a leaderboard: which order systems alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from karat._util import MISSING, Layout, Part, Result, check_choice, ends, or_none, plural, signed
from karat.errors import InputError
from karat.scores.comparison import show_p
from karat.scores.leaderboard import Leaderboard, as_leaderboard
from karat.stats import (
    COEFFICIENTS,
    FEW,
    FEWEST_OTHER,
    Correlation,
    Intervals,
    correlation_matrix,
    how_intervals,
    with_interval,
)

SYMBOLS = {"tau": "τ", "spearman": "ρ", "pearson": "r"}
FULL = {"tau": "Kendall's tau-b", "spearman": "Spearman's rho", "pearson": "Pearson's r"}
SHOWN_PAIRS = 3
FEWEST_SYSTEMS = 3


@dataclass(frozen=True, eq=False)
class CorrelationTable(Result):
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
    detail
        Whether every pair is shown with its interval, not the matrix alone.
    """

    board: Leaderboard
    method: str
    matrix: np.ndarray
    turned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    how: str = ""
    detail: bool = False

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
             **{key: or_none(getattr(result, key)) for key in ("value", "low", "high", "p")},
             "level": result.level, "interval": result.method, "n": result.n}
            for first, second, result in self.pairs()
        ]  # fmt: skip

    def _matrix(self) -> Layout:
        """Return the matrix; columns go by numbers, so that many fit beside each other."""
        metrics = self.board.metrics
        rows = [
            [str(k + 1), name, *("·" if j == k else signed(result.value) for j, result in enumerate(row))]
            for k, (name, row) in enumerate(zip(metrics, self.matrix))
        ]
        head = ["", SYMBOLS[self.method], *(str(k + 1) for k in range(len(metrics)))]
        return Layout(head, rows, labels=2)

    def _pair_table(self) -> Layout:
        """Return a row per pair with its interval, the lowest first."""
        level = f"{100 * self.matrix[0, 0].level:g}% interval"
        rows = [
            [first, second, signed(result.value), ends(result.low, result.high),
             MISSING if np.isnan(result.p) else show_p(result.p), str(result.n)]
            for first, second, result in sorted(self.pairs(), key=lambda pair: sort_key(pair[2]))
        ]  # fmt: skip
        return Layout(["metric", "metric", SYMBOLS[self.method], level, "p", "n"], rows, labels=2)

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

    def sentence(self, first: str, second: str, result: Correlation) -> str:
        """Return a pair in words."""
        text = f"{first} and {second}: {SYMBOLS[self.method]} {with_interval(result)}"
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

    def parts(self) -> list[Part]:
        """Return the matrix, the pairs where requested, and the least and the most alike metrics in words."""
        pairs = [self._pair_table()] if self.detail else []
        words = self.sentences()
        last = [self.how] if self.how else []
        return [self.title, self._matrix(), *pairs, *(["\n".join(words)] if words else []), *last]

    def __repr__(self) -> str:
        return f"CorrelationTable({self.title})"

    def to_markdown(self) -> str:
        """Return everything in markdown, the pairs with their intervals included."""
        return super().to_markdown() if self.detail else replace(self, detail=True).to_markdown()


def sort_key(result: Correlation) -> float:
    """Return the value, what is not defined last."""
    return np.inf if np.isnan(result.value) else result.value


def correlate(
    source: Any,
    coefficient: str = "tau",
    *,
    metric: Iterable[str] | None = None,
    lower_is_better: Iterable[str] = (),
    intervals: Intervals | None = None,
) -> CorrelationTable:
    """Return how alike every two metrics order the systems of a leaderboard.

    Metrics where low is good change their sign first, so that a positive number always means
    agreement. Two metrics are compared on the systems that have both.

    Parameters
    ----------
    source
        A file (csv, tsv or Parquet whose first column names the system; json that `karat evaluate`
        wrote) or several json files, a `Leaderboard`, or one or several Scorecards.
    coefficient
        "tau" (Kendall's tau-b), "spearman" or "pearson".
    metric
        Which metrics, in this order; all when left out.
    lower_is_better
        Metrics where low is good, beside those whose names say so (MedR, MeanR).
    intervals
        How intervals are made; by default 95%, percentile, 10,000 resamples of the systems.

    Examples
    --------
    >>> board = Leaderboard(("a", "b", "c", "d"), ("R@1", "RP", "MedR"),
    ...                     np.array([[0.2, 0.3, 9.0], [0.3, 0.2, 5], [0.4, 0.4, 4], [0.5, 0.6, 2]]))
    >>> print(correlate(board))
    Kendall's tau-b of 3 metrics over 4 systems
    <BLANKLINE>
       τ        1     2     3
    ─  ────  ────  ────  ────
    1  R@1      ·  0.67  1.00
    2  RP    0.67     ·  0.67
    3  MedR  1.00  0.67     ·
    <BLANKLINE>
    Least alike, and how many pairs of systems change places:
      R@1 and RP: τ 0.67 (no interval), 1 of 6
      RP and MedR: τ 0.67 (no interval), 1 of 6
      R@1 and MedR: τ 1.00 (no interval), 0 of 6
    <BLANKLINE>
    note: low is good for MedR: its sign is changed, so that a positive number means agreement
    note: 4 systems are too few for an interval of a correlation: it needs 10
    """
    coefficient = check_choice(coefficient, tuple(COEFFICIENTS), "coefficient")
    board = as_leaderboard(source)
    if metric is not None:
        board = select_metrics(board, list(metric))
    for name in (low := list(lower_is_better)):
        board.place(name)
    if len(board.systems) < FEWEST_SYSTEMS:
        raise InputError(
            f"the leaderboard has {plural(len(board.systems), 'system')}",
            fix=f"correlation needs {FEWEST_SYSTEMS} or more",
        )
    turned = tuple(name for name in board.metrics if name in {*board.lower_is_better(), *low})
    signs = np.array([-1.0 if name in turned else 1.0 for name in board.metrics])
    board = replace(board, values=board.values * signs)
    options = intervals or Intervals()
    matrix = correlation_matrix(board.values, coefficient, **asdict(options))
    notes = (
        *board.notes,
        *sign_notes(turned),
        *remarks(board, matrix),
        *size_notes(board, coefficient, matrix),
    )
    known = [
        result for row in matrix for result in row if result.method != "itself" and result.low == result.low
    ]
    how = how_intervals(options, "systems") if known else ""
    return CorrelationTable(board, coefficient, matrix, turned, notes, how)


def size_notes(board: Leaderboard, coefficient: str, matrix: np.ndarray) -> list[str]:
    """Return notes on correlations without an interval, and on intervals of few systems."""
    results = [matrix[a, b] for a, b in combinations(range(len(matrix)), 2)]
    few = [result.n for result in results if result.value == result.value and result.n < FEWEST_OTHER]
    sizes = plural(min(few), "system") if few else ""
    notes = [f"{sizes} are too few for an interval of a correlation: it needs {FEWEST_OTHER}"] if few else []
    if any(r.n >= FEWEST_OTHER and r.value == r.value and r.low != r.low for r in results):
        notes.append("where all systems have the same order, every resample says so: there is no interval")
    # Measured: those of tau hold from ten systems on, those of the others only from some thirty.
    if coefficient != "tau" and any(FEWEST_OTHER <= r.n < FEW for r in results):
        notes.append(
            f"fewer than {FEW} systems: intervals of {SYMBOLS[coefficient]} hold less often than they say"
        )
    return notes


def select_metrics(board: Leaderboard, metrics: list[str]) -> Leaderboard:
    """Return a leaderboard of some metrics."""
    columns = {name: board.place(name) for name in metrics}
    if len(columns) < 2:
        raise InputError(plural(len(columns), "metric"), fix="correlation needs two")
    return replace(board, metrics=tuple(columns), values=board.values[:, list(columns.values())])


def sign_notes(turned: tuple[str, ...]) -> list[str]:
    """Return the note on metrics whose sign was changed."""
    if not turned:
        return []
    whose = "its sign is" if len(turned) == 1 else "their signs are"
    return [
        f"low is good for {', '.join(turned)}: {whose} changed, so that a positive number means agreement"
    ]


def remarks(board: Leaderboard, matrix: np.ndarray) -> list[str]:
    """Return notes on missing cells, constant metrics, and metrics correlated negatively with all others."""
    out = []
    missing = int(np.isnan(board.values).sum())
    if missing:
        cells = plural(missing, "cell")
        out.append(f"{cells} without a value: two metrics are compared on the systems that have both")
    values = np.array([[result.value for result in row] for row in matrix])
    np.fill_diagonal(values, np.nan)
    if len(board.metrics) == 2 and values[0, 1] < 0:
        out.append("the metrics are negatively correlated: if low is good for one, pass --lower-is-better")
    for k, name in enumerate(board.metrics):
        if np.isnan(values[k]).all():
            out.append(f"{name} is the same for all systems, or shares too few with the other metrics")
        elif len(board.metrics) > 2 and np.nanmax(values[k]) < 0:
            out.append(
                f"{name} is negatively correlated with all other metrics: "
                "if low is good, pass --lower-is-better"
            )
    return out
