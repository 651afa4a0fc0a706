"""Tables of text: one layout, drawn as plain text, markdown, LaTeX or HTML."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from html import escape as escape_html

from karat._util.text import MISSING

DRAWING = set(" ─├┤●█▏▎▍▌▋▊▉")
"""What bars and intervals are drawn with."""


@dataclass(frozen=True)
class Layout:
    """A table: its head, its rows of text, and after which rows a rule is drawn.

    Parameters
    ----------
    head, rows
        The cells. A table without a head (all of it empty) is a list of labelled lines, which is indented.
        A column without a head holds drawings or marks.
    rules
        After which rows a rule is drawn.
    labels
        How many columns, from the left, are labels and not numbers.
    best
        The cells, as row and column, that hold the best value.
    title
        The text above it.
    shares
        Per row a number from 0 to 1, which a terminal draws as a bar where there is room; None for no bar.
    """

    head: list[str]
    rows: list[list[str]]
    rules: set[int] = field(default_factory=set)
    labels: int = 1
    best: set[tuple[int, int]] = field(default_factory=set)
    title: str = ""
    shares: Sequence[float | None] = ()


def grouped(
    head: list[str],
    lines: Sequence[tuple[tuple[str, ...], list[str]]],
    best: Collection[tuple[int, int]] = (),
    title: str = "",
) -> Layout:
    """Arrange labelled lines of text; labels are shown once, with a rule between truths."""
    rows: list[list[str]] = []
    rules: set[int] = set()
    before: tuple[str, ...] = ()
    for labels, cells in lines:
        if head[0] == "truth" and before and before[0] != labels[0]:
            rules.add(len(rows) - 1)
        shown = ["" if before[: k + 1] == labels[: k + 1] else label for k, label in enumerate(labels)]
        rows.append([*shown, *cells])
        before = labels
    return Layout(head, rows, rules, len(lines[0][0]), set(best), title)


def text_of(layout: Layout) -> str:
    """Return a table in plain text: labels to the left, numbers to the right.

    >>> print(text_of(Layout(["metric", "tau"], [["R@1", "0.72"], ["R@10", "0.9"]], title="Alike?")))
    Alike?
    metric   tau
    ──────  ────
    R@1     0.72
    R@10     0.9
    >>> print(text_of(Layout(["", ""], [["objects", "cat, sofa"]], labels=2, title="a cat on a sofa")))
    a cat on a sofa
      objects  cat, sofa
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

    title = [layout.title] if layout.title else []
    if not any(layout.head):
        return "\n".join([*title, *(f"  {line(row)}" for row in layout.rows)])
    rule = "  ".join("─" * width for width in widths)
    lines = [*title, line(layout.head), rule]
    for number, row in enumerate(layout.rows):
        lines.append(line(row))
        if number in layout.rules:
            lines.append(rule)
    return "\n".join(lines)


def bar(share: float, width: int) -> str:
    """Return a bar for a share of 1, in eighths of a letter; sums such as RSUM have none.

    >>> bar(0.5, 4), bar(0.53, 4), bar(4.2, 4)
    ('██  ', '██▏ ', '    ')
    """
    if not 0 <= share <= 1:
        return " " * width
    eighths = round(8 * width * share)
    full, rest = divmod(eighths, 8)
    return ("█" * full + " ▏▎▍▌▋▊▉"[rest] * (rest > 0)).ljust(width)


def without_drawings(layout: Layout) -> Layout:
    """Return a table without drawn bars and intervals, whose blanks markdown and LaTeX would swallow.

    >>> without_drawings(Layout(["run", "R@1", ""], [["a", "50.00", "██  "]])).rows
    [['a', '50.00']]
    """
    kept = [
        k for k, title in enumerate(layout.head)
        if title or k < layout.labels or not {*"".join(row[k] for row in layout.rows)} <= DRAWING
    ]  # fmt: skip
    if len(kept) == len(layout.head):
        return layout
    return replace(
        layout,
        head=[layout.head[k] for k in kept],
        rows=[[row[k] for k in kept] for row in layout.rows],
        best={(row, kept.index(k)) for row, k in layout.best if k in kept},
    )


def markdown_of(layout: Layout) -> str:
    """Return a table in markdown, marked cells in bold.

    >>> print(markdown_of(Layout(["metric", "tau"], [["R@1", "0.72"]], best={(0, 1)})), end="")
    | metric | tau |
    | :-- | --: |
    | R@1 | **0.72** |
    """

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    layout = without_drawings(layout)
    title = [f"## {layout.title}", ""] if layout.title else []
    align = [":--" if k < layout.labels else "--:" for k in range(len(layout.head))]
    rows = [
        [f"**{cell}**" if (r, k) in layout.best else cell for k, cell in enumerate(row)]
        for r, row in enumerate(layout.rows)
    ]
    return "\n".join([*title, line(layout.head), line(align), *map(line, rows)]) + "\n"


LATEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
         "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
         "→": r"$\rightarrow$", MISSING: "--"}  # fmt: skip


def latex_of(layout: Layout) -> str:
    """Return a table in LaTeX, for the package booktabs, marked cells in bold and the title as a comment."""

    def line(cells: list[str]) -> str:
        return " & ".join(cells) + r" \\"

    def escape(text: str) -> str:
        return "".join(LATEX.get(letter, letter) for letter in text)

    layout = without_drawings(layout)
    columns = "l" * layout.labels + "r" * (len(layout.head) - layout.labels)
    lines = [
        # A line break in the title would end the comment.
        *([f"% {' '.join(layout.title.split())}"] if layout.title else []),
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *([line([escape(h) for h in layout.head]), r"\midrule"] if any(layout.head) else []),
    ]
    for r, row in enumerate(layout.rows):
        cells = [
            rf"\textbf{{{escape(c)}}}" if (r, k) in layout.best else escape(c) for k, c in enumerate(row)
        ]
        lines.append(line(cells))
        if r in layout.rules:
            lines.append(r"\midrule")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def html_of(layout: Layout) -> str:
    """Return a table in HTML, everything in it escaped, marked cells in bold.

    >>> print(html_of(Layout([""], [["a <b>"]])))
    <table><tbody><tr><td style="text-align:left">a &lt;b&gt;</td></tr></tbody>
    </table>
    """

    def line(tag: str, cells: list[str]) -> str:
        sides = ("left" if k < layout.labels else "right" for k in range(len(cells)))
        shown = (f'<{tag} style="text-align:{side}">{cell}</{tag}>' for side, cell in zip(sides, cells))
        return f"<tr>{''.join(shown)}</tr>"

    layout = without_drawings(layout)
    title = f'<caption style="text-align:left">{escape_html(layout.title)}</caption>' if layout.title else ""
    head = [escape_html(cell) for cell in layout.head]
    rows = [
        [f"<b>{escape_html(cell)}</b>" if (r, k) in layout.best else escape_html(cell)
         for k, cell in enumerate(row)]
        for r, row in enumerate(layout.rows)
    ]  # fmt: skip
    thead = f"<thead>{line('th', head)}</thead>\n" if any(head) else ""
    return f"<table>{title}{thead}<tbody>{''.join(line('td', row) for row in rows)}</tbody>\n</table>"
