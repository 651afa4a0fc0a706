"""A Comparison: scores, differences and places of several runs; as tables, in words, in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from karat._util import (
    MISSING,
    Layout,
    Mark,
    Panel,
    Part,
    Result,
    check_choice,
    forest,
    grouped,
    json_text,
    latex_text,
    shorten,
)
from karat.benchmarks import direction_title
from karat.errors import InputError, unknown_name
from karat.measures import Combined, Named, parse_measure, scale_value, show_value
from karat.scores.column import (
    NARROW,
    UNITS,
    Column,
    choose,
    mark_of,
    panel_title,
    show_interval,
)
from karat.scores.comparison.paired_tests import TESTS
from karat.scores.comparison.standings import Difference, Standing, reverse, standings
from karat.scores.scorecard import Scorecard, describe_intervals, lines_are, paper_tables
from karat.scores.trec_eval import like_in_words
from karat.stats import Flips, holm, star_legend

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """Several runs on the same queries.

    Parameters
    ----------
    card
        The scorecard, with intervals.
    differences
        Every pair of runs on every column.
    test, alpha, samples, seed
        The paired test, the level of its decisions, and its draws.
    detail
        Whether each direction is shown, not only what combines both.
    correction
        Over what p-values are corrected: the pairs of runs of each "column", or of "all" that are shown.
    margin, power
        Of equivalence, in points or ranks, and of the smallest detectable difference; None for neither.
    clusters
        How many images, or queries drawn one by one, were swapped.
    show_intervals
        Whether LaTeX has the intervals below the scores.
    standings
        Who beats whom on every column.
    """

    card: Scorecard
    differences: Sequence[Difference]
    test: str
    alpha: float
    samples: int
    seed: int
    detail: bool = False
    correction: str = "column"
    margin: float | None = None
    power: float | None = None
    clusters: int = 0
    show_intervals: bool = True
    standings: Sequence[Standing] = field(init=False)
    _index: dict[tuple[str, ...], Difference] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.correction == "all":
            object.__setattr__(self, "differences", corrected_together(self))
        index = {(d.truth, d.direction, str(d.measure), d.first, d.second): d for d in self.differences}
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "standings", standings(self.card, self.differences, self.alpha))

    def difference(
        self, first: str, second: str, measure: str, *, truth: str | None = None, direction: str = "mean"
    ) -> Difference:
        """Return one difference, the first run minus the second."""
        column = self.card.column(measure, truth=truth, direction=direction, run=first)
        place = (column.truth, column.direction, str(column.measure))
        if (*place, first, second) in self._index:
            return self._index[*place, first, second]
        if (*place, second, first) in self._index:
            return reverse(self._index[*place, second, first])
        raise unknown_name("run", second, [run for run in self.card.runs if run != first])

    def standing(self, measure: str, *, truth: str | None = None, direction: str | None = None) -> Standing:
        """Return where the runs stand on one column; of both directions together unless one is named."""
        name = str(parse_measure(measure))
        direction = direction or ("both" if isinstance(parse_measure(measure), Combined) else "mean")
        matches = [
            s
            for s in self.standings
            if str(s.measure) == name and s.direction == direction and truth in (None, s.truth)
        ]
        if len(matches) != 1:
            known = ", ".join(f"{s.measure} {s.direction} on {s.truth}" for s in self.standings)
            raise InputError(
                f"{measure} {direction} names {len(matches)} columns", fix=f"choose from {known}"
            )
        return matches[0]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data: scores, differences, places, and how they were made."""
        intervals = self.card.intervals
        made_with = {run: dict(made.facts) for run, made in self.card.made_with.items()}
        return {
            "scores": self.card.records(),
            "differences": [difference.record() for difference in self.differences],
            "places": [record for standing in self.standings for record in standing.records()],
            "method": {
                "benchmark": self.card.benchmark.name,
                "ties": self.card.ties,
                "unjudged": self.card.unjudged,
                "like": self.card.like,
                "intervals": None if intervals is None else asdict(intervals),
                "test": self.test,
                "samples": self.samples,
                "seed": self.seed,
                "alpha": self.alpha,
                "correction": CORRECTIONS[self.correction],
                **({} if self.margin is None else {"margin": self.margin}),
                **({} if self.power is None else {"power": self.power}),
            },
            **({"made_with": made_with} if made_with else {}),
        }

    @property
    def notes(self) -> Sequence[str]:
        """What a reader should know of the scores."""
        return self.card.notes

    def with_notes(self, notes: Sequence[str]) -> Self:
        """Return it with further notes."""
        return replace(self, card=self.card.with_notes(notes))

    def records(self) -> list[dict[str, Any]]:
        """Return one record per difference; json holds more."""
        return [difference.record() for difference in self.differences]

    def parts(self) -> list[Part]:
        """Return scores, differences and who beats whom, what they say in words, and how they were made."""
        shown = shown_standings(self, self.detail)
        truths = {standing.truth for standing in shown}
        where = f" on {next(iter(truths))}" if len(truths) == 1 else ""
        tables = [score_table(self, shown, where), difference_table(self, shown, where)]
        if len(shown) == 1 and len(self.card.runs) > 2:
            tables.append(matrix_table(shown[0]))
        words = headline(shown)
        return [*tables, *(["\n".join(words)] if words else []), method_line(self)]

    def plot(
        self,
        what: str = "scores",
        *,
        measure: Iterable[str] | str | None = None,
        truth: Iterable[str] | str | None = None,
        direction: Iterable[str] | str | None = None,
    ) -> go.Figure:
        """Return a plotly figure: a panel for each column, with intervals.

        Parameters
        ----------
        what
            "scores", best first, filled where a run is not shown to be worse than the first; or
            "differences", of every pair of few runs or to the best of many, filled where one beats the other.
        measure, truth, direction
            One or several; by default the columns that are printed.
        """
        what = check_choice(what, ("scores", "differences"), "what")
        named = any(names is not None for names in (measure, truth, direction))
        shown = shown_standings(self, self.detail or direction is not None)
        shown = choose(shown, measure, truth, direction) if named else shown
        if not shown:
            raise InputError("no column is of all these names", fix="leave one of them out")
        draw = score_panel if what == "scores" else difference_panel
        filled = (
            "not shown to be worse than the first"
            if what == "scores"
            else f"p ≤ {self.alpha:g} after correction"
        )
        about = f"{lines_are(self.card)} Filled: {filled}."
        heading = f"{what.capitalize()} on {self.card.benchmark.name}"
        return forest([draw(self, standing) for standing in shown], heading, about, NARROW)

    def to_latex(self, direction: Iterable[str] | str | None = None, intervals: bool | None = None) -> str:
        """Return the scores in LaTeX as papers print them (see `Scorecard.to_latex`), and the other tables.

        Values that no other is shown to beat are underlined; `intervals` is `show_intervals` by default.
        """
        first = {(s.truth, s.direction, str(s.measure), run) for s in self.standings for run in s.first}
        tables = paper_tables(
            self.card, direction, self.show_intervals if intervals is None else intervals, first
        )
        level = f"{p_name(self)} > {self.alpha:g}"
        legend = f"bold: best of its column; underlined: none is shown to be better ({level})"
        tables = [replace(table, legend=legend) if table.underlined else table for table in tables]
        # The first part has the same scores, a row each.
        return latex_text([*tables, *self.parts()[1:]], self.notes)

    def to_json(self) -> str:
        """Return `to_dict` as json."""
        return json_text(self.to_dict())

    def to_markdown(self) -> str:
        """Return everything in markdown, each direction included."""
        return super().to_markdown() if self.detail else replace(self, detail=True).to_markdown()

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.card.runs)} on {self.card.benchmark.name}, {self.test})"


CORRECTIONS = {
    "column": "Holm, over the pairs of runs of each column",
    "all": "Holm, over the pairs of runs of all columns that are shown",
}
"""Over what p-values are corrected."""
FEW_RUNS = 4
"""Up to this many runs every pair is shown; beyond, each run against the best."""


def corrected_together(comparison: Comparison) -> list[Difference]:
    """Return the differences with p-values corrected over all columns that are shown.

    Columns that are not shown, such as the directions behind a mean, are corrected over all there are.
    """
    differences = list(comparison.differences)
    shown = {
        (s.truth, s.direction, str(s.measure))
        for s in shown_of(
            standings(comparison.card, differences, comparison.alpha),
            in_detail(comparison, comparison.detail),
        )
    }
    here = np.array([(d.truth, d.direction, str(d.measure)) in shown for d in differences])
    p = np.array([np.nan if d.p is None else d.p for d in differences])
    corrected = holm(p)
    corrected[here] = holm(p[here])
    return [
        replace(d, corrected=None if np.isnan(number) else float(number))
        for d, number in zip(differences, corrected)
    ]


def shown_standings(comparison: Comparison, detail: bool = False) -> list[Standing]:
    """Return the columns to show; see `shown_of`."""
    return shown_of(comparison.standings, in_detail(comparison, detail))


def in_detail(comparison: Comparison, detail: bool) -> bool:
    """Whether every column is shown: where asked for, and of choices, each a measure of its own."""
    return detail or comparison.card.benchmark.choices is not None


def shown_of(standings: Sequence[Standing], detail: bool) -> list[Standing]:
    """Return the columns to show: what combines both directions, or, where requested, each direction.

    Directions are also shown where sums would leave something out: a run that has one direction only,
    or a test that can be used on directions alone.
    """
    summed = [s for s in standings if s.direction in ("mean", "both")]
    runs = {run for standing in standings for run in standing.runs}
    enough = (
        summed
        and all(set(standing.runs) == runs for standing in summed)
        and (any(s.tested for s in summed) or not any(s.tested for s in standings))
    )
    return summed if enough and not detail else list(standings)


def score_table(comparison: Comparison, shown: Sequence[Standing], where: str) -> Layout:
    """Arrange scores with intervals and places, best run first; the intervals are drawn side by side."""
    lines: list[tuple[tuple[str, ...], list[str]]] = []
    marked: set[tuple[int, int]] = set()
    for standing in shown:
        columns = [
            comparison.card.column(
                str(standing.measure), truth=standing.truth, direction=standing.direction, run=run
            )
            for run in standing.runs
        ]
        ends = [end for c in columns for end in (c.low, c.high, c.value) if end is not None]
        for column in columns:
            mark = "●" if column.run in standing.first else " "
            cells = [
                show_value(column.measure, column.value),
                show_interval(column) or MISSING,
                show_places(standing.places.get(column.run)),
                whisker(column, min(ends), max(ends)),
            ]
            if mark == "●":
                marked |= {(len(lines), len(label_heads(shown))), (len(lines), len(label_heads(shown)) + 1)}
            lines.append(((*labels(standing, shown), f"{mark} {column.run}"), cells))
    level = 0.95 if comparison.card.intervals is None else comparison.card.intervals.level
    head = [*label_heads(shown), "  run", "score", f"{100 * level:g}% interval", "place", ""]
    return grouped(head, lines, marked, f"Scores{where}, best first (● none is shown to be better)")


def difference_table(comparison: Comparison, shown: Sequence[Standing], where: str) -> Layout:
    """Arrange the differences: all pairs of few runs, or each run against the best."""
    runs = comparison.card.runs
    two = len(runs) == 2
    title = f"Differences{where}" if len(runs) <= FEW_RUNS else f"Differences to the best run{where}"
    if two:
        title = f"{title}, {runs[0]} − {runs[1]}"
    columns = difference_columns(comparison)
    # Of two runs there is one pair: the title names it.
    lines = [
        (
            (*labels(standing, shown), *([] if two else [f"{pair.first} − {pair.second}"])),
            [show(pair) for show in columns.values()],
        )
        for standing in shown
        for pair in pairs_of(comparison, standing)
    ]
    head = [*label_heads(shown), *([] if two else ["runs"]), *columns]
    starred = any(pair.stars for standing in shown for pair in pairs_of(comparison, standing))
    legend = star_legend(p_name(comparison)) if starred else ""
    return replace(grouped(head, lines, title=title), legend=legend)


def difference_columns(comparison: Comparison) -> dict[str, Callable[[Difference], str]]:
    """Return the columns of a table of differences: under each head, how a difference is shown."""
    level = 0.95 if comparison.card.intervals is None else comparison.card.intervals.level
    columns: dict[str, Callable[[Difference], str]] = {
        "difference": lambda pair: signed_value(pair.measure, pair.difference),
        f"{100 * level:g}% interval": signed_interval,
        p_name(comparison): lambda pair: MISSING if pair.corrected is None else show_p(pair.corrected),
        "": lambda pair: pair.stars,
    }
    if comparison.margin is not None:
        columns[f"within ±{comparison.margin:g}"] = lambda pair: "yes" if pair.equivalent else "not shown"
    if comparison.power is not None:
        columns["detectable"] = lambda pair: show_value(pair.measure, pair.detectable)
    return columns


def signed_interval(pair: Difference) -> str:
    """Return the interval of a difference."""
    if pair.low is None and pair.high is None:
        return MISSING
    ends = (MISSING if end is None else signed_value(pair.measure, end) for end in (pair.low, pair.high))
    return " to ".join(ends)


def p_name(comparison: Comparison) -> str:
    """Return what p-values are called: of two runs there is one in a column, and nothing to correct."""
    return "p" if len(comparison.card.runs) == 2 and comparison.correction == "column" else "Holm p"


def matrix_table(standing: Standing) -> Layout:
    """Arrange who beats whom: a row beats a column (>), is beaten (<), or neither is shown (·)."""
    lines = []
    for a, run in enumerate(standing.runs):
        cells = []
        for b in range(len(standing.runs)):
            sign = ">" if standing.beats[a, b] else "<" if standing.beats[b, a] else "·"
            cells.append("" if a == b else sign)
        lines.append(((run,), cells))
    title = "Who beats whom (> row beats column, < is beaten, · neither)"
    return grouped(["", *standing.runs], lines, title=title)


def score_panel(comparison: Comparison, standing: Standing) -> Panel:
    """Return the scores of one column as they are drawn, best first."""
    place = {"truth": standing.truth, "direction": standing.direction}
    marks = []
    for run in standing.runs:
        column = comparison.card.column(str(standing.measure), run=run, **place)
        places = show_places(standing.places.get(run))
        marks.append(mark_of(column, run, filled=run in standing.first, more=f", place {places}"))
    title = panel_title(standing.truth, str(standing.measure), standing.direction)
    return Panel(title, UNITS[standing.measure.unit], marks)


def difference_panel(comparison: Comparison, standing: Standing) -> Panel:
    """Return the differences of one column as they are drawn."""
    few = len(comparison.card.runs) <= FEW_RUNS
    marks = []
    for pair in pairs_of(comparison, standing):
        value, low, high = (
            None if end is None else scale_value(pair.measure, end)
            for end in (pair.difference, pair.low, pair.high)
        )
        ends = [MISSING if end is None else signed_value(pair.measure, end) for end in (pair.low, pair.high)]
        p = MISSING if pair.corrected is None else show_p(pair.corrected)
        text = f"{signed_value(pair.measure, pair.difference)} ({' to '.join(ends)}), p {p}"
        beats = pair.corrected is not None and pair.corrected <= comparison.alpha
        label = f"{shorten(pair.first, 9) if few else 'best'} − {shorten(pair.second, 9 if few else 16)}"
        row = f"{pair.first} − {pair.second}"
        marks.append(Mark(row, value or 0.0, low, high, text, filled=beats, label=label))
    title = panel_title(standing.truth, str(standing.measure), standing.direction)
    unit = "ranks" if standing.measure.unit == "rank" else "percentage points"
    return Panel(title, unit, marks, zero=True)


def pairs_of(comparison: Comparison, standing: Standing) -> list[Difference]:
    """Return the differences that are shown of one column, better run first."""
    names = comparison.card.runs
    best, few = standing.runs[0], len(names) <= FEW_RUNS
    # Two runs are always subtracted the same way around, so that the signs can be compared.
    order = names if len(names) == 2 else standing.runs
    return [
        comparison.difference(
            first, second, str(standing.measure), truth=standing.truth, direction=standing.direction
        )
        for k, first in enumerate(order)
        for second in order[k + 1 :]
        if few or first == best
    ]


def labels(standing: Standing, shown: Sequence[Standing]) -> tuple[str, ...]:
    """Return what a row is about."""
    names = {
        "truth": standing.truth,
        "measure": str(standing.measure),
        "direction": direction_title(standing.direction),
    }
    return tuple(names[head] for head in label_heads(shown))


def label_heads(shown: Sequence[Standing]) -> list[str]:
    """Return the heads of the labels: the truth where there are several, directions where they are shown."""
    truths = len({standing.truth for standing in shown})
    summed = all(standing.direction in ("mean", "both") for standing in shown)
    return [*(["truth"] if truths > 1 else []), "measure", *([] if summed else ["direction"])]


def signed_value(measure: Named, value: float) -> str:
    """Return a difference with its sign, in points of percent or in ranks.

    >>> from karat.measures import parse_measure
    >>> signed_value(parse_measure("R@1"), -0.012)
    '−1.20'
    """
    shown = show_value(measure, abs(value))
    if not shown.strip("0."):
        return "±" + shown
    return ("+" if value > 0 else "−") + shown


def show_p(p: float) -> str:
    """Return a p-value as people read it.

    >>> show_p(0.00001), show_p(0.0312), show_p(1.0)
    ('< 0.0001', '0.031', '1.000')
    """
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def whisker(column: Column, least: float, most: float, width: int = 15) -> str:
    """Draw an interval on the scale from `least` to `most`: ├─●─┤.

    >>> from karat.measures import parse_measure
    >>> one = Column("A", "eccv", "i2t", parse_measure("R@1"), 0.5, 10, low=0.4, high=0.6)
    >>> whisker(one, 0.0, 1.0, width=11)
    '    ├●┤    '
    """
    if column.value is None or column.low is None or column.high is None:
        return ""
    scale = (width - 1) / (most - least) if most > least else 0.0
    low, middle, high = (round((end - least) * scale) for end in (column.low, column.value, column.high))
    drawn = [" "] * width
    drawn[low : high + 1] = "─" * (high + 1 - low)
    drawn[low], drawn[high] = "├", "┤"
    drawn[middle] = "●"
    return "".join(drawn)


def show_places(places: tuple[int, int] | None) -> str:
    """Return a range of places.

    >>> show_places((1, 2)), show_places((3, 3))
    ('1–2', '3')
    """
    if places is None:
        return MISSING
    return str(places[0]) if places[0] == places[1] else f"{places[0]}–{places[1]}"


def headline(shown: Sequence[Standing]) -> list[str]:
    """Return sentences that say which run is first where; equal outcomes are merged."""
    where: dict[tuple[str, ...], list[str]] = {}
    everyone = {run for standing in shown for run in standing.runs}
    for standing in shown:
        if not standing.tested:
            continue
        direction = "" if standing.direction in ("mean", "both") else f" {standing.direction}"
        where.setdefault(standing.first, []).append(f"{standing.truth} {standing.measure}{direction}")
    if len(where) == 1 and all(s.tested and set(s.runs) == everyone for s in shown):
        return [f"{outcome(next(iter(where)))} everywhere."]
    return [f"{outcome(first)} on {', '.join(columns)}." for first, columns in where.items()]


def outcome(first: Sequence[str]) -> str:
    """Say who is first, or not shown to be worse; names are quoted, since a run may be called "both".

    >>> outcome(["A"]), outcome(["A", "B", "C"])
    ('First: “A”', 'Not shown to be worse than the first: “A”, “B” and “C”')
    """
    names = [f"“{run}”" for run in first]
    if len(names) == 1:
        return f"First: {names[0]}"
    return f"Not shown to be worse than the first: {', '.join(names[:-1])} and {names[-1]}"


def swaps_made(comparison: Comparison) -> str:
    """Say how many swaps a randomisation test made: of few images all were listed."""
    flips = Flips(comparison.clusters, comparison.samples) if comparison.clusters else None
    if flips is not None and flips.exact:
        return f"all {1 << flips.clusters:,} swaps"
    return f"{comparison.samples:,} swaps"


def comparisons_shown(comparison: Comparison) -> str:
    """Say how many comparisons are shown, and over what they are corrected."""
    tested = [s for s in shown_standings(comparison, comparison.detail) if s.tested]
    count = sum(len(s.runs) * (len(s.runs) - 1) // 2 for s in tested)
    if comparison.correction == "all":
        return f"p corrected by Holm over all {count:,} comparisons that are shown"
    each = (
        "p corrected by Holm over the pairs of runs of each measure" if len(comparison.card.runs) > 2 else ""
    )
    several = (
        f"{count:,} comparisons in {len(tested)} columns, not corrected for each other (--correction all)"
        if len(tested) > 1
        else ""
    )
    return "; ".join(filter(None, (each, several)))


def method_line(comparison: Comparison) -> str:
    """Say how the numbers were made."""
    methods = [TESTS[comparison.test].about]
    if comparison.test == "randomisation":
        methods[0] += f" with {swaps_made(comparison)}"
    if comparison.card.intervals is not None:
        methods.append(describe_intervals(comparison.card))
    methods += filter(None, [comparisons_shown(comparison)])
    methods.append(f"one run beats another at p ≤ {comparison.alpha:g}")
    if comparison.margin is not None:
        level = f"{100 * (1 - 2 * comparison.alpha):g}%"
        methods.append(
            f"within ±{comparison.margin:g}: two one-sided tests, so that the {level} interval of the "
            "difference lies inside"
        )
    if comparison.power is not None:
        methods.append(
            f"detectable: the difference that the test would find in {100 * comparison.power:g}% of samples"
        )
    like = "" if comparison.card.like is None else f"\n{like_in_words(comparison.card.like)}"
    return f"Values in percent, ranks as they are; {'; '.join(methods)}.{like}"
