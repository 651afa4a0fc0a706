"""A column of scores: one measure of one run on one truth in one direction, and how it is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._util import MISSING, Layout, Mark, Panel, grouped
from karat.benchmarks import asks_first, direction_title, is_direction, same_side
from karat.errors import unknown_name
from karat.measures import Named, is_in_percent, is_share, parse_measure, scale_value, show_value

RECORD = (
    "run", "truth", "direction", "measure", "value", "low", "high", "lower_bound", "upper_bound", "n",
)  # fmt: skip
"""The keys of a record, a contract with other programs."""


@dataclass(frozen=True, eq=False)
class Column:
    """One measure of one run on one truth in one direction.

    Parameters
    ----------
    run, truth, direction, measure
        What it is; `direction` is "mean" or "both" for combinations.
    value
        The aggregate: the mean over folds of the measure's mean or median; None when it has none.
    n
        How many queries it was made of.
    values
        Per query, NaN where undefined; None for combinations.
    query, fold, cluster
        Per query, as indices: of the query, of its fold, of the image that it belongs to.
    low, high
        The interval, where one was requested.
    label_spread
        The standard deviation of the value over drawn versions of the labels, where these were requested.
    lower_bound, upper_bound
        The bounds over everything that unjudged pairs could be, where requested and where they exist.
    parts
        The columns that a combination is made of.
    note
        Why there is no value.
    interval_method
        How the interval was made, where the scorecard's own method would not hold.
    chance, p_chance
        Of choices: what random scores give, and the one-sided p-value of being above it.
    """

    run: str
    truth: str
    direction: str
    measure: Named
    value: float | None
    n: int
    values: np.ndarray | None = None
    query: np.ndarray | None = None
    fold: np.ndarray | None = None
    cluster: np.ndarray | None = None
    low: float | None = None
    high: float | None = None
    lower_bound: float | None = None
    upper_bound: float | None = None
    parts: tuple[Column, ...] = ()
    note: str | None = None
    label_spread: float | None = None
    interval_method: str | None = None
    chance: float | None = None
    p_chance: float | None = None

    @property
    def effective(self) -> int:
        """How many clusters its queries belong to: the captions of one image are not independent."""
        clusters = [
            leaf.cluster[~np.isnan(leaf.values)]
            for leaf in self.parts or (self,)
            if leaf.cluster is not None and leaf.values is not None
        ]
        together = np.concatenate([*clusters, np.zeros(0, np.int64)])
        # Counted, not sorted: a report asks this of every column.
        return int(np.count_nonzero(np.bincount(together - together.min()))) if len(together) else 0

    def record(self) -> dict[str, Any]:
        """Return the contract's record; values are fractions, ranks are ranks."""
        keys = RECORD if self.chance is None else (*RECORD, "chance", "p_chance")
        return {key: str(self.measure) if key == "measure" else getattr(self, key) for key in keys}


NOT_ABOVE = 0.05
"""The p-value above which a score is not shown to be above chance."""


def directions_among(columns: Iterable[Any]) -> list[str]:
    """Return the directions of columns, or of whatever has one, in the order in which tables have them.

    >>> from types import SimpleNamespace
    >>> directions_among(SimpleNamespace(direction=name) for name in ("both", "mean", "t2i", "i2t", "t2i"))
    ['i2t', 't2i', 'mean', 'both']
    """

    def place(direction: str) -> int:
        if not is_direction(direction):
            return 3 + (direction == "both")
        return 2 if same_side(direction) else 1 - asks_first(direction)

    return sorted({column.direction for column in columns}, key=place)


def show_cell(column: Column | None) -> str:
    """Return a column's value with its interval and bounds where it has them."""
    if column is None:
        return ""
    text = show_value(column.measure, column.value)
    return " ".join(filter(None, [text, *show_ends(column)]))


def show_ends(column: Column) -> tuple[str, str]:
    """Return a column's interval in parentheses and its bounds in brackets; nothing where it has none."""
    interval, bounds = show_interval(column), ""
    if column.lower_bound is not None and column.upper_bound is not None:
        ends = (show_value(column.measure, end) for end in (column.lower_bound, column.upper_bound))
        bounds = f"[{', '.join(ends)}]"
    return f"({interval})" if interval else "", bounds


def show_interval(column: Column) -> str:
    """Return the ends of a column's interval; nothing where it has none."""
    if column.low is None or column.high is None:
        return ""
    return f"{show_value(column.measure, column.low)}–{show_value(column.measure, column.high)}"


def show_beside_chance(column: Column | None) -> str:
    """Return a column's cell, with a mark where it is not shown to be above chance."""
    unsure = column is not None and column.p_chance is not None and column.p_chance > NOT_ABOVE
    return show_cell(column) + (" °" if unsure else "")


def fractions(column: Column) -> str:
    """Return a column's value in four digits with its interval; ranks are as they are."""
    if column.value is None or not is_in_percent(column.measure):
        return show_cell(column)
    text = f"{column.value:.4f}"
    if column.low is not None and column.high is not None:
        text += f" ({column.low:.4f}–{column.high:.4f})"
    if column.lower_bound is not None and column.upper_bound is not None:
        text += f" [{column.lower_bound:.4f}, {column.upper_bound:.4f}]"
    return text


def arrange(
    head: list[str],
    lines: Sequence[tuple[tuple[str, ...], list[Column | None]]],
    best: Collection[tuple[int, int]] = (),
) -> Layout:
    """Turn labelled lines of columns into text."""
    return grouped(head, [(labels, [show_cell(column) for column in line]) for labels, line in lines], best)


def best_cells(lines: Sequence[tuple[tuple[str, ...], list[Column | None]]]) -> set[tuple[int, int]]:
    """Return the position of the best value of each line, and of those that are printed the same.

    >>> measure = parse_measure("MeanR")
    >>> line = [Column("A", "own", "i2t", measure, rank, 10) for rank in (3.141, 3.144, 3.15)]
    >>> sorted(best_cells([(("own",), line)]))
    [(0, 1), (0, 2)]
    """
    best: set[tuple[int, int]] = set()
    for row, (labels, line) in enumerate(lines):
        known = {k: (c.measure, c.value) for k, c in enumerate(line) if c is not None and c.value is not None}
        if known:
            low_is_good = any(measure.better == "low" for measure, _ in known.values())
            top = (min if low_is_good else max)(known.values(), key=lambda cell: cell[1])
            best |= {
                (row, len(labels) + k) for k, cell in known.items() if show_value(*cell) == show_value(*top)
            }
    return best


def paper_table(
    columns: Sequence[Column],
    runs: Sequence[str],
    intervals: bool,
    first: Collection[tuple[str, str, str, str]],
) -> Layout:
    """Arrange the columns of one truth, direction by direction; see `paper_tables`."""
    # What is printed side by side: per direction and measure, the column of each run.
    beside: dict[tuple[str, str], dict[str, Column]] = {}
    for c in columns:
        beside.setdefault((c.direction, str(c.measure)), {})[c.run] = c
    tops = best_cells([((), list(map(own.get, runs))) for own in beside.values()]) if len(runs) > 1 else ()
    rows: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    underlined: set[tuple[int, int]] = set()
    small: set[int] = set()
    for r, run in enumerate(runs):
        line = [own.get(run) for own in beside.values()]
        for k, column in enumerate(line):
            if (k, r) in tops:
                best.add((len(rows), k + 1))
            elif column and (column.truth, column.direction, str(column.measure), run) in first:
                underlined.add((len(rows), k + 1))
        rows.append([run, *(show_value(c.measure, c.value) if c else MISSING for c in line)])
        below = rows_below(line, intervals)
        small |= {len(rows) + k for k in range(len(below))}
        rows += below
    return Layout(
        paper_heads(columns, beside), rows, best=best, groups=paper_groups(beside), underlined=underlined,
        small=small,
    )  # fmt: skip


def rows_below(line: Sequence[Column | None], intervals: bool) -> list[list[str]]:
    """Return the rows below the values of a run: of their intervals, where wanted, and of their bounds."""
    ends = [show_ends(column) if column else ("", "") for column in line]
    return [["", *below] for below in list(zip(*ends))[0 if intervals else 1 :] if any(below)]


def paper_heads(columns: Sequence[Column], beside: Iterable[tuple[str, str]]) -> list[str]:
    """Return the heads of a table of papers: ↓ where low is good."""
    low = {(c.direction, str(c.measure)) for c in columns if c.measure.better == "low"}
    return ["Model", *(f"{key[1]} ↓" if key in low else key[1] for key in beside)]


def paper_groups(beside: Iterable[tuple[str, str]]) -> list[tuple[str, int]]:
    """Return the heads above the heads: directions, each with how many columns it has."""
    spans = Counter(direction for direction, _ in beside)
    # What is made of both directions, such as RSUM, stands alone.
    return [("" if d == "both" else direction_title(d), span) for d, span in spans.items()]


def row_share(line: Sequence[Column | None]) -> float | None:
    """Return what sums a row up: the mean of both directions, or the only one there is; None of ranks."""
    shares = [c.value for c in line if c is not None and c.value is not None and is_share(c.measure)]
    return shares[-1] if shares else None


UNITS = {"fraction": "percent", "sum": "sum of percentages", "rank": "rank, low is good"}
"""The titles of axes."""


NARROW = "choose with measure=, truth= and direction="


def choose(
    columns: Sequence[Any],
    measure: Iterable[str] | str | None,
    truth: Iterable[str] | str | None,
    direction: Iterable[str] | str | None,
) -> list[Any]:
    """Return the columns, or whatever has these three, that are of the given names; None is all."""
    chosen = list(columns)
    for key, names in (("measure", measure), ("truth", truth), ("direction", direction)):
        if names is None:
            continue
        known = dict.fromkeys(str(getattr(column, key)) for column in columns)
        wanted = [names] if isinstance(names, str) else [str(name) for name in names]
        wanted = [str(parse_measure(name)) for name in wanted] if key == "measure" else wanted
        for name in wanted:
            if name not in known:
                raise unknown_name(key, name, known)
        chosen = [column for column in chosen if str(getattr(column, key)) in wanted]
    return chosen


def by_measure(columns: Sequence[Column]) -> list[Panel]:
    """Return a panel for each truth and unit: measures as rows, directions as series."""
    groups: dict[tuple[str, str], list[Mark]] = {}
    for column in columns:
        mark = mark_of(column, str(column.measure), direction_title(column.direction))
        groups.setdefault((column.truth, UNITS[column.measure.unit]), []).append(mark)
    return [Panel(truth, unit, marks) for (truth, unit), marks in groups.items()]


def by_run(columns: Sequence[Column]) -> list[Panel]:
    """Return a panel for each truth, measure and direction: runs as rows, best first."""
    groups: dict[tuple[str, str, str], list[Column]] = {}
    for column in columns:
        groups.setdefault((column.truth, str(column.measure), column.direction), []).append(column)
    panels = []
    for key, own in groups.items():
        sign = 1 if own[0].measure.better == "low" else -1
        own.sort(key=lambda column: sign * (column.value or 0))
        panels.append(Panel(panel_title(*key), UNITS[own[0].measure.unit], [mark_of(c, c.run) for c in own]))
    return panels


def panel_title(truth: str, measure: str, direction: str) -> str:
    """Return what a panel shows."""
    return f"{measure} on {truth}, {direction_title(direction)}"


def mark_of(column: Column, row: str, series: str = "", filled: bool = True, more: str = "") -> Mark:
    """Return a column's value and interval as they are drawn; `more` is shown with the numbers."""
    value, low, high = (
        None if end is None else scale_value(column.measure, end)
        for end in (column.value, column.low, column.high)
    )
    assert value is not None
    return Mark(row, value, low, high, show_cell(column) + more, series, filled)
