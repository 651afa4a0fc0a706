"""A strict reader of the LaTeX that karat writes: what it accepts, pdfLaTeX with booktabs compiles.

Everything outside a small grammar is refused: an unescaped special character, a letter that pdfLaTeX does
not know, a row with too few cells, a rule that spans other columns than its title.
"""

import re
from dataclasses import dataclass, field

COMMANDS = {"textbf", "underline", "scriptsize", "footnotesize", "par", "multicolumn", "textasciitilde",
            "textasciicircum", "textbackslash", "textbar"}  # fmt: skip
SYMBOLS = {"rightarrow", "downarrow", "leq", "geq", "pm", "cdot", "bullet", "in", "cap", "tau", "rho",
           "kappa", "alpha", "zeta", "phi", "Sigma", "epsilon", "pi", "beta"}  # fmt: skip
TOKEN = re.compile(r"\\[&%_#${}]|\\([A-Za-z]+) ?|\$([^$\\]|_2|\\([A-Za-z]+))\$|[{}]|[^\\{}$&%_#~^]")
ROW = re.compile(r"(?<!\\)&")


@dataclass
class Table:
    """One tabular: its rows as texts, each with how many columns it spans, and its legend."""

    columns: str
    rows: list[list[tuple[str, int]]] = field(default_factory=list)
    legend: str = ""

    def cells(self) -> list[list[str]]:
        """Return the texts of the rows, as LaTeX."""
        return [[text for text, _ in row] for row in self.rows]


def check_text(text: str) -> None:
    """Refuse text that LaTeX would not print."""
    depth = place = 0
    while place < len(text):
        token = TOKEN.match(text, place)
        assert token, f"{text[place:]!r} is not escaped"
        command, math, symbol = token.groups()
        assert command is None or command in COMMANDS, f"\\{command} is not known"
        assert symbol is None or symbol in SYMBOLS, f"\\{symbol} is not known"
        assert math is None or symbol or math in ("<", ">", "-", "_2", "'"), f"${math}$ is not known"
        letter = token[0]
        # The letters that LaTeX knows in UTF-8 without a package: Latin ones and quotation marks.
        known = " " <= letter <= "~" or "\u00a0" <= letter < "\u0180" or letter in "‘’“”…"
        assert len(letter) > 1 or known, f"pdfLaTeX does not know {letter!r}"
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0, f"{text!r} closes a brace too many"
        place = token.end()
    assert depth == 0, f"{text!r} leaves a brace open"


def read_row(line: str, columns: str) -> list[tuple[str, int]]:
    """Return the cells of a row; they fill the columns."""
    assert line.endswith(r" \\"), line
    cells = []
    for cell in ROW.split(line.removesuffix(r" \\")):
        text = cell.strip()
        spanning = re.fullmatch(r"\\multicolumn\{(\d+)\}\{[lcr]\}\{(.*)\}", text)
        check_text(text)
        cells.append((spanning[2], int(spanning[1])) if spanning else (text, 1))
    assert sum(span for _, span in cells) == len(columns), line
    # After a line break or a rule these are arguments.
    assert not line.lstrip().startswith(("[", "*"))
    return cells


def read_latex(text: str) -> list[Table]:
    """Return the tables of a file, or fail."""
    tables: list[Table] = []
    expected = "begin"
    for line in text.splitlines():
        if not line or line.startswith("% "):
            assert expected == "begin", f"{line!r} inside a table"
        elif expected == "begin" and (begin := re.fullmatch(r"\\begin\{tabular\}\{(l*r*)\}", line)):
            tables.append(Table(begin[1]))
            expected = "top"
        elif expected == "begin":
            legend = re.fullmatch(r"\\par\{\\footnotesize (.*)\\par\}", line)
            assert legend is not None, line
            check_text(legend[1])
            tables[-1].legend = legend[1]
        elif line in (r"\toprule", r"\midrule", r"\bottomrule"):
            before, after = {
                r"\toprule": ("top", "rows"), r"\midrule": ("rows", "rows"), r"\bottomrule": ("rows", "end")
            }[line]  # fmt: skip
            assert expected == before, line
            expected = after
        elif line.startswith(r"\cmidrule"):
            assert (expected, len(tables[-1].rows)) == ("rows", 1), line
            check_spans(line, tables[-1].rows[0])
        elif line == r"\end{tabular}":
            assert expected == "end"
            assert tables[-1].rows
            expected = "begin"
        else:
            assert expected == "rows", line
            tables[-1].rows.append(read_row(line, tables[-1].columns))
    assert expected == "begin", "the last table has no end"
    return tables


def check_spans(line: str, titles: list[tuple[str, int]]) -> None:
    """Refuse rules that do not lie below the titles that span columns."""
    rules = [tuple(map(int, ends)) for ends in re.findall(r"\\cmidrule\(lr\)\{(\d+)-(\d+)\}", line)]
    assert re.fullmatch(r"(\\cmidrule\(lr\)\{\d+-\d+\} ?)+", line)
    spans, first = [], 1
    for number, (title, span) in enumerate(titles):
        if title and number:
            spans.append((first, first + span - 1))
        first += span
    assert rules == spans
