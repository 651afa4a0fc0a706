"""Figures of results: intervals, units, names as text, the report's colours, and no more than can be read."""

import re
import sys
from dataclasses import asdict

import numpy as np
import plotly.io
import pytest

import karat
from karat._util.figures import DARK, LIGHT, MOST_MARKS, Mark, Panel, fitting, forest, plain
from karat.errors import InputError, MissingDataError
from karat.stats import Intervals
from karat.world import make_world, simulate_systems

from house import ROOT

HOSTILE = '<b>$x$</b><a href="https://example.org">%{x}</a>\n'
FEW = Intervals(resamples=50)
WORLD = make_world(images=12, captions=2, seed=2)
MEASURES = ["R@1", "RSUM", "MedR"]


@pytest.fixture(scope="module")
def card():
    runs = {HOSTILE: simulate_systems(WORLD)[0], "other": simulate_systems(WORLD)[1]}
    return karat.evaluate(runs, WORLD.benchmark(), MEASURES, truth="original", intervals=FEW)


@pytest.fixture(scope="module")
def comparison(card):
    return karat.compare(card, intervals=FEW, samples=100)


@pytest.fixture(scope="module")
def single():
    return karat.evaluate(simulate_systems(WORLD)[0], WORLD.benchmark(), MEASURES, intervals=FEW)


def axis_titles(figure):
    return [axis.title.text for axis in figure.select_xaxes()]


def panel_titles(figure):
    return [re.sub(r"</?b>|[\u2068\u2069]", "", note.text) for note in figure.layout.annotations]


def test_one_run_has_its_measures_with_their_intervals(single):
    figure = single.plot()
    # A panel for each truth and unit, each with its unit.
    assert axis_titles(figure) == ["percent", "sum of percentages", "rank, low is good"] * 2
    assert panel_titles(figure) == ["original"] * 3 + ["complete"] * 3
    drawn = {}
    for trace in figure.data:
        for k, value in enumerate(trace.x):
            ends = value - trace.error_x.arrayminus[k], value + trace.error_x.array[k]
            drawn.setdefault(trace.name.strip("\u2068\u2069"), []).append((value, *ends))
    titles = {"i2t": "image→text", "t2i": "text→image", "mean": "mean", "both": "both"}
    expected = {}
    for record in single.records():
        scale = 1 if record["measure"] == "MedR" else 100
        numbers = tuple(scale * record[key] for key in ("value", "low", "high"))
        expected.setdefault(titles[record["direction"]], []).append(numbers)
    assert drawn.keys() == expected.keys()
    for name in drawn:
        np.testing.assert_allclose(sorted(drawn[name]), sorted(expected[name]))
    # The legend names each direction once.
    assert sum(bool(trace.showlegend) for trace in figure.data) == len(expected)
    assert figure.layout.title.subtitle.text == "Lines are 95% intervals."


def test_several_runs_are_drawn_best_first(card, comparison):
    figure = card.plot("R@1")
    (trace,) = figure.data
    assert list(trace.x) == sorted(trace.x, reverse=True)
    assert list(trace.y) == sorted(trace.y)
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]
    assert panel_titles(figure) == ["R@1 on original, mean"]
    assert list(card.plot("MedR").data[0].x) == sorted(card.plot("MedR").data[0].x)
    assert list(comparison.plot(measure="R@1").data[0].x) == list(trace.x)
    assert len(comparison.plot().data) == len(MEASURES)
    chosen = comparison.plot(measure=["R@1", "MedR"], direction="t2i")
    assert panel_titles(chosen) == ["R@1 on original, text→image", "MedR on original, text→image"]


def test_a_run_of_one_direction_is_drawn_too():
    bench = WORLD.benchmark()
    lists = {"i2t": {image: bench.captions.values[:4].tolist() for image in bench.images.values.tolist()}}
    runs = {"both": simulate_systems(WORLD)[0], "one": lists}
    figure = karat.evaluate(runs, bench, "R@1", truth="original").plot()
    assert panel_titles(figure) == [f"R@1 on original, {way}" for way in ("image→text", "text→image", "mean")]
    assert [len(trace.x) for trace in figure.data] == [2, 1, 1]


def test_a_filled_mark_is_first_or_beats(comparison):
    scores = comparison.plot(measure="R@1")
    standing = comparison.standing("R@1")
    filled = [colour == LIGHT.accent for colour in scores.data[0].marker.color]
    assert filled == [run in standing.first for run in standing.runs]
    differences = comparison.plot("differences", measure="R@1")
    pair = comparison.difference(*comparison.card.runs, "R@1")
    assert differences.data[0].x[0] == pytest.approx(100 * pair.difference)
    assert (differences.data[0].marker.color[0] == LIGHT.accent) == (pair.corrected <= 0.05)
    assert axis_titles(differences) == ["percentage points"]
    assert differences.layout.xaxis.zeroline
    assert axis_titles(comparison.plot("differences", measure="MedR")) == ["ranks"]


def texts(figure):
    """Return every text of a figure that can hold a name."""
    yield from (figure.layout.title.text, figure.layout.title.subtitle.text)
    yield from (note.text for note in figure.layout.annotations)
    for axis in figure.select_yaxes():
        yield from axis.ticktext
    for trace in figure.data:
        yield trace.name
        yield from trace.hovertext


def test_names_are_texts_and_nothing_else(card, comparison):
    one = karat.evaluate({HOSTILE: simulate_systems(WORLD)[0]}, WORLD.benchmark(), "R@1", truth="original")
    for figure in (card.plot(), comparison.plot(), comparison.plot("differences"), one.plot()):
        shown = list(texts(figure))
        assert any("&lt;b&gt;" in text for text in shown)
        for text in shown:
            # What plotly reads as markup is karat's own; a dollar sign would begin a formula.
            assert not re.search(r"<(?!/?b>|br>)", text), text
            assert "$" not in text
            assert "\n" not in text
        assert all(trace.hovertemplate is None and trace.texttemplate is None for trace in figure.data)


def test_a_name_is_shown_as_it_is():
    assert plain("a & b") == "\u2068a &amp; b\u2069"
    assert plain("<br>$1$") == "\u2068&lt;br&gt;&#36;1&#36;\u2069"
    assert plain("a\udcff") == "\u2068a?\u2069"


def test_the_numbers_are_those_of_the_tables(card, comparison):
    printed = str(comparison)
    for figure in (comparison.plot(), comparison.plot("differences")):
        for trace in figure.data:
            for text in trace.hovertext:
                numbers = re.findall(r"[+−±]?[\d.]+", text.rpartition("<br>")[2])
                assert len(numbers) >= 3
                assert all(number.rstrip(".") in printed for number in numbers), text


def test_colours_are_those_of_the_report():
    css = (ROOT / "src/karat/reports/static/css/1-colours.css").read_text(encoding="utf-8")
    light, _, dark = css.partition("@media")
    for palette, block in ((LIGHT, light), (DARK, dark.partition(':root[data-theme="dark"]')[2])):
        known = dict(re.findall(r"--([\w-]+): (#\w+)", block))
        series = palette.series
        assert series == tuple(known[f"series-{k + 1}"] for k in range(len(series)))
        for name, colour in asdict(palette).items():
            assert name == "series" or colour == known[name], name


def test_colours_follow_the_template_of_plotly(single, monkeypatch):
    assert single.plot().layout.paper_bgcolor == LIGHT.ground
    monkeypatch.setattr(plotly.io.templates, "default", "plotly_dark")
    figure = single.plot()
    assert figure.layout.paper_bgcolor == DARK.ground
    assert figure.data[0].marker.line.color == DARK.series[0]


def test_too_much_for_one_figure_is_cut_with_a_sentence():
    marks = [Mark(f"row {k}", k, None, None, str(k)) for k in range(MOST_MARKS + 50)]
    figure = forest([Panel("a", "percent", marks), Panel("b", "percent", marks)], "much", "", "choose less")
    assert len(figure.data) == 1
    assert len(figure.data[0].x) == MOST_MARKS
    assert figure.layout.title.subtitle.text == f"The first {MOST_MARKS} of 700 rows; choose less."
    assert fitting([Panel("a", "percent", marks[:3])]) == [Panel("a", "percent", marks[:3])]


def test_a_wrong_name_is_refused(card, comparison):
    with pytest.raises(InputError, match="did you mean original"):
        card.plot(truth="origial")
    with pytest.raises(InputError, match="what"):
        comparison.plot("score")
    with pytest.raises(InputError, match="no column is of all these names"):
        comparison.plot(measure="RSUM", direction="t2i")
    with pytest.raises(InputError, match="no column has a value to draw"):
        card.plot("RSUM", direction="t2i")


def test_plotly_is_named_where_it_is_missing(card, monkeypatch):
    for name in ("plotly", "plotly.graph_objects", "plotly.io"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDataError, match=r"the package plotly is not installed; pip install plotly\."):
        card.plot()
