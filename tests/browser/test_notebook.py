"""Results in a notebook's page: nothing runs, nothing is asked for, nothing sticks out, names are texts."""

from pathlib import Path

import plotly
import pytest

import karat
from karat.stats import Intervals
from karat.world import make_world, simulate_systems

NAME = '<script>document.title = "hit"</script><img src="x" onerror="document.title = 1"> $a$ & <b>b</b>'
WORLD = make_world(images=12, captions=2, seed=2)
PAGE = """<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>quiet</title><style>{}</style>{}"""
# As JupyterLab has it, in both of its themes.
THEME = """
body { margin: 0; padding: 8px; font: 14px sans-serif; color: rgba(0, 0, 0, .87); background: #fff }
table { table-layout: fixed; margin-left: auto; font-size: 12px }
td, th { white-space: normal; padding: .5em }
tbody tr:nth-child(even) { background: #f5f5f5 }
@media (prefers-color-scheme: dark) {
  body { color: #fff; background: #111 } tbody tr:nth-child(even) { background: #212121 }
}"""
ALL = "[...document.querySelectorAll('body *')]"
COLOURS = f"return [...new Set({ALL}.map((e) => getComputedStyle(e).color))]"


@pytest.fixture(scope="module")
def compared():
    first, second, *_ = simulate_systems(WORLD)
    options = {"intervals": Intervals(resamples=50), "samples": 100}
    return karat.compare({NAME: first, "other": second}, WORLD.benchmark(), ["R@1", "MedR"], **options)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_tables_fit_the_page(browser, pictures, tmp_path, compared, width, dark):
    run = karat.load_run(simulate_systems(WORLD)[0].scores, name=NAME)
    things = [compared.card, compared, run, WORLD.benchmark(), WORLD.benchmark().truth("complete")]
    path = tmp_path / "notebook.html"
    shown = "<br>".join(thing._repr_html_() for thing in things)
    path.write_text(PAGE.format(THEME, shown), encoding="utf-8")
    browser.set(width, dark)
    browser.driver.get(path.as_uri())
    browser.picture(pictures / f"notebook-{width}-{'dark' if dark else 'light'}.png")
    assert browser.driver.title == "quiet"
    assert browser.run("return document.querySelectorAll('script, img, a, link').length") == 0
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert NAME in browser.run("return document.body.textContent")
    # Every text has the page's colour.
    assert browser.run(COLOURS) == [browser.run("return getComputedStyle(document.body).color")]
    assert browser.complaints() == []


def test_plotly_shows_names_as_they_are(browser, pictures, tmp_path, compared):
    script = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").as_uri()
    drawn = compared.plot().to_html(include_plotlyjs=False, full_html=False)
    path = tmp_path / "figure.html"
    path.write_text(PAGE.format("", f'<script src="{script}"></script>{drawn}'), encoding="utf-8")
    browser.set(390, dark=False)
    browser.driver.get(path.as_uri())
    browser.wait("return document.querySelectorAll('.ytick text').length === 2")
    browser.picture(pictures / "notebook-figure-390.png")
    ticks = browser.run("return [...document.querySelectorAll('.ytick text')].map((e) => e.textContent)")
    assert {tick.strip("\u2068\u2069") for tick in ticks} == {"other", f"{NAME[:11]}…{NAME[-10:]}"}
    marks = "[{curveNumber: 0, pointNumber: 0}, {curveNumber: 0, pointNumber: 1}]"
    browser.run(f"Plotly.Fx.hover(document.querySelector('.js-plotly-plot'), {marks}, 'xy')")
    browser.wait("return document.querySelectorAll('.hovertext').length === 2")
    texts = browser.run("return [...document.querySelectorAll('.hovertext')].map((e) => e.textContent)")
    assert "$a$ & <b>b</b>" in "".join(texts)
    assert browser.driver.title == "quiet"
    assert browser.run("return document.querySelectorAll('.main-svg a, .js-plotly-plot img').length") == 0
    assert browser.run("return document.documentElement.scrollWidth") <= 390
