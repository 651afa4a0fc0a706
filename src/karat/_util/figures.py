"""Figures for notebooks: values as points with their intervals, and lines with bands, drawn by plotly.

Plotly is imported when a figure is made. It reads a kind of HTML in its texts, and formulas between dollar
signs, so names are escaped first. Colours are those of the report, on dark ground where plotly's own template
is dark (``plotly.io.templates.default = "plotly_dark"``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from karat._util.extras import extra
from karat._util.text import plural

if TYPE_CHECKING:
    import plotly.graph_objects as go

LONGEST_NAME = 22
"""Characters beside an axis; the hover text has more."""
MOST_MARKS = 300
"""In one figure; a taller one is no longer read."""
HEAD, FOOT, LINE_HEIGHT, MARK_HEIGHT = 34, 58, 12, 13
"""Pixels above the axis of a panel and below it, of each of its rows, and of each mark in a row."""
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "star")
INKS = (0, 1, 2, 3, 5, 6, 4)
"""The order of colours for lines: two of the seven are blue."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
PANEL_HEIGHT = 340
"""Pixels of a panel of lines with its axes."""


@dataclass(frozen=True)
class Palette:
    """The report's colours, on light or on dark ground."""

    ground: str
    text: str
    soft: str
    line: str
    accent: str
    series: tuple[str, ...]


LIGHT = Palette(
    "#ffffff", "#1b1f24", "#56606b", "#dde2e8", "#0b5f97",
    ("#005a8f", "#c25400", "#00805c", "#a8508a", "#1f7ab2", "#966800", "#3c434b"),
)  # fmt: skip
DARK = Palette(
    "#14171b", "#e8eaed", "#a9b2bc", "#353c44", "#6fbdf0",
    ("#56b4e9", "#ff9a57", "#3fcf9f", "#e39cc6", "#9ad4f7", "#f0bf4c", "#d5dae0"),
)  # fmt: skip


@dataclass(frozen=True)
class Mark:
    """A value with its interval.

    Parameters
    ----------
    row
        The name of the row that it is drawn in.
    value, low, high
        On the scale of the axis.
    text
        The numbers as tables show them.
    series
        What its colour and its symbol mean, as the legend says; empty where they mean nothing.
    filled
        Whether the symbol is filled.
    label
        What is written beside its row, where that is not the row's name.
    """

    row: str
    value: float
    low: float | None
    high: float | None
    text: str
    series: str = ""
    filled: bool = True
    label: str = ""


@dataclass(frozen=True)
class Panel:
    """Rows of marks on one axis; `unit` is the title of the axis, `zero` draws a line there."""

    title: str
    unit: str
    marks: Sequence[Mark]
    zero: bool = False

    @property
    def rows(self) -> list[str]:
        """The names of the rows, from the top."""
        return list(dict.fromkeys(mark.row for mark in self.marks))


def plain(text: str, most: int = 80) -> str:
    r"""Return a text that plotly shows as it is: without markup, formulas and line breaks.

    >>> plain("<b>a</b>").strip("\u2068\u2069"), plain("a" * 40 + "z", 9).strip("\u2068\u2069")
    ('&lt;b&gt;a&lt;/b&gt;', 'aaaa…aaaz')
    """
    text = re.sub(r"[\x00-\x1f\x7f]", " ", text.encode("utf-8", "replace").decode("utf-8"))
    text = shorten(text, most)
    for letter, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("$", "&#36;")):
        text = text.replace(letter, entity)
    # Isolated, so that right-to-left names do not turn the text around them.
    return f"\u2068{text}\u2069"


def shorten(text: str, most: int = LONGEST_NAME) -> str:
    """Return a text of at most this many characters, without its middle where it is longer.

    >>> shorten("a-long-name-of-a-model", 12)
    'a-long…model'
    """
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-((most - 1) // 2) :]}"


def forest(panels: Sequence[Panel], title: str, about: str = "", narrow: str = "") -> go.Figure:
    """Return a figure of panels below each other.

    Parameters
    ----------
    panels
        At least one, with at least one mark.
    title, about
        The heading, and a sentence on how to read it.
    narrow
        How to choose less, said where there is too much for one figure.
    """
    figures = extra("plotly.graph_objects")
    colour = DARK if "dark" in str(extra("plotly.io").templates.default) else LIGHT
    everything = sum(len(panel.rows) for panel in panels)
    panels = fitting(panels)
    shown = sum(len(panel.rows) for panel in panels)
    if shown < everything:
        about += f"{' ' * bool(about)}The first {shown} of {plural(everything, 'row')}; {narrow}."
    series = list(dict.fromkeys(mark.series for panel in panels for mark in panel.marks))
    named = len(series) > 1
    heights = [HEAD + FOOT + sum(row_heights(panel)) for panel in panels]
    top = 78 + 34 * named
    total = sum(heights)
    layout = {**frame(title, about, top, total, colour), "showlegend": named}
    traces = []
    ceiling = float(total)
    for number, (panel, height) in enumerate(zip(panels, heights), 1):
        floor, roof = ceiling - height + FOOT, ceiling - HEAD
        traces += draw(panel, number, series, colour)
        layout |= axes(panel, number, (floor / total, roof / total), colour)
        layout["annotations"].append(heading(panel.title, roof / total))
        ceiling -= height
    groups = [trace["legendgroup"] for trace in traces]
    for k, trace in enumerate(traces):
        trace["showlegend"] = named and trace["legendgroup"] not in groups[:k]
    return figures.Figure({"data": traces, "layout": layout})


def frame(title: str, about: str, top: int, total: int, colour: Palette) -> dict[str, Any]:
    """Return the layout around panels: titles, type, colours, and the place of a legend."""
    return {
        "height": top + total,
        "margin": {"l": 10, "r": 20, "t": top, "b": 0},
        "paper_bgcolor": colour.ground,
        "plot_bgcolor": colour.ground,
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": colour.text},
        "hoverlabel": {"bgcolor": colour.ground, "bordercolor": colour.line, "align": "left",
                       "font": {"color": colour.text}},
        "title": {"text": plain(title), "x": 0, "xref": "container", "xanchor": "left", "y": 1,
                  "yref": "container", "yanchor": "top", "pad": {"l": 12, "t": 12}, "font": {"size": 16},
                  "subtitle": {"text": about, "font": {"size": 12, "color": colour.soft}}},
        "legend": {"orientation": "h", "x": 0, "xref": "container", "y": 1 - 66 / (top + total),
                   "yref": "container", "yanchor": "top"},
        # Dragging scrolls a page on a phone; the bar has the tools.
        "dragmode": False,
        "modebar": {"remove": ["select", "lasso", "zoomin", "zoomout", "autoscale"]},
        "annotations": [],
    }  # fmt: skip


def heading(title: str, roof: float) -> dict[str, Any]:
    """Return the title above a panel."""
    return {
        "text": f"<b>{plain(title)}</b>", "x": 0, "xref": "paper", "xanchor": "left", "y": roof,
        "yref": "paper", "yanchor": "bottom", "yshift": 4, "showarrow": False,
    }  # fmt: skip


def fitting(panels: Sequence[Panel]) -> list[Panel]:
    """Return the rows that have room in one figure."""
    kept: list[Panel] = []
    room = MOST_MARKS
    for panel in panels:
        rows: dict[str, list[Mark]] = {}
        for mark in panel.marks:
            rows.setdefault(mark.row, []).append(mark)
        marks: list[Mark] = []
        for own in rows.values():
            room -= len(own)
            if room < 0 and (kept or marks):
                return [*kept, replace(panel, marks=marks)] if marks else kept
            marks += own
        kept.append(replace(panel, marks=marks))
    return kept


def row_heights(panel: Panel) -> list[int]:
    """Return the pixels of each row."""
    counts = [sum(mark.row == row for mark in panel.marks) for row in panel.rows]
    return [LINE_HEIGHT + MARK_HEIGHT * count for count in counts]


def centres(panel: Panel) -> list[float]:
    """Return where each row is on its axis, in pixels from the top."""
    heights = row_heights(panel)
    return [sum(heights[:k]) + height / 2 for k, height in enumerate(heights)]


def places_of_marks(panel: Panel) -> list[float]:
    """Return where each mark is on the axis of its panel: those of a row below each other."""
    rows: dict[str, list[int]] = {}
    for k, mark in enumerate(panel.marks):
        rows.setdefault(mark.row, []).append(k)
    places = [0.0] * len(panel.marks)
    for own, centre in zip(rows.values(), centres(panel)):
        for at, k in enumerate(own):
            places[k] = centre + MARK_HEIGHT * (at - (len(own) - 1) / 2)
    return places


def draw(panel: Panel, number: int, series: Sequence[str], colour: Palette) -> list[dict[str, Any]]:
    """Return the traces of a panel, one for each series."""
    places = places_of_marks(panel)
    traces = []
    for at, name in enumerate(series):
        numbers = [k for k, mark in enumerate(panel.marks) if mark.series == name]
        if not numbers:
            continue
        marks = [panel.marks[k] for k in numbers]
        ink = colour.accent if len(series) == 1 else colour.series[at % len(colour.series)]
        traces.append({
            "type": "scatter", "mode": "markers", "xaxis": f"x{number}", "yaxis": f"y{number}",
            "x": [mark.value for mark in marks], "y": [places[k] for k in numbers],
            "name": plain(name, 40), "legendgroup": str(at), "hoverinfo": "text",
            "hovertext": [hover(mark) for mark in marks],
            "error_x": {
                "type": "data", "symmetric": False, "thickness": 2, "width": 4, "color": ink,
                "array": [0 if mark.high is None else mark.high - mark.value for mark in marks],
                "arrayminus": [0 if mark.low is None else mark.value - mark.low for mark in marks],
            },
            "marker": {
                "size": 9, "symbol": SYMBOLS[at % len(SYMBOLS)],
                "color": [ink if mark.filled else colour.ground for mark in marks],
                "line": {"color": ink, "width": 2},
            },
        })  # fmt: skip
    return traces


def hover(mark: Mark) -> str:
    """Return what is shown beside a mark that is pointed at."""
    names = [plain(name) for name in (mark.series, mark.row) if name]
    return f"<b>{'<br>'.join(names)}</b><br>{plain(mark.text)}"


def axes(panel: Panel, number: int, domain: tuple[float, float], colour: Palette) -> dict[str, Any]:
    """Return both axes of a panel."""
    look = {
        "gridcolor": colour.line,
        "linecolor": colour.line,
        "automargin": True,
        "ticks": "",
        "zeroline": False,
    }
    labels = {mark.row: mark.label or shorten(mark.row) for mark in panel.marks}
    return {
        f"xaxis{number}": {
            **look, "anchor": f"y{number}", "zeroline": panel.zero, "zerolinecolor": colour.soft,
            "title": {"text": panel.unit, "standoff": 6, "font": {"color": colour.soft, "size": 12}},
            "rangemode": "tozero" if panel.zero else "normal",
        },
        f"yaxis{number}": {
            **look, "anchor": f"x{number}", "domain": list(domain), "showgrid": False, "fixedrange": True,
            "range": [sum(row_heights(panel)), 0], "tickvals": centres(panel),
            "ticktext": [plain(labels[row]) for row in panel.rows],
        },
    }  # fmt: skip


@dataclass(frozen=True)
class Band:
    """A line with a band around it; None where there is no value."""

    name: str
    x: Sequence[float | None]
    y: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]


@dataclass(frozen=True)
class BandPanel:
    """Lines with bands on the same axes; `levels` are horizontal lines by their names."""

    title: str
    x: str
    y: str
    bands: Sequence[Band]
    levels: Mapping[str, float]


def band_chart(panels: Sequence[BandPanel], title: str, about: str = "") -> go.Figure:
    """Return a figure of panels of lines below each other; the same name has the same look in all of them."""
    figures = extra("plotly.graph_objects")
    colour = DARK if "dark" in str(extra("plotly.io").templates.default) else LIGHT
    names = list(dict.fromkeys(band.name for panel in panels for band in panel.bands))
    top, total = 112, PANEL_HEIGHT * len(panels)
    layout = {**frame(title, about, top, total, colour), "showlegend": True}
    traces: list[dict[str, Any]] = []
    for number, panel in enumerate(panels, 1):
        roof = 1 - ((number - 1) * PANEL_HEIGHT + HEAD) / total
        domain = (1 - (number * PANEL_HEIGHT - FOOT) / total, roof)
        own = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        for band in panel.bands:
            traces += [{**trace, **own} for trace in band_traces(band, names.index(band.name), colour)]
        traces += [{**level_trace(panel, name, colour), **own} for name in panel.levels]
        look = {"gridcolor": colour.line, "linecolor": colour.line, "automargin": True, "zeroline": False}
        words = {"standoff": 6, "font": {"color": colour.soft, "size": 12}}
        layout |= {
            f"xaxis{number}": {**look, "anchor": f"y{number}", "title": {"text": panel.x, **words}},
            f"yaxis{number}": {**look, "anchor": f"x{number}", "domain": domain,
                               "title": {"text": panel.y, **words}},
        }  # fmt: skip
        layout["annotations"].append(heading(panel.title, roof))
    seen: set[str] = set()
    for trace in traces:
        if "showlegend" not in trace:
            trace["showlegend"] = trace["legendgroup"] not in seen
            seen.add(trace["legendgroup"])
    return figures.Figure({"data": traces, "layout": layout})


def band_traces(band: Band, at: int, colour: Palette) -> list[dict[str, Any]]:
    """Return the band, and the line in front of it."""
    ink = colour.series[INKS[at % len(INKS)]]
    known = [k for k, ends in enumerate(zip(band.low, band.high)) if None not in ends]
    around = {
        "type": "scatter", "mode": "lines", "fill": "toself", "fillcolor": ink, "opacity": 0.14,
        "x": [band.x[k] for k in (*known, *reversed(known))], "line": {"width": 0},
        "y": [*(band.high[k] for k in known), *(band.low[k] for k in reversed(known))],
        "hoverinfo": "skip", "legendgroup": band.name, "showlegend": False,
    }  # fmt: skip
    texts = [
        "" if y is None else f"<b>{plain(band.name)}</b><br>{x:.1f}: {y:.2f} ({low:.2f}–{high:.2f})"
        for x, y, low, high in zip(band.x, band.y, band.low, band.high)
    ]
    line = {
        "type": "scatter", "mode": "lines+markers", "x": list(band.x), "y": list(band.y),
        "name": plain(band.name, 40), "legendgroup": band.name, "hoverinfo": "text", "hovertext": texts,
        "line": {"color": ink, "width": 2, "dash": DASHES[at % len(DASHES)]},
        "marker": {"size": 7, "symbol": SYMBOLS[at % len(SYMBOLS)], "color": ink},
    }  # fmt: skip
    return [around, line] if known else [line]


def level_trace(panel: BandPanel, name: str, colour: Palette) -> dict[str, Any]:
    """Return a horizontal line."""
    ends = [x for band in panel.bands for x in band.x if x is not None]
    dash = DASHES[list(panel.levels).index(name) % len(DASHES)]
    return {
        "type": "scatter", "mode": "lines", "x": [0, max(ends, default=1)], "y": [panel.levels[name]] * 2,
        "name": name, "legendgroup": name, "hoverinfo": "text",
        "hovertext": f"{name}: {panel.levels[name]:.2f}",
        "line": {"color": colour.text, "width": 1.5, "dash": dash},
    }  # fmt: skip
