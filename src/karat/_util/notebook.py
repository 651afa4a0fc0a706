"""What notebooks show: text, tables and notes as one fragment of HTML.

Names, captions and ids come from anywhere, so everything is escaped, and the fragment is marked as free of
formulas, which notebooks would typeset. Styles are attributes, since many viewers drop style sheets. Text has
the colour of the notebook, and lines are half transparent, so that it is readable on light and dark ground.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape

from karat._util.tables import DRAWING, Layout
from karat._util.text import plural

MOST_ROWS, MOST_COLUMNS, MOST_LINES = 60, 40, 100
"""Of a table and of a text; what is beyond is counted."""
LONG_WORD = 24
"""Characters; a longer word may be broken."""
LINE = "rgba(128,128,128,.45)"
TABLE = "border-collapse:collapse;border:none;margin:.2em 0;font-variant-numeric:tabular-nums"
PADDING = "padding:.15em .7em .15em 0"
GROUP = re.compile(r" (?=[(\[])")
"""Where a cell may be broken: before its interval."""


def fragment(parts: Sequence[str | Layout], notes: Sequence[str] = (), cut: bool = True) -> str:
    """Return text, tables and notes in HTML; nothing in it can run, and it needs no other file.

    Parameters
    ----------
    parts, notes
        As a `Result` has them.
    cut
        Whether to shorten long tables and texts, with a sentence that says so.

    Examples
    --------
    >>> print(fragment(["<b>bold</b>"], ["one image could not be read"]))
    <div class="tex2jax_ignore mathjax_ignore" style="max-width:100%;line-height:1.45">
    <p style="white-space:pre-wrap;overflow-wrap:anywhere;margin:.5em 0">&lt;b&gt;bold&lt;/b&gt;</p>
    <p style="...">note: one image could not be read</p>
    </div>
    """
    shown = [table(part, cut) if isinstance(part, Layout) else text(part, cut) for part in parts]
    marked = "border-left:.2em solid #c98a00;padding-left:.6em"
    lines = [
        '<div class="tex2jax_ignore mathjax_ignore" style="max-width:100%;line-height:1.45">',
        *shown,
        *(paragraph(f"note: {note}", marked) for note in notes),
        "</div>",
    ]
    # Names of files may hold bytes that are not text, which a notebook cannot store.
    return "\n".join(lines).encode("utf-8", "replace").decode("utf-8")


def paragraph(content: str, style: str = "") -> str:
    """Return lines of text."""
    look = f"white-space:pre-wrap;overflow-wrap:anywhere;margin:.5em 0{';' * bool(style)}{style}"
    return f'<p style="{look}">{escape(content)}</p>'


def text(content: str, cut: bool) -> str:
    """Return a text, its first lines alone where it is long."""
    lines = content.split("\n")
    if not cut or len(lines) <= MOST_LINES:
        return paragraph(content)
    shown = paragraph("\n".join(lines[:MOST_LINES]))
    return shown + paragraph(f"The first {MOST_LINES} of {plural(len(lines), 'line')}; print() shows all.")


def table(layout: Layout, cut: bool) -> str:
    """Return a table that scrolls sideways where it is too wide; marked cells in bold, shares as bars."""
    layout, left_out = shortened(layout) if cut else (layout, "")
    heading = (
        f'<p style="margin:.8em 0 .2em;font-weight:600">{escape(layout.title)}</p>' if layout.title else ""
    )
    bars = any(share is not None and 0 <= share <= 1 for share in layout.shares)
    rule = f' style="border-bottom:1px solid {LINE}"'
    lines = []
    if any(layout.head):
        titles = "".join(cell("th", k, title, layout) for k, title in enumerate(layout.head))
        lines.append(f"<thead><tr{rule}>{titles}{'<th></th>' * bars}</tr></thead>")
    lines.append("<tbody>")
    for r, row in enumerate(layout.rows):
        cells = [cell("td", k, content, layout, (r, k) in layout.best) for k, content in enumerate(row)]
        drawn = [bar(layout.shares[r])] if bars else []
        lines.append(f"<tr{rule if r in layout.rules else ''}>{''.join([*cells, *drawn])}</tr>")
    body = "\n".join([f'<table style="{TABLE}">', *lines, "</tbody></table>"])
    rest = "".join(paragraph(line) for line in (layout.legend, left_out) if line)
    return f'{heading}<div style="overflow-x:auto;max-width:100%">{body}</div>{rest}'


def shortened(layout: Layout) -> tuple[Layout, str]:
    """Return the first rows and columns of a large table, and a sentence on the others."""
    rows, columns = len(layout.rows), len(layout.head)
    kept = [
        *([f"{MOST_ROWS} of {rows:,} rows"] if rows > MOST_ROWS else []),
        *([f"{MOST_COLUMNS} of {columns:,} columns"] if columns > MOST_COLUMNS else []),
    ]
    if not kept:
        return layout, ""
    smaller = replace(
        layout,
        head=layout.head[:MOST_COLUMNS],
        rows=[row[:MOST_COLUMNS] for row in layout.rows[:MOST_ROWS]],
    )
    return smaller, f"The first {' and '.join(kept)}; print() shows all."


def cell(tag: str, column: int, content: str, layout: Layout, best: bool = False) -> str:
    """Return one cell: labels to the left, numbers to the right, drawings as they are."""
    label = column < layout.labels
    if not label and not layout.head[column] and set(content) <= DRAWING:
        # Letters of one width; who cannot see them has the numbers beside them.
        look = f"white-space:pre;font-family:monospace;text-align:left;line-height:1;{PADDING}"
        return f'<{tag} aria-hidden="true" style="{look}">{content}</{tag}>'
    look = f"text-align:{'left' if label else 'right'};vertical-align:top;{PADDING}"
    shown = escape(content)
    if any(len(word) > LONG_WORD for word in content.split()):
        look += ";min-width:9em;overflow-wrap:anywhere"
    elif label and len(content) > LONG_WORD:
        look += ";min-width:9em"
    elif label:
        # Blanks at the beginning are where other labels have a mark.
        look += ";white-space:pre"
    else:
        pieces = (f'<span style="white-space:nowrap">{piece}</span>' for piece in GROUP.split(shown))
        shown = " ".join(pieces)
    scope = ' scope="col"' if tag == "th" else ""
    return f'<{tag}{scope} style="{look}">{f"<b>{shown}</b>" if best else shown}</{tag}>'


def bar(share: float | None) -> str:
    """Return a cell with a bar for a share of 1; an empty one for ranks and sums."""
    if share is None or not 0 <= share <= 1:
        return "<td></td>"
    full = "width:6em;height:.6em;background:rgba(128,128,128,.2)"
    part = f"width:{100 * share:.1f}%;height:100%;background:#1f7ab2"
    return (
        f'<td aria-hidden="true" style="vertical-align:middle;{PADDING}">'
        f'<div style="{full}"><div style="{part}"></div></div></td>'
    )
