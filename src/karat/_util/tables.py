"""Tables of text: one layout, drawn as plain text, markdown or LaTeX; `notebook` draws it in HTML."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from karat._util.text import MISSING
from karat.errors import printable

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
    legend
        The text below it: what its marks mean.
    groups
        In LaTeX: the titles above the heads, each with how many columns it spans, from the left.
    underlined
        In LaTeX: the cells, as row and column, that are underlined.
    small
        In LaTeX: the rows in small letters, such as intervals below their values.
    """

    head: list[str]
    rows: list[list[str]]
    rules: set[int] = field(default_factory=set)
    labels: int = 1
    best: set[tuple[int, int]] = field(default_factory=set)
    title: str = ""
    shares: Sequence[float | None] = ()
    legend: str = ""
    groups: Sequence[tuple[str, int]] = ()
    underlined: set[tuple[int, int]] = field(default_factory=set)
    small: set[int] = field(default_factory=set)


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


def printable_table(layout: Layout) -> Layout:
    """Return a table whose text is safe to print: names, ids and captions in it may come from a stranger.

    >>> printable_table(Layout(["run"], [["a\\x1b[2J"]], title="b\\r")).rows
    [['a�[2J']]
    """
    return replace(
        layout,
        head=[printable(cell) for cell in layout.head],
        rows=[[printable(cell) for cell in row] for row in layout.rows],
        title=printable(layout.title, lines=True),
        legend=printable(layout.legend, lines=True),
    )


def text_of(layout: Layout) -> str:
    """Return a table in plain text that is safe to print: labels to the left, numbers to the right.

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

    layout = printable_table(layout)
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
    return "\n".join([*lines, *([layout.legend] if layout.legend else [])])


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
    # A star would begin a list or set what follows in italics.
    legend = ["", layout.legend.replace("*", r"\*")] if layout.legend else []
    return "\n".join([*title, line(layout.head), line(align), *map(line, rows), *legend]) + "\n"


LATEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
         "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "|": r"\textbar{}",
         "<": "$<$", ">": "$>$", "≤": r"$\leq$", "≥": r"$\geq$", "±": r"$\pm$", "−": "$-$", "·": r"$\cdot$",
         "→": r"$\rightarrow$", "↓": r"$\downarrow$", "●": r"$\bullet$", "∈": r"$\in$", "∩": r"$\cap$",
         "α": r"$\alpha$", "ζ": r"$\zeta$", "κ": r"$\kappa$", "ρ": r"$\rho$", "τ": r"$\tau$", "φ": r"$\phi$",
         "Σ": r"$\Sigma$", "ε": r"$\epsilon$", "π": r"$\pi$", "β": r"$\beta$", "′": "$'$",
         "₂": "$_2$", "\N{COMBINING TILDE}": r"\textasciitilde{}",
         "–": "--", MISSING: "--"}  # fmt: skip
"""How LaTeX writes what it would read otherwise, or what pdfLaTeX does not know."""


def escape_latex(text: str) -> str:
    r"""Return text so that LaTeX prints it as it is, in one line.

    >>> print(escape_latex("R@1 < 50%, image→text_a"))
    R@1 $<$ 50\%, image$\rightarrow$text\_a
    """
    return "".join(LATEX.get(letter, letter) for letter in " ".join(text.split()))


def latex_of(layout: Layout) -> str:
    r"""Return a table in LaTeX, for the package booktabs, marked cells in bold and the title as a comment.

    >>> layout = Layout(["Model", "R@1", "R@5"], [["a_b", "0.72", "0.9"]], best={(0, 2)})
    >>> print(latex_of(replace(layout, groups=[("", 1), ("i→t", 2)])), end="")
    \begin{tabular}{lrr}
    \toprule
     & \multicolumn{2}{c}{i$\rightarrow$t} \\
    \cmidrule(lr){2-3}
    Model & R@1 & R@5 \\
    \midrule
    a\_b & 0.72 & \textbf{0.9} \\
    \bottomrule
    \end{tabular}
    """

    def line(cells: Sequence[str]) -> str:
        # After a line break, a bracket or a star would be its argument.
        start = "{}" if cells[0].startswith(("[", "*")) else ""
        return start + " & ".join(cells) + r" \\"

    def cell(row: int, column: int) -> str:
        text = escape_latex(layout.rows[row][column])
        if (row, column) in layout.best:
            return rf"\textbf{{{text}}}"
        if (row, column) in layout.underlined:
            return rf"\underline{{{text}}}"
        return rf"{{\scriptsize {text}}}" if text and row in layout.small else text

    layout = without_drawings(layout)
    width = len(layout.head)
    lines = [
        *([latex_comment(layout.title)] if layout.title else []),
        rf"\begin{{tabular}}{{{'l' * layout.labels}{'r' * (width - layout.labels)}}}",
        r"\toprule",
    ]
    if layout.groups:
        titles, rules, before = list[str](), list[str](), 0
        for title, span in layout.groups:
            if title and before >= layout.labels:
                titles.append(rf"\multicolumn{{{span}}}{{c}}{{{escape_latex(title)}}}")
                rules.append(rf"\cmidrule(lr){{{before + 1}-{before + span}}}")
            else:
                titles += [escape_latex(title), *[""] * (span - 1)]
            before += span
        lines += [line(titles), *([" ".join(rules)] if rules else [])]
    if any(layout.head):
        lines += [line(list(map(escape_latex, layout.head))), r"\midrule"]
    for row in range(len(layout.rows)):
        lines.append(line([cell(row, column) for column in range(width)]))
        if row in layout.rules:
            lines.append(r"\midrule")
    legend = [rf"\par{{\footnotesize {escape_latex(layout.legend)}\par}}"] if layout.legend else []
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *legend]) + "\n"


def latex_comment(text: str) -> str:
    """Return text as a comment of LaTeX; each of its lines is one.

    >>> print(latex_comment("two\\nlines"))
    % two
    % lines
    """
    return "\n".join(f"% {line}" for line in text.splitlines() if line.strip())
