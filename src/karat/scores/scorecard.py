"""A Scorecard: values per query for every run, truth, direction and measure, and their aggregates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._util import (
    Layout,
    Part,
    Registry,
    Result,
    check_choice,
    check_extension,
    forest,
    grouped,
    guard_table,
    import_later,
    json_text,
    latex_text,
    pandas_of,
    stream_of,
    write_file,
    write_text,
)
from karat.benchmarks import Benchmark, Direction, Side, direction_title, is_direction
from karat.errors import InputError, unknown_name
from karat.measures import (
    Combined,
    Semantic,
    is_in_percent,
    parse_measure,
    show_value,
    trec_eval_name,
)
from karat.runs import Fingerprint, made_with_of_runs
from karat.scores.column import (
    NARROW,
    NOT_ABOVE,
    Column,
    arrange,
    best_cells,
    by_measure,
    by_run,
    choose,
    directions_among,
    fractions,
    paper_table,
    row_share,
    show_beside_chance,
)
from karat.scores.trec_eval import Like, like_in_words
from karat.stats import Estimate, Intervals

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    import polars as pl


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


EXCHANGES: Registry[Callable[[Any, Path], object]] = Registry(
    "format of other programs", fill=lambda: import_later("exchange")
)
"""By the ending of a file's name, what writes a scorecard for other programs."""

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
    like
        The tool whose conventions were followed; None for karat's own.
    made_with
        By run, what it was made with, where its file says so.

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
    like: Like | None = None
    made_with: Mapping[str, Fingerprint] = field(default_factory=dict)
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
        elif is_direction(direction) and self.benchmark.choices is None:
            direction = self.benchmark.direction(direction)
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
        method = column.interval_method or self.intervals.shown
        ends = column.low, column.high, self.intervals.level
        return Estimate(column.value, *ends, method, column.n, column.effective)

    def records(self) -> list[dict[str, Any]]:
        """Return one record per column; the keys are `RECORD`."""
        return [column.record() for column in self.columns]

    def per_query(self) -> pl.DataFrame:
        """Return one row per query and column: the query's id, its fold, and the group it belongs to.

        Ids are text where the sides have ids of different kinds.
        """
        import polars as pl

        choices = self.benchmark.choices
        mixed = len({ids.values.dtype.kind for ids in self.benchmark.ids}) > 1
        frames = []
        for column in self.columns:
            if column.values is None or column.query is None or column.cluster is None:
                continue
            if choices is None:
                queries = self.benchmark.queries(column.direction).values
                queries = queries.astype(str) if mixed else queries
                folds = np.array([fold.name for fold in self.benchmark.truth(column.truth).folds] or [""])
            else:
                queries, folds = choices.examples, np.array([""])
            frames.append(
                pl.DataFrame(
                    {
                        "run": np.full(len(column.query), column.run),
                        "truth": np.full(len(column.query), column.truth),
                        "direction": np.full(len(column.query), column.direction),
                        "measure": np.full(len(column.query), str(column.measure)),
                        "query": queries[column.query],
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

    def to_pandas(self, per_query: bool = False) -> pd.DataFrame:
        """Return the records, or one row per query and column, as a pandas table."""
        return pandas_of(self.per_query()) if per_query else super().to_pandas()

    def plot(
        self,
        measure: Iterable[str] | str | None = None,
        *,
        truth: Iterable[str] | str | None = None,
        direction: Iterable[str] | str | None = None,
    ) -> go.Figure:
        """Return a plotly figure of the scores with their intervals.

        One run has a panel for each truth, with its measures as rows and its directions as colours; several
        runs have a panel for each column, best first.

        Parameters
        ----------
        measure, truth, direction
            One or several; all by default, of several runs what combines both directions.
        """
        columns = [c for c in choose(self.columns, measure, truth, direction) if c.value is not None]
        if not columns:
            raise InputError("no column has a value to draw", fix="print the scorecard to see why")
        combined = [c for c in columns if c.direction in ("mean", "both")]
        # A run of one direction has nothing that combines both.
        if len(self.runs) > 1 and direction is None and {c.run for c in combined} == {c.run for c in columns}:
            columns = combined
        panels = by_measure(columns) if len(self.runs) == 1 else by_run(columns)
        heading = f"{self.runs[0]} on {self.benchmark.name}" if len(self.runs) == 1 else self.benchmark.name
        return forest(panels, heading, lines_are(self), NARROW)

    def parts(self) -> list[Part]:
        """Return the table, and how to read it."""
        if self.benchmark.choices is not None:
            return [lay_out_choices(self), reading(self)]
        return [lay_out(self) if self.like is None else lay_out_like(self), reading(self)]

    def to_latex(self, direction: Iterable[str] | str | None = None, intervals: bool = True) -> str:
        r"""Return a table per truth in LaTeX as papers print it: a row per run, a column per measure.

        For the package booktabs. The best value of each column is bold; how to read the values, and the
        notes, are comments.

        Parameters
        ----------
        direction
            The groups of columns: of directions, "mean" and "both", which holds sums such as RSUM; all that
            there are by default.
        intervals
            Whether intervals, where there are some, are printed below the values.
        """
        shown = self if intervals else replace(self, intervals=None)
        return latex_text([*paper_tables(self, direction, intervals), reading(shown)], self.notes)

    def __repr__(self) -> str:
        return f"Scorecard({len(self.columns)} columns of {', '.join(self.runs)} on {self.benchmark.name})"

    @classmethod
    def check_path(cls, path: str | Path | None) -> None:
        """Raise before the work starts when `save` could not write a file with this extension."""
        if path is None or exchange_ending(path) is None:
            super().check_path(path)

    def save_json(self, path: Path) -> None:
        """Write the records, and beside the file what the runs were made with, which records do not say."""
        super().save_json(path)
        beside = made_with_of_runs(path)
        if stream_of(path) is None and path.is_file() and (self.made_with or beside.exists()):
            facts = {run: dict(made.facts) for run, made in self.made_with.items()}
            write_file(beside, lambda draft: write_text(draft, json_text(facts)))

    def save(self, path: str | Path, per_query: bool = False) -> None:
        """Write the scorecard; the extension says how: json, csv, parquet, md, tex or html.

        A name that ends in .eee.json is a record of Every Eval Ever, one in .yaml the model-index of a model
        card; of several runs each has its own file, with its name before this ending.

        Parameters
        ----------
        path
            Where to.
        per_query
            Write one row per query instead of one per column (csv and parquet).
        """
        path = Path(path)
        ending = exchange_ending(path)
        if not per_query and ending is not None:
            EXCHANGES[ending](self, path)
            return
        if not per_query:
            super().save(path)
            return
        check_extension(path, (".csv", ".parquet"))
        frame = self.per_query()
        write_file(path, guard_table(frame).write_csv if path.suffix == ".csv" else frame.write_parquet)


def exchange_ending(path: str | Path) -> str | None:
    """Return the ending of a file for other programs; None for any other file.

    >>> exchange_ending("scores.eee.json"), exchange_ending("scores.json")
    ('.eee.json', None)
    """
    return next((ending for ending in EXCHANGES if str(path).endswith(ending)), None)


def lay_out(card: Scorecard) -> Layout:
    """Arrange a scorecard: directions side by side for one run, runs side by side for several."""
    cells = {(c.run, c.truth, str(c.measure), c.direction): c for c in card.columns}
    names = dict.fromkeys((c.truth, str(c.measure)) for c in card.columns)
    directions = directions_among(card)
    lines: list[tuple[tuple[str, ...], list[Column | None]]] = []
    if len(card.runs) == 1:
        for name in names:
            lines.append((name, [cells.get((card.runs[0], *name, direction)) for direction in directions]))
        head = ["truth", "measure", *(direction_title(d) for d in directions)]
        return replace(arrange(head, lines), shares=[row_share(line) for _, line in lines])
    for name in names:
        for direction in directions:
            line = [cells.get((run, *name, direction)) for run in card.runs]
            if any(line):
                lines.append(((*name, direction_title(direction)), line))
    return arrange(["truth", "measure", "direction", *card.runs], lines, best_cells(lines))


def lay_out_choices(card: Scorecard) -> Layout:
    """Arrange the scores of choices: a row per truth and measure, its chance level, and a column per run."""
    lines: dict[tuple[str, str], dict[str, Column]] = {}
    for column in card:
        lines.setdefault((column.truth, str(column.measure)), {})[column.run] = column
    rows = []
    for labels, own in lines.items():
        known = [column for column in own.values() if column.value is not None] or list(own.values())
        chance = show_value(known[0].measure, known[0].chance)
        cells = [show_beside_chance(own.get(run)) for run in card.runs]
        rows.append((labels, [f"{known[0].n:,}", chance, *cells]))
    return grouped(["truth", "measure", "n", "chance", *card.runs], rows)


def lay_out_like(card: Scorecard) -> Layout:
    """Arrange a scorecard as trec_eval prints it, a column per run: its names, "all", fractions of 1."""
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    truths, directions = ({getattr(column, name) for column in card} for name in ("truth", "direction"))
    for column in card:
        name = trec_eval_name(getattr(column.measure, "measure", column.measure))
        queries = "all" if len(directions) == 1 else column.direction
        labels = (name, *[column.truth] * (len(truths) > 1), queries)
        lines.setdefault(labels, {})[column.run] = fractions(column)
    head = ["measure", *["truth"] * (len(truths) > 1), "queries", *card.runs]
    rows = [[*labels, *(cells.get(run, "") for run in card.runs)] for labels, cells in lines.items()]
    return Layout(head, rows, labels=len(head) - len(card.runs))


def paper_tables(
    card: Scorecard,
    direction: Iterable[str] | str | None = None,
    intervals: bool = True,
    first: Collection[tuple[str, str, str, str]] = (),
) -> list[Layout]:
    """Arrange a scorecard as papers do, a table per truth: a row per run, a column per measure.

    Parameters
    ----------
    card, direction, intervals
        See `Scorecard.to_latex`.
    first
        The values that no other is shown to beat, as truth, direction, measure and run: they are underlined.
    """
    known = directions_among(card)
    chosen = [direction] if isinstance(direction, str) else list(direction or known)
    for name in chosen:
        check_choice(name, known, "direction")
    truths = list(dict.fromkeys(column.truth for column in card))
    tables = []
    for truth in truths:
        columns = [c for d in known if d in chosen for c in card if (c.truth, c.direction) == (truth, d)]
        if columns:
            table = paper_table(columns, card.runs, intervals, first)
            groups = [(truth if len(truths) > 1 else "", 1), *table.groups]
            tables.append(replace(table, title=f"{card.benchmark.name}, {truth}", groups=groups))
    return tables


def lines_are(card: Scorecard) -> str:
    """Say what the lines of a figure are."""
    return f"Lines are {100 * card.intervals.level:g}% intervals." if card.intervals is not None else ""


def reading(card: Scorecard) -> str:
    """Say how the values are to be read, and how the intervals were made."""
    lines = [values_are(card) if card.like is None else like_in_words(card.like)]
    residual = dict.fromkeys(
        str(column.measure) for column in card if column.lower_bound is not None and card.unjudged != "bounds"
    )
    if residual:
        lines.append(f"[Bounds] of {', '.join(residual)}: the value without and with its residual.")
    if any(column.chance is not None for column in card):
        lines.append(
            "Chance: what random scores would give; ° not shown to be above it (p > "
            f"{NOT_ABOVE:g}, each by itself)."
        )
    if card.intervals is not None and any(column.low is not None for column in card):
        lines.append(f"In parentheses {describe_intervals(card)}.")
    return "\n".join(lines)


def values_are(card: Scorecard) -> str:
    """Say in which units values are, and what became of unjudged pairs and of ties."""
    percent = [is_in_percent(column.measure) for column in card]
    unit = "Values in percent" if any(percent) else "Values are ranks"
    if any(percent) and not all(percent):
        unit += ", ranks as they are"
    # By meaning, every pair has its value: nothing is unjudged.
    leaves = (leaf for column in card for leaf in column.parts or (column,))
    by_labels = card.benchmark.choices is None and any(
        not isinstance(leaf.measure, Semantic) for leaf in leaves
    )
    return "; ".join([unit, *([READING[card.unjudged]] if by_labels else []), f"ties are {card.ties}."])


def describe_intervals(card: Scorecard) -> str:
    """Say how the intervals were made; notes say where that did not do."""
    made = card.intervals
    assert made is not None
    level = f"{100 * made.level:g}%"
    methods = {column.interval_method for column in card if column.low is not None}
    if methods and None not in methods:
        return f"{level} intervals ({' or '.join(sorted(filter(None, methods)))}), by {units_drawn(card)}"
    units = f"{units_drawn(card)}{labels_drawn(card)}"
    return f"{level} {made.shown} intervals from {made.resamples:,} resamples of {units}"


def ungrouped_notes(card: Scorecard) -> list[str]:
    """Return the note on captions that are drawn one by one, since it is unknown which share an image."""
    bench = card.benchmark
    if bench.grouping is not None or bench.one_collection or bench.sides[1].kind != "text":
        return []
    back = bench.directions[1]
    if all(column.direction == bench.directions[0] for column in card if column.value is not None):
        return []
    asks, ranked = bench.query_side(back), bench.item_side(back)
    one = f"{'an' if ranked.one[0] in 'aeiou' else 'a'} {ranked.one}"
    return [
        f"{bench.name} does not say which {asks.many} share {one}: each is drawn by itself, "
        f"and intervals and p-values of {direction_title(back)} are too small if some do"
    ]


def labels_drawn(card: Scorecard) -> str:
    """Say that labels are drawn too, where they are; continues what `units_drawn` says."""
    return f", and {card.label_versions:,} draws of uncertain labels" if card.label_versions else ""


def units_drawn(card: Scorecard) -> str:
    """Say what is resampled."""
    groups = card.benchmark.grouping
    return unit_drawn(card).many if groups is None else groups.whole


def unit_drawn(card: Scorecard) -> Side:
    """Return the words for what is resampled."""
    return card.benchmark.unit(column.direction for column in card if column.value is not None)
