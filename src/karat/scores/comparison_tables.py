"""Comparisons as tables: scores with who is tied for first, places, differences; and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from karat.measures import Named
from karat.scores.comparison_words import headline, method_line
from karat.scores.scorecard import Column
from karat.scores.tables import DIRECTION_TITLES, MISSING, Layout, grouped, markdown_of, show_value, text_of
from karat.validation import check_extension, write_file

if TYPE_CHECKING:
    import polars as pl

    from karat.scores.comparison import Comparison, Difference, Standing

FEW_RUNS = 4
"""Up to so many runs every pair is shown; beyond, each run against the best."""


def shown_standings(comparison: Comparison, detail: bool = False) -> list[Standing]:
    """Return the columns to show: what sums both directions up, or, where asked for, each direction.

    Directions are also shown where sums would leave something out: a run that has one direction only,
    or a test that can be used on directions alone.
    """
    summed = [s for s in comparison.standings if s.direction in ("mean", "both")]
    runs = {run for standing in comparison.standings for run in standing.runs}
    enough = (
        summed
        and all(set(standing.runs) == runs for standing in summed)
        and (any(s.tested for s in summed) or not any(s.tested for s in comparison.standings))
    )
    return summed if enough and not detail else list(comparison.standings)


def score_table(comparison: Comparison, shown: Sequence[Standing]) -> Layout:
    """Arrange scores with intervals and places, best run first; the intervals are drawn beside each other."""
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
                show_interval(column),
                show_places(standing.places.get(column.run)),
                whisker(column, min(ends), max(ends)),
            ]
            if mark == "●":
                marked |= {(len(lines), len(label_heads(shown))), (len(lines), len(label_heads(shown)) + 1)}
            lines.append(((*labels(standing, shown), f"{mark} {column.run}"), cells))
    level = 0.95 if comparison.card.intervals is None else comparison.card.intervals.level
    head = [*label_heads(shown), "  run", "score", f"{100 * level:g}% interval", "place", ""]
    return grouped(head, lines, marked)


def difference_table(comparison: Comparison, shown: Sequence[Standing]) -> Layout:
    """Arrange the differences: all pairs of few runs, or each run against the best."""
    two = len(comparison.card.runs) == 2
    lines = []
    for standing in shown:
        for found in pairs_of(comparison, standing):
            ends = [MISSING if x is None else signed(found.measure, x) for x in (found.low, found.high)]
            cells = [signed(found.measure, found.difference), " to ".join(ends)]
            cells += [MISSING if found.corrected is None else show_p(found.corrected), found.stars]
            # Of two runs there is one pair: the title names it.
            pair = [] if two else [f"{found.first} − {found.second}"]
            lines.append(((*labels(standing, shown), *pair), cells))
    level = 0.95 if comparison.card.intervals is None else comparison.card.intervals.level
    head = [*label_heads(shown), *([] if two else ["runs"]), "difference", f"{100 * level:g}% interval"]
    return grouped([*head, "p" if two else "Holm p", ""], lines)


def matrix_table(standing: Standing) -> Layout:
    """Arrange who beats whom: a row beats a column (>), is beaten (<), or neither is shown (·)."""
    lines = []
    for a, run in enumerate(standing.runs):
        cells = []
        for b in range(len(standing.runs)):
            sign = ">" if standing.beats[a, b] else "<" if standing.beats[b, a] else "·"
            cells.append("" if a == b else sign)
        lines.append(((run,), cells))
    return grouped(["", *standing.runs], lines)


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
        "direction": DIRECTION_TITLES[standing.direction],
    }
    return tuple(names[head] for head in label_heads(shown))


def label_heads(shown: Sequence[Standing]) -> list[str]:
    """Return the heads of the labels: the truth where there are several, directions where they are shown."""
    truths = len({standing.truth for standing in shown})
    summed = all(standing.direction in ("mean", "both") for standing in shown)
    return [*(["truth"] if truths > 1 else []), "measure", *([] if summed else ["direction"])]


def signed(measure: Named, value: float) -> str:
    """Return a difference with its sign, in points of percent or in ranks.

    >>> from karat.measures import parse_measure
    >>> signed(parse_measure("R@1"), -0.012)
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


def show_interval(column: Column) -> str:
    """Return the ends of a column's interval."""
    if column.low is None or column.high is None:
        return MISSING
    return f"{show_value(column.measure, column.low)}–{show_value(column.measure, column.high)}"


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


def layouts(comparison: Comparison, detail: bool = False) -> Iterable[tuple[str, Layout]]:
    """Yield every table with its title."""
    shown = shown_standings(comparison, detail)
    truths = {standing.truth for standing in shown}
    where = f" on {next(iter(truths))}" if len(truths) == 1 else ""
    yield f"Scores{where}, best first (● first, or tied for first)", score_table(comparison, shown)
    runs = comparison.card.runs
    title = f"Differences{where}" if len(runs) <= FEW_RUNS else f"Differences to the best run{where}"
    if len(runs) == 2:
        title = f"Differences{where}, {runs[0]} − {runs[1]}"
    yield title, difference_table(comparison, shown)
    if len(shown) == 1 and len(comparison.card.runs) > 2:
        yield "Who beats whom (> row beats column, < is beaten, · neither)", matrix_table(shown[0])


def to_text(comparison: Comparison, detail: bool = False) -> str:
    """Return every table in plain text, what they say in words, and how they were made."""
    parts = [f"{title}\n{text_of(layout)}" for title, layout in layouts(comparison, detail)]
    parts.append("\n".join([*headline(shown_standings(comparison, detail)), method_line(comparison)]))
    return "\n\n".join([*parts, *(f"note: {note}" for note in comparison.card.notes)])


def to_markdown(comparison: Comparison) -> str:
    """Return every table in markdown, each direction included."""
    parts = [
        f"## {title}\n\n{markdown_of(without_drawings(layout))}"
        for title, layout in layouts(comparison, detail=True)
    ]
    notes = [f"\n- {note}" for note in comparison.card.notes]
    return "\n".join([*parts, *headline(comparison.standings), "", method_line(comparison), *notes, ""])


def without_drawings(layout: Layout) -> Layout:
    """Return a table without the drawn intervals, whose blanks markdown would swallow."""
    if not any("├" in row[-1] for row in layout.rows):
        return layout
    return replace(layout, head=layout.head[:-1], rows=[row[:-1] for row in layout.rows])


def frame(comparison: Comparison) -> pl.DataFrame:
    """Return the differences as a table."""
    import polars as pl

    return pl.DataFrame([found.record() for found in comparison.differences], infer_schema_length=None)


WRITERS: dict[str, Callable[[Comparison, Path], object]] = {
    ".json": lambda found, path: path.write_text(found.to_json(), encoding="utf-8"),
    ".csv": lambda found, path: frame(found).write_csv(path),
    ".parquet": lambda found, path: frame(found).write_parquet(path),
    ".md": lambda found, path: path.write_text(to_markdown(found), encoding="utf-8"),
}


def write(comparison: Comparison, path: Path) -> None:
    """Write a comparison in the format of the file's extension."""
    check_extension(path, WRITERS)
    write_file(path, lambda place: WRITERS[path.suffix](comparison, place))
