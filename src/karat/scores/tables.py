"""Scorecards as tables: one layout, drawn as text, markdown or LaTeX, and files by extension."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from karat.measures import Named
from karat.validation import check_extension, write_file

if TYPE_CHECKING:
    import polars as pl

    from karat.scores.scorecard import Column, Scorecard

DIRECTION_TITLES = {"i2t": "image→text", "t2i": "text→image", "mean": "mean", "both": "both"}
MISSING = "—"


@dataclass(frozen=True)
class Layout:
    """A table: its head, its rows of text, and after which rows a rule is drawn.

    `best` marks the cells that hold the best value of their row.
    """

    head: list[str]
    rows: list[list[str]]
    rules: set[int]
    labels: int
    best: set[tuple[int, int]]


def show_value(measure: Named, value: float | None) -> str:
    """Return a value as people read it: fractions in percent, ranks as they are.

    >>> from karat.measures import parse_measure
    >>> show_value(parse_measure("R@1"), 0.41236), show_value(parse_measure("MedR"), 3.0)
    ('41.24', '3')
    >>> show_value(parse_measure("MeanR"), 4.14375)
    '4.14'
    """
    if value is None:
        return MISSING
    return f"{value:.2f}".rstrip("0").rstrip(".") if measure.unit == "rank" else f"{100 * value:.2f}"


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
        return arrange(
            ["truth", "measure", *(DIRECTION_TITLES[d] for d in directions)], lines, mark_best=False
        )
    for name in names:
        for direction in directions:
            line = [cells.get((run, *name, direction)) for run in card.runs]
            if any(line):
                lines.append(((*name, DIRECTION_TITLES[direction]), line))
    head = ["truth", "measure", "direction", *card.runs]
    return arrange(head, lines, mark_best=True)


def arrange(
    head: list[str], lines: Sequence[tuple[tuple[str, ...], list[Column | None]]], mark_best: bool
) -> Layout:
    """Turn labelled lines of columns into text, the best values marked."""
    best: set[tuple[int, int]] = set()
    for row, (labels, line) in enumerate(lines):
        known = {k: c.value for k, c in enumerate(line) if c is not None and c.value is not None}
        if known and mark_best:
            low_is_good = any(c is not None and c.measure.better == "low" for c in line)
            top = min(known.values()) if low_is_good else max(known.values())
            best |= {(row, len(labels) + k) for k, value in known.items() if value == top}
    return grouped(head, [(labels, [show_cell(column) for column in line]) for labels, line in lines], best)


def grouped(
    head: list[str],
    lines: Sequence[tuple[tuple[str, ...], list[str]]],
    best: Collection[tuple[int, int]] = (),
) -> Layout:
    """Arrange labelled lines of text; labels are said once, with a rule between truths."""
    rows: list[list[str]] = []
    rules: set[int] = set()
    before: tuple[str, ...] = ()
    for labels, cells in lines:
        if head[0] == "truth" and before and before[0] != labels[0]:
            rules.add(len(rows) - 1)
        shown = ["" if before[: k + 1] == labels[: k + 1] else label for k, label in enumerate(labels)]
        rows.append([*shown, *cells])
        before = labels
    return Layout(head, rows, rules, len(lines[0][0]), set(best))


def to_text(card: Scorecard, notes: bool = True) -> str:
    """Return the table in plain text, numbers aligned, followed by the notes."""
    return "\n".join([text_of(lay_out(card)), *(f"note: {note}" for note in card.notes if notes)])


def text_of(layout: Layout) -> str:
    """Return a table in plain text: labels to the left, numbers to the right.

    >>> print(text_of(Layout(["metric", "tau"], [["R@1", "0.72"], ["R@10", "0.9"]], set(), 1, set())))
    metric   tau
    ──────  ────
    R@1     0.72
    R@10     0.9
    """
    # As wide as they are drawn: a name may be in Chinese.
    from rich.cells import cell_len

    widths = [max(cell_len(row[k]) for row in [layout.head, *layout.rows]) for k in range(len(layout.head))]

    def line(row: list[str]) -> str:
        parts = []
        for k, (cell, width) in enumerate(zip(row, widths)):
            blanks = " " * (width - cell_len(cell))
            parts.append(cell + blanks if k < layout.labels else blanks + cell)
        return "  ".join(parts).rstrip()

    rule = "  ".join("─" * width for width in widths)
    lines = [line(layout.head), rule]
    for number, row in enumerate(layout.rows):
        lines.append(line(row))
        if number in layout.rules:
            lines.append(rule)
    return "\n".join(lines)


def to_markdown(card: Scorecard) -> str:
    """Return the table in markdown, the best value of each row in bold."""
    return markdown_of(lay_out(card))


def markdown_of(layout: Layout) -> str:
    """Return a table in markdown, marked cells in bold.

    >>> print(markdown_of(Layout(["metric", "tau"], [["R@1", "0.72"]], set(), 1, {(0, 1)})), end="")
    | metric | tau |
    | :-- | --: |
    | R@1 | **0.72** |
    """

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    align = [":--" if k < layout.labels else "--:" for k in range(len(layout.head))]
    rows = [
        [f"**{cell}**" if (r, k) in layout.best else cell for k, cell in enumerate(row)]
        for r, row in enumerate(layout.rows)
    ]
    return "\n".join([line(layout.head), line(align), *map(line, rows)]) + "\n"


LATEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
         "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
         "→": r"$\rightarrow$", MISSING: "--"}  # fmt: skip


def to_latex(card: Scorecard) -> str:
    """Return the table in LaTeX, for the package booktabs."""
    layout = lay_out(card)

    def line(cells: list[str]) -> str:
        return " & ".join(cells) + r" \\"

    def escape(text: str) -> str:
        return "".join(LATEX.get(letter, letter) for letter in text)

    columns = "l" * layout.labels + "r" * (len(layout.head) - layout.labels)
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        line([escape(h) for h in layout.head]),
        r"\midrule",
    ]
    for r, row in enumerate(layout.rows):
        cells = [
            rf"\textbf{{{escape(c)}}}" if (r, k) in layout.best else escape(c) for k, c in enumerate(row)
        ]
        lines.append(line(cells))
        if r in layout.rules:
            lines.append(r"\midrule")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def frame(card: Scorecard, per_query: bool) -> pl.DataFrame:
    """Return the records, or the values per query, as a table."""
    import polars as pl

    return card.per_query() if per_query else pl.DataFrame(card.records(), infer_schema_length=None)


WRITERS: dict[str, Callable[[Scorecard, Path, bool], object]] = {
    ".json": lambda card, path, _: path.write_text(card.to_json(), encoding="utf-8"),
    ".csv": lambda card, path, per_query: frame(card, per_query).write_csv(path),
    ".parquet": lambda card, path, per_query: frame(card, per_query).write_parquet(path),
    ".md": lambda card, path, _: path.write_text(card.to_markdown(), encoding="utf-8"),
    ".tex": lambda card, path, _: path.write_text(card.to_latex(), encoding="utf-8"),
}


def write(card: Scorecard, path: Path, per_query: bool) -> None:
    """Write a scorecard in the format of the file's extension."""
    known = (".csv", ".parquet") if per_query else tuple(WRITERS)
    check_extension(path, known)
    write_file(path, lambda place: WRITERS[path.suffix](card, place, per_query))
