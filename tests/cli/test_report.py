"""``karat report`` and ``karat board report`` as a user meets them."""

import json
import re

import numpy as np
import pytest

from karat.benchmarks import save_benchmark
from karat.runs import MatrixRun

from made import make_benchmark, make_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small benchmark and three runs on disk."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "empty").mkdir()
    bench = make_benchmark(40)
    save_benchmark(bench, folder / "made")
    for number, (name, signal) in enumerate([("good", 3), ("fine", 2.9), ("weak", 1)]):
        np.save(folder / f"{name}.npy", make_run(bench, signal, number, name).scores)
    return folder


def words(page):
    """What a page says, without its marks."""
    return re.sub(r"<[^>]*>", "", page)


def test_several_runs(command, folder, tmp_path):
    out = command(
        "report", folder / "good.npy", folder / "fine.npy", folder / "weak.npy", "-b", folder / "made",
        "--resamples", 199, "-m", "R@1,RP", "--title", "My <title>",
        "-o", tmp_path / "report.html",
    )  # fmt: skip
    assert "wrote" in out
    assert "report.html (2." in out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "My &lt;title&gt;" in page
    assert "Who beats whom" in page
    assert "karat report" in page
    assert "--resamples 199" in page


def test_one_run(command, folder, tmp_path):
    command(
        "report", folder / "good.npy", "-b", folder / "made", "--resamples", 200, "-m", "R@1", "-o",
        tmp_path / "one.html",
    )  # fmt: skip
    page = (tmp_path / "one.html").read_text(encoding="utf-8")
    assert "good reaches" in words(page)
    assert "Who beats whom" not in page


def page_of(command, folder, target, name, *files):
    """Return the page that a command writes, without what says which command wrote it, and when."""
    words = [folder / file for file in files]
    command(name, *words, "-b", folder / "made", "-m", "R@1,MedR", "-o", target)
    page = target.read_text(encoding="utf-8")
    assert f"karat {name} " in page
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "now", page.replace(f"karat {name} ", "karat … "))


def test_three_commands_write_the_same_page(command, folder, tmp_path):
    several, one = ("good.npy", "weak.npy"), ("good.npy",)
    target = tmp_path / "page.html"
    pages = [page_of(command, folder, target, name, *several) for name in ("report", "compare", "evaluate")]
    assert pages[0] == pages[1] == pages[2]
    assert "Who beats whom" in pages[0]
    assert page_of(command, folder, target, "report", *one) == page_of(
        command, folder, target, "evaluate", *one
    )


def test_a_page_reads_the_scores_once(command, folder, tmp_path, monkeypatch):
    rows = []
    plain = MatrixRun.block

    def block(self, begin, end):
        rows.extend((self.name, row) for row in range(begin, end))
        return plain(self, begin, end)

    monkeypatch.setattr(MatrixRun, "block", block)
    monkeypatch.setattr(MatrixRun, "query_scores", lambda *_: pytest.fail("the scores are read again"))
    command("evaluate", folder / "good.npy", "-b", folder / "made", "-o", tmp_path / "page.html")
    assert rows == [("good", row) for row in range(40)]


def test_a_table_of_numbers(command, tmp_path):
    table = tmp_path / "board.csv"
    table.write_text("model,R@1,error\nA,0.4,3\nB,0.5,2\nC,0.3,9\n", encoding="utf-8")
    out = command("board", "report", table, "--lower-is-better", "error", "-o", tmp_path / "board.html")
    assert "board.html" in out
    assert "B leads under all 2 metrics" in words((tmp_path / "board.html").read_text(encoding="utf-8"))
    assert "unknown" not in out
    said = command("board", "report", table, "--lower-is-better", "wrong", "-o", tmp_path / "b.html", code=2)
    assert "no metric 'wrong'" in said


def test_a_folder_of_scorecards(command, folder, tmp_path):
    cards = tmp_path / "cards"
    cards.mkdir()
    for name in ("good", "weak"):
        command("evaluate", folder / f"{name}.npy", "-b", folder / "made", "--json", cards / f"{name}.json")
    assert json.loads((cards / "good.json").read_text())
    command("board", "report", cards, "-o", tmp_path / "cards.html")
    assert "good leads" in words((tmp_path / "cards.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "good.npy", "-o", "report.pdf"], "name it report.html"),
        (["report", "good.npy", "-o", "missing/report.html"], "there is no folder"),
        (["report", "good.npy", "fine.npy", "--test", "ttest"], "unknown test 'ttest'"),
        (["report", "good.npy", "good.npy"], "two runs are called"),
        (["board", "report", "made/nothing.csv"], "nothing.csv"),
        (["board", "report", "empty"], "has no json file"),
    ],
)
def test_mistakes_are_one_line(command, folder, arguments, message, monkeypatch):
    monkeypatch.chdir(folder)
    options = ["-b", "made"] if arguments[0] == "report" else []
    said = command(*arguments, *options, code=2)
    assert message in said
    assert said.count("\n") == 1


def test_evaluate_and_compare_write_it_too(command, folder, tmp_path):
    given = ["-b", folder / "made", "-m", "R@1", "-o", tmp_path / "r.html"]
    out = command("evaluate", folder / "good.npy", *given)
    assert "open it in a browser" in out
    assert "R@1" in (tmp_path / "r.html").read_text("utf-8")
    command("compare", folder / "good.npy", folder / "weak.npy", "--resamples", 200, *given)
    assert "Who beats whom" in (tmp_path / "r.html").read_text("utf-8")


def test_cut_lists_and_odd_names(command, folder, tmp_path):
    """Lists that are cut off have no curve over gallery sizes; bytes that are no text are shown somehow."""
    bench = make_benchmark(40)
    run = make_run(bench, 3, 1, "cut").align(bench)
    top = run.top("t2i", 5)
    lists = {str(1000 + c): row for c, row in enumerate(top.item.reshape(-1, 5).tolist())}
    (tmp_path / "cut.json").write_text(json.dumps({"t2i": lists}))
    page = tmp_path / "r.html"
    given = ["-b", folder / "made", "--resamples", 200, "-o", page]
    command("report", tmp_path / "cut.json", folder / "good.npy", "-m", "R@1", *given)
    command("report", folder / "good.npy", "-m", "RSUM", *given)
    command("report", folder / "good.npy", "--title", "a\udcff", "-m", "R@1", *given)
    page.read_text("utf-8")
    said = command("report", folder / "good.npy", "--image-folder", tmp_path / "none", *given, code=2)
    assert "there is no such folder" in said
    said = command("report", folder / "good.npy", "--inline-images", "inf", *given, code=2)
    assert "inline_images is inf" in said


def test_a_benchmark_of_one_direction(command, tmp_path):
    from dataclasses import replace

    bench = make_benchmark(20)
    own = replace(bench.truth("own"), queries={"i2t": np.arange(20)})
    save_benchmark(replace(bench, truths={"own": own}), tmp_path / "one")
    np.save(tmp_path / "s.npy", make_run(bench, 3, 1, "s").scores)
    command("report", tmp_path / "s.npy", "-b", tmp_path / "one", "-m", "R@1", "-o", tmp_path / "r.html")
    assert "R@1" in (tmp_path / "r.html").read_text("utf-8")
