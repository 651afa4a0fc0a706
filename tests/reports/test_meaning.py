"""Reports of scores by meaning: what the headline says of labels, and curves over different m."""

import numpy as np
import pytest

import karat
from karat.reports import write_report
from karat.reports.material import Material
from karat.reports.sections import meaning

from made import make_benchmark, make_run


@pytest.fixture(scope="module")
def score():
    bench = make_benchmark()
    phi = np.random.default_rng(5).random((bench.images.size, bench.captions.size))
    runs = [make_run(bench, signal, 2, name) for signal, name in ((0.5, "weak"), (3.0, "strong"))]
    return lambda *names: karat.evaluate(runs, bench, names, truth="own", phi={"n": phi})


def test_the_headline_does_not_speak_of_labels(score, tmp_path):
    page = write_report(score("NCS(n)@5"), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "decided by the similarity “n”, not by labels" in page
    assert "Nothing: the similarity “n” gives every pair a value" in page
    assert "What is unjudged counts as wrong" not in page
    assert "What is unjudged counts as wrong" in write_report(
        score("R@1", "NCS(n)@5"), tmp_path / "r.html"
    ).read_text(encoding="utf-8")


def test_curves_share_the_m_that_all_have(score):
    recall, hits = ([f"SR(n, m={m}{rest})@5" for m in (1, 4, 9)] for rest in ("", ", any=yes"))
    views = meaning.collect(Material(found=score(*recall, hits[0], hits[2])))["views"]
    assert len(views) == 3
    for view in views:
        assert view["m"] == [1, 9]
        assert all(len(line["values"]) == 2 for line in view["lines"])
        assert [line["second"] for line in view["lines"]] == [False, True] * 2
    whole = meaning.collect(Material(found=score(*recall)))["views"][0]
    assert whole["lines"][0]["values"][::2] == views[0]["lines"][0]["values"]
    assert meaning.collect(Material(found=score(*recall[:2], *hits[1:]))) is None


def test_hit_rates_alone_are_first_lines(score):
    """The page draws a second line beside its first: without one there would be nothing to draw."""
    views = meaning.collect(Material(found=score("SR(n, m=1, any=yes)@5", "SR(n, m=4, any=yes)@5")))["views"]
    assert not any(line["second"] for view in views for line in view["lines"])
