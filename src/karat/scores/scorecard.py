"""A Scorecard: values per query for every run, truth, direction and measure, and their aggregates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import Layout, Part, Result, check_extension, grouped, write_file
from karat.benchmarks import Benchmark, Direction
from karat.errors import InputError, unknown_name
from karat.measures import Combined, Named, Semantic, in_percent, is_share, parse_measure, show_value
from karat.stats import Estimate, Intervals

if TYPE_CHECKING:
    import polars as pl


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
        return {key: str(self.measure) if key == "measure" else getattr(self, key) for key in RECORD}


@dataclass(frozen=True)
class TieReport:
    """How many queries have a relevant item that ties with another item, and what it can change.

    Parameters
    ----------
    run, truth, direction
        Where.
    tied_queries, queries
        How many queries are affected, and of how many.
    largest
        The most items that share one score with a relevant item, itself included.
    range
        Per measure, the value under the pessimistic and the optimistic policy.
    """

    run: str
    truth: str
    direction: str
    tied_queries: int
    queries: int
    largest: int
    range: dict[str, tuple[float, float]]


READING = {
    "misses": "unjudged pairs count as misses",
    "left_out": "unjudged pairs are left out",
    "bounds": "unjudged pairs count as misses, [bounds] say what they could change",
}


@dataclass(frozen=True, eq=False)
class Details:
    """What a report shows of every query besides its scores, from the same pass over the runs.

    Parameters
    ----------
    places
        MeanR, whose values per query are the place of the first relevant item, and Judged@10: for truths that
        list their pairs, with ties fixed and unjudged pairs as misses.
    first
        Per run and direction, the item that each query of the benchmark ranks first; one past the last item
        where a list is empty.
    sources
        Per run, the file it was read from (None for one given in memory), and its kind.
    """

    places: Scorecard
    first: Mapping[str, Mapping[Direction, np.ndarray]]
    sources: Mapping[str, tuple[str | None, str]]


@dataclass(frozen=True, eq=False)
class Scorecard(Result):
    """Every column of an evaluation, with the choices that were made.

    Parameters
    ----------
    columns
        In the order in which they were requested.
    benchmark
        What was asked.
    ties, unjudged
        The tie policy, and the reading of unjudged pairs.
    tie_reports
        Where ties occurred.
    notes
        What a reader should know.
    intervals
        How the intervals were made; None when there are none.
    details
        What a report shows of every query, where requested.
    label_versions
        How many versions of uncertain labels the intervals are made of; 0 for the labels as they are.

    Examples
    --------
    >>> import karat
    >>> from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
    >>> own = Judgments([0, 0, 1, 1], [0, 1, 2, 3], sources=[Provenance("original")])
    >>> truth = Truth("own", own, {"i2t": np.arange(2), "t2i": np.arange(4)})
    >>> bench = Benchmark("tiny", Ids([7, 8], kind="image"), Ids(range(4), kind="caption"), {"own": truth})
    >>> scores = np.array([[0.9, 0.2, 0.8, 0.1], [0.3, 0.4, 0.5, 0.7]])
    >>> card = karat.evaluate(karat.load_run(scores, name="mine"), bench, ["R@1", "MedR"])
    >>> print(card)
    truth  measure  image→text  text→image   mean
    ─────  ───────  ──────────  ──────────  ─────
    own    R@1          100.00       50.00  75.00
           MedR              1         1.5   1.25
    <BLANKLINE>
    Values in percent, ranks as they are; unjudged pairs count as misses; ties are pessimistic.
    >>> card.value("R@1", direction="t2i")
    0.5
    """

    columns: Sequence[Column]
    benchmark: Benchmark
    ties: str = "pessimistic"
    unjudged: str = "misses"
    tie_reports: Sequence[TieReport] = ()
    notes: Sequence[str] = ()
    intervals: Intervals | None = None
    details: Details | None = None
    label_versions: int = 0
    _index: dict[tuple[str, str, str, str], Column] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for column in self.columns:
            self._index[(column.run, column.truth, column.direction, str(column.measure))] = column

    @property
    def runs(self) -> list[str]:
        """The runs' names."""
        return list(dict.fromkeys(column.run for column in self.columns))

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def column(
        self, measure: str, *, truth: str | None = None, direction: str = "mean", run: str | None = None
    ) -> Column:
        """Return one column; `truth` and `run` may be left out where there is only one."""
        run = self._only("run", run, self.runs)
        truth = self._only("truth", truth, list(dict.fromkeys(column.truth for column in self.columns)))
        named = parse_measure(measure)
        if direction == "mean" and isinstance(named, Combined):
            direction = named.direction
        key = (run, truth, direction, str(named))
        if key not in self._index:
            known = [f"{m} {d}" for r, t, d, m in self._index if (r, t) == (run, truth)]
            raise unknown_name("column", f"{measure} {direction}", known, owner=f"{run} on {truth}")
        return self._index[key]

    @staticmethod
    def _only(kind: str, name: str | None, known: list[str]) -> str:
        if name is not None:
            return name
        if len(known) != 1:
            raise InputError(f"the scorecard has {len(known)} {kind}s", fix=f"say which: {', '.join(known)}")
        return known[0]

    def value(
        self, measure: str, *, truth: str | None = None, direction: str = "mean", run: str | None = None
    ) -> float | None:
        """Return one aggregate; see `column`."""
        return self.column(measure, truth=truth, direction=direction, run=run).value

    def estimate(
        self, measure: str, *, truth: str | None = None, direction: str = "mean", run: str | None = None
    ) -> Estimate:
        """Return one aggregate with its interval; see `column`."""
        column = self.column(measure, truth=truth, direction=direction, run=run)
        if self.intervals is None:
            raise InputError("the scorecard has no intervals", fix="evaluate with intervals=True")
        if column.value is None or column.low is None or column.high is None:
            raise InputError(f"{measure} has no interval", fix=column.note)
        options = self.intervals
        return Estimate(
            column.value, column.low, column.high, options.level, options.shown, column.n, column.effective
        )

    def records(self) -> list[dict[str, Any]]:
        """Return one record per column; the keys are `RECORD`."""
        return [column.record() for column in self.columns]

    def per_query(self) -> pl.DataFrame:
        """Return one row per query and column: the query's id, its fold, and the image it belongs to.

        Ids are text where images and captions have ids of different kinds.
        """
        import polars as pl

        images, captions = self.benchmark.images.values, self.benchmark.captions.values
        if images.dtype.kind != captions.dtype.kind:
            images, captions = images.astype(str), captions.astype(str)
        frames = []
        for column in self.columns:
            if column.values is None or column.query is None or column.cluster is None:
                continue
            truth = self.benchmark.truth(column.truth)
            folds = np.array([fold.name for fold in truth.folds] or [""])
            frames.append(
                pl.DataFrame(
                    {
                        "run": np.full(len(column.query), column.run),
                        "truth": np.full(len(column.query), column.truth),
                        "direction": np.full(len(column.query), column.direction),
                        "measure": np.full(len(column.query), str(column.measure)),
                        "query": (images if column.direction == "i2t" else captions)[column.query],
                        "fold": folds[column.fold],
                        "cluster": self.benchmark.cluster_names(column.cluster),
                        "value": column.values,
                    }
                )
            )
        if not frames:
            raise InputError(
                "no column has values per query", fix="ask for a measure other than a combination"
            )
        return pl.concat(frames)

    def parts(self) -> list[Part]:
        """Return the table, and how to read it."""
        return [lay_out(self), reading(self)]

    def __repr__(self) -> str:
        return f"Scorecard({len(self.columns)} columns of {', '.join(self.runs)} on {self.benchmark.name})"

    def save(self, path: str | Path, per_query: bool = False) -> None:
        """Write the scorecard; the extension says how: json, csv, parquet, md, tex or html.

        Parameters
        ----------
        path
            Where to.
        per_query
            Write one row per query instead of one per column (csv and parquet).
        """
        if not per_query:
            super().save(path)
            return
        path = Path(path)
        check_extension(path, (".csv", ".parquet"))
        frame = self.per_query()
        write_file(path, frame.write_csv if path.suffix == ".csv" else frame.write_parquet)


DIRECTION_TITLES = {"i2t": "image→text", "t2i": "text→image", "mean": "mean", "both": "both"}


def show_cell(column: Column | None) -> str:
    """Return a column's value with its interval and bounds where it has them."""
    if column is None:
        return ""
    text = show_value(column.measure, column.value)
    if column.low is not None and column.high is not None:
        text += f" ({show_value(column.measure, column.low)}–{show_value(column.measure, column.high)})"
    if column.lower_bound is not None and column.upper_bound is not None:
        ends = (show_value(column.measure, end) for end in (column.lower_bound, column.upper_bound))
        text += f" [{', '.join(ends)}]"
    return text


def lay_out(card: Scorecard) -> Layout:
    """Arrange a scorecard: directions side by side for one run, runs side by side for several."""
    cells = {(c.run, c.truth, str(c.measure), c.direction): c for c in card.columns}
    names = dict.fromkeys((c.truth, str(c.measure)) for c in card.columns)
    directions = [d for d in DIRECTION_TITLES if any(c.direction == d for c in card.columns)]
    lines: list[tuple[tuple[str, ...], list[Column | None]]] = []
    if len(card.runs) == 1:
        for name in names:
            lines.append((name, [cells.get((card.runs[0], *name, direction)) for direction in directions]))
        head = ["truth", "measure", *(DIRECTION_TITLES[d] for d in directions)]
        return replace(arrange(head, lines), shares=[row_share(line) for _, line in lines])
    for name in names:
        for direction in directions:
            line = [cells.get((run, *name, direction)) for run in card.runs]
            if any(line):
                lines.append(((*name, DIRECTION_TITLES[direction]), line))
    return arrange(["truth", "measure", "direction", *card.runs], lines, best_cells(lines))


def arrange(
    head: list[str],
    lines: Sequence[tuple[tuple[str, ...], list[Column | None]]],
    best: Collection[tuple[int, int]] = (),
) -> Layout:
    """Turn labelled lines of columns into text."""
    return grouped(head, [(labels, [show_cell(column) for column in line]) for labels, line in lines], best)


def best_cells(lines: Sequence[tuple[tuple[str, ...], list[Column | None]]]) -> set[tuple[int, int]]:
    """Return the position of the best value of each line."""
    best: set[tuple[int, int]] = set()
    for row, (labels, line) in enumerate(lines):
        known = {k: c.value for k, c in enumerate(line) if c is not None and c.value is not None}
        if known:
            low_is_good = any(c is not None and c.measure.better == "low" for c in line)
            top = min(known.values()) if low_is_good else max(known.values())
            best |= {(row, len(labels) + k) for k, value in known.items() if value == top}
    return best


def row_share(line: Sequence[Column | None]) -> float | None:
    """Return what sums a row up: the mean of both directions, or the only one there is; None of ranks."""
    shares = [c.value for c in line if c is not None and c.value is not None and is_share(c.measure)]
    return shares[-1] if shares else None


def reading(card: Scorecard) -> str:
    """Say how the values are to be read, and how the intervals were made."""
    percent = [in_percent(column.measure) for column in card]
    unit = "Values in percent" if any(percent) else "Values are ranks"
    if any(percent) and not all(percent):
        unit += ", ranks as they are"
    # By meaning, every pair has its value: nothing is unjudged.
    by_labels = any(not isinstance(leaf.measure, Semantic) for c in card for leaf in c.parts or (c,))
    unjudged = [READING[card.unjudged]] if by_labels else []
    lines = ["; ".join([unit, *unjudged, f"ties are {card.ties}."])]
    if card.intervals is not None:
        made = card.intervals
        lines.append(
            f"In parentheses {100 * made.level:g}% {made.shown} intervals from {made.resamples:,} resamples "
            f"of {units_drawn(card)}{labels_drawn(card)}."
        )
    return "\n".join(lines)


def ungrouped_notes(card: Scorecard) -> list[str]:
    """Return the note on captions that are drawn one by one, since it is unknown which share an image."""
    of_captions = any(column.direction != "i2t" for column in card if column.value is not None)
    if not of_captions or card.benchmark.caption_image is not None:
        return []
    return [
        f"{card.benchmark.name} does not say which captions share an image: each is drawn by itself, "
        "and intervals and p-values of text→image are too small if some do"
    ]


def labels_drawn(card: Scorecard) -> str:
    """Say that labels are drawn too, where they are; continues what `units_drawn` says."""
    return f", and {card.label_versions:,} draws of uncertain labels" if card.label_versions else ""


def units_drawn(card: Scorecard) -> str:
    """Say what is resampled."""
    return "queries" if ungrouped_notes(card) else "images with their captions"
