"""What notebooks show: everything escaped, nothing loaded, readable on any ground, no more than fits."""

import re
import sys

import numpy as np
import pytest

import karat
from karat._util import Layout, fragment
from karat._util.figures import MOST_MARKS
from karat._util.notebook import MOST_COLUMNS, MOST_LINES, MOST_ROWS
from karat.baselines import NearestNeighbour
from karat.benchmarks import Benchmark, Fold, Ids, Judgments, Provenance, Truth
from karat.errors import MissingDataError
from karat.world import make_world, simulate_systems

from house import ROOT

HOSTILE = '<script>alert("1")</script><img src=x onerror=alert(1)>'
WORLD = make_world(images=12, captions=2, seed=2)


def hostile_benchmark():
    own = Judgments([0, 0, 1, 1], [0, 1, 2, 2], rating=[1, 1, 1, 0], source=[0, 0, 0, 1],
                    sources=[Provenance("original"), Provenance(HOSTILE, scale=HOSTILE)])  # fmt: skip
    queries = {"i2t": np.arange(2), "t2i": np.arange(3)}
    fold = Fold("all", np.arange(2), np.arange(3))
    truth = Truth(HOSTILE, own, queries, folds=(fold, fold), about=HOSTILE)
    ids = Ids([7, 8], kind="image"), Ids(range(3), kind="caption")
    return Benchmark(HOSTILE, *ids, {HOSTILE: truth}, np.array([0, 0, 1]), about=HOSTILE)


def hostile_runs():
    bench = hostile_benchmark()
    vectors = np.eye(2), np.array([[1.0, 0], [0.6, 0.8], [0, 1]])
    return [
        karat.load_run(np.ones((2, 3)), name=HOSTILE, benchmark=bench),
        karat.load_run(*vectors, name=HOSTILE),
        karat.load_run({"t2i": {0: [7, 8], 2: [8]}}, name=HOSTILE),
        NearestNeighbour().run(np.eye(2), np.ones((3, 2)), name=HOSTILE),
    ]


THINGS = [hostile_benchmark(), *hostile_benchmark().truths.values(), *hostile_runs()]


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: type(thing).__name__)
def test_benchmarks_truths_and_runs_show_themselves(thing):
    shown = thing._repr_html_()
    assert "&lt;script&gt;alert(&quot;1&quot;)" in shown
    assert not re.search(r"<(script|img|a|style|link|iframe)\b", shown)
    # The numbers of the line that a list or a debugger shows.
    assert "\n" not in repr(thing)
    for number in re.findall(r"\b[\d,]+\b", repr(thing).replace(HOSTILE, "")):
        assert re.search(rf"\b{number}\b", shown), number


def test_what_is_said_of_runs_and_truths():
    matrix, vectors, lists, directed = hostile_runs()
    assert "score table of 2 images by 3 captions, float64" in repr(matrix)
    assert "embeddings of 2 images and 3 captions, 2 dimensions, similarity dot" in repr(vectors)
    assert "ranked lists of 2 captions" in repr(lists)
    assert "not matched with one yet" in lists._repr_html_()
    assert "two score tables of 2 images by 3 captions" in repr(directed)
    (truth,) = hostile_benchmark().truths.values()
    assert truth.counts("i2t") == {"queries": 2, "positives": 3, "negatives": 0}
    assert "Scored in 2 folds" in truth._repr_html_()
    complete = WORLD.benchmark().truth("complete")._repr_html_()
    assert "all others" in complete


def test_nothing_is_loaded_and_no_colour_hides_the_text():
    card = karat.evaluate(simulate_systems(WORLD)[:2], WORLD.benchmark(), "R@1")
    for shown in (card._repr_html_(), *(thing._repr_html_() for thing in THINGS)):
        assert "url(" not in shown
        assert "http" not in shown
        # A text has the notebook's own colour, on the notebook's own ground.
        assert not re.search(r"[;\"]color:", shown)
        grounds = re.findall(r"background:([^;\"]+)", shown)
        assert {*grounds} <= {"rgba(128,128,128,.2)", "#1f7ab2"}
        # Formulas are not typeset: a name with dollar signs could hold a link.
        assert shown.startswith('<div class="tex2jax_ignore mathjax_ignore"')


def test_a_name_of_bytes_that_are_no_text_can_be_stored():
    shown = fragment(["a\udcff", Layout(["a\udcff"], [["b\udcff"]])], ["c\udcff"])
    shown.encode("utf-8")


def test_large_tables_and_texts_are_cut_with_a_sentence(tmp_path):
    large = Layout([f"c{k}" for k in range(90)], [[f"{r}/{k}" for k in range(90)] for r in range(1234)])
    shown = fragment([large])
    assert (
        f"The first {MOST_ROWS} of 1,234 rows and {MOST_COLUMNS} of 90 columns; print() shows all." in shown
    )
    assert f"{MOST_ROWS - 1}/{MOST_COLUMNS - 1}" in shown
    assert f"{MOST_ROWS}/0<" not in shown
    assert f"0/{MOST_COLUMNS}<" not in shown
    text = fragment(["\n".join(f"line {k}" for k in range(500))])
    assert f"line {MOST_LINES - 1}<" in text
    assert f"The first {MOST_LINES} of 500 lines" in text
    # What fits is not cut, and a page has everything.
    assert "The first" not in fragment([Layout(["a"], [["b"]] * MOST_ROWS)])
    assert "1233/89" in fragment([large], cut=False)
    listed = karat.measures.list()
    listed.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(row[0] in page for table in listed.tables() for row in table.rows)


def test_values_stay_with_their_intervals_and_bars_with_their_shares():
    layout = Layout(
        ["measure", "mean"],
        [["R@1", "50.00 (40.00–60.00)"], ["MedR", "3"]],
        best={(0, 1)},
        shares=[0.5, None],
    )
    shown = fragment([layout])
    assert '<span style="white-space:nowrap">(40.00–60.00)</span></b>' in shown
    assert shown.count("width:50.0%") == 1
    assert shown.count("<td></td>") == 1


def test_values_per_query_are_a_table_of_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    card = karat.evaluate(simulate_systems(WORLD)[0], WORLD.benchmark(), "R@1", truth="original")
    table, frame = card.to_pandas(per_query=True), card.per_query()
    assert table.to_dict("list") == frame.to_dict(as_series=False)
    # Without intervals these columns are empty, and of numbers.
    assert card.to_pandas()["low"].dtype == np.float64


def test_the_page_on_notebooks_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
    names = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(code, "notebook.md", "exec"), names)
    assert names["card"]._repr_html_().count("%") > 3
    assert (tmp_path / "differences.html").stat().st_size > 1e6
    assert (tmp_path / "report.html").is_file()
    assert f"more than {MOST_ROWS} rows or {MOST_COLUMNS} columns" in page
    assert f"more than {MOST_MARKS}\nmarks" in page
    # Every name that the page mentions is there.
    assert {*re.findall(r"`karat\.(\w+)\(", page)} <= set(karat.__all__)


def test_pandas_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDataError, match=r"the package pandas is not installed; pip install pandas\."):
        karat.measures.list().to_pandas()
