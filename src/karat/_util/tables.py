"""Tables of text: one layout, drawn as plain text, markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from karat._util.text import MISSING


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


def latex_of(layout: Layout) -> str:
    """Return a table in LaTeX, for the package booktabs, marked cells in bold."""

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
