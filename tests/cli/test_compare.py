"""``karat compare`` and the intervals of ``karat evaluate`` as a user meets them."""

import json

import numpy as np
import pytest

import karat
from karat.benchmarks import save_benchmark

from latex import read_latex
from made import make_benchmark, make_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small benchmark and four runs on disk."""
    folder = tmp_path_factory.mktemp("compare")
    bench = make_benchmark(60)
    save_benchmark(bench, folder / "made")
    for number, (name, signal) in enumerate([("good", 3), ("fine", 2.9), ("weak", 1), ("poor", 0.2)]):
        np.save(folder / f"{name}.npy", make_run(bench, signal, number, name).scores)
    return folder


def files(folder, *names):
    return [folder / f"{name}.npy" for name in names]


def test_two_runs_in_a_few_tables(command, folder):
    out = command(
        "compare",
        *files(folder, "good", "weak"),
        "-b",
        folder / "made",
        "-m",
        "R@1,RSUM",
        "--resamples",
        999,
    )
    assert "Differences, good − weak" in out
    assert "First: “good” everywhere." in out
    assert "Fisher's randomisation test with 999 swaps" in out
    assert "Holm" not in out
    assert "\x1b" not in out


def test_many_runs_show_places_and_differences_to_the_best(command, folder, tmp_path):
    names = ["good", "fine", "weak", "poor"]
    twins = [*names, "good"]
    out = command(
        "compare", *files(folder, *twins), "-b", folder / "made", "--name", ",".join([*names, "twin"]),
        "-m", "RP", "--truth", "own", "--resamples", 999, "--json", tmp_path / "all.json",
        "-o", tmp_path / "all.md",
    )  # fmt: skip
    head = out.splitlines()[1].split()
    assert head == ["measure", "run", "score", "95%", "interval", "place"]
    assert "├" in out
    assert "Differences to the best run" in out
    assert "Who beats whom" in out
    found = json.loads((tmp_path / "all.json").read_text())
    # Both directions and their mean, ten pairs of five runs.
    assert len(found["differences"]) == 30
    assert len(found["places"]) == 15
    places = {r["run"]: r for r in found["places"] if r["direction"] == "mean"}
    assert places["good"]["best_place"] == places["twin"]["best_place"]
    assert any(r["tied_for_first"] for r in places.values())
    assert places["poor"]["best_place"] > 2
    assert "poor" in places["good"]["beats"]


def test_latex_of_a_comparison(command, folder, tmp_path):
    path = tmp_path / "all.tex"
    wanted = ["-b", folder / "made", "-m", "R@1,RSUM", "--truth", "own", "--resamples", 999, "-o", path]
    command("compare", *files(folder, "good", "fine", "weak"), *wanted)
    scores, differences = read_latex(path.read_text())
    assert [row[0] for row in scores.cells()] == ["", "Model", "good", "", "fine", "", "weak", ""]
    assert [span for _, span in scores.rows[0]] == [1, 1, 1, 1, 1]
    assert scores.cells()[2][1].startswith(r"\textbf{")
    assert scores.cells()[4][1].startswith(r"\underline{")
    assert scores.legend.endswith("underlined: none is shown to be better (Holm p $>$ 0.05)")
    assert differences.legend == r"* Holm p $\leq$ 0.1, ** $\leq$ 0.05, *** $\leq$ 0.01"
    assert "% Values in percent, ranks as they are; Fisher's randomisation test" in path.read_text()


def test_stars_have_a_legend_wherever_they_are_printed(command, folder):
    wanted = ["-b", folder / "made", "-m", "R@1", "--truth", "own", "--resamples", 999]
    comparison = karat.compare(
        files(folder, "good", "weak"), folder / "made", ["R@1"], truth="own", resamples=999
    )
    legend = "* p ≤ 0.1, ** ≤ 0.05, *** ≤ 0.01"
    for shown in (
        command("compare", *files(folder, "good", "weak"), *wanted),
        comparison.to_markdown().replace("\\", ""),
        comparison._repr_html_(),
    ):
        assert shown.count(legend) == 1
        assert "***" in shown.replace(legend, "")
    # None where nothing is starred.
    same = command("compare", *files(folder, "good", "good"), "--name", "a,b", *wanted)
    assert "≤ 0.1," not in same


def test_detail_shows_directions(command, folder):
    out = command(
        "compare", *files(folder, "good", "fine"), "-b", folder / "made", "-m", "R@1", "--detail",
        "--test", "mcnemar",
    )  # fmt: skip
    assert "image→text" in out
    assert "McNemar's test (mid-p)" in out


def test_intervals_of_one_run(command, folder, tmp_path):
    out = command(
        "evaluate", *files(folder, "fine"), "-b", folder / "made", "-m", "R@1", "--intervals",
        "--interval-method", "bca", "--level", "0.9", "--resamples", 500, "--json", tmp_path / "card.json",
    )  # fmt: skip
    assert "90% BCa intervals from 500 resamples" in out
    records = json.loads((tmp_path / "card.json").read_text())
    assert all(r["low"] <= r["value"] <= r["high"] for r in records)
    plain = command("evaluate", *files(folder, "fine"), "-b", folder / "made", "-m", "R@1")
    assert "(" not in plain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["good"], "there is only the run 'good' to compare; give two or more."),
        (["good", "fine", "--test", "ttest"], "unknown test 'ttest'"),
        (["good", "fine", "--alpha", "5"], "alpha is 5"),
        (["good", "fine", "--level", "95"], "level is 95"),
        (["good", "fine", "--interval-method", "normal"], "choose one of percentile, bca"),
        (["good", "fine", "-o", "out.docx"], ".docx"),
        (["good", "good"], "two runs are called"),
    ],
)
def test_mistakes_are_one_line(command, folder, arguments, message):
    given = [folder / f"{word}.npy" if word in ("good", "fine") else word for word in arguments]
    said = command("compare", *given, "-b", folder / "made", "-m", "R@1", code=2)
    assert message in said
    assert said.count("\n") == 1


def test_mcnemar_shows_what_it_can_test(command, folder):
    out = command(
        "compare", *files(folder, "good", "weak"), "-b", folder / "made", "-m", "R@1", "--test", "mcnemar"
    )
    assert "image→text" in out
    assert "***" in out
