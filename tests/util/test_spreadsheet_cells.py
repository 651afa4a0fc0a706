"""No csv file for people has a cell that a spreadsheet would run, and karat reads the same text again."""

import ast
import csv
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import karat
from judging.exchange.projects import fill, make_project
from karat._util import Layout, Result, guard, guard_table, unguard, unguard_table
from karat.benchmarks import Benchmark, Ids, Instances, Judgments, Provenance, Truth, read_approvals
from karat.judging.exchange import export_answers, export_tasks
from karat.judging.exchange.approvals import write_approvals
from karat.judging.publication.tables import INVALID_COLUMNS, invalid_table
from karat.judging.publication.validity import read_marks
from karat.judging.quality.reviews import COLUMNS, as_csv
from karat.scores import read_leaderboard
from karat.scores.table_file import read_cells

from house import MODULES

NUMBER = re.compile(r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?")
STARTS = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"]
SKIPPED = [" ", "'", '"', "\u00a0", "\u200b", "\ufeff", "\x1f", "''", "\u3000"]
letters = st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")
texts = st.one_of(
    st.builds(
        "{}{}{}".format,
        st.sampled_from(["", *SKIPPED]),
        st.sampled_from(STARTS),
        st.sampled_from(["1+1", "cmd|' /C calc'!A0", "HYPERLINK(1)", "0.5", "x,=y", ""]),
    ),
    st.text(letters, min_size=1, max_size=8),
)
few = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def cells_of(path: Path) -> list[str]:
    """Return all cells of a csv file, as another program than karat reads it."""
    with path.open(encoding="utf-8", newline="") as file:
        return [cell for row in csv.reader(file) for cell in row]


def would_run(cell: str) -> bool:
    """Whether a spreadsheet may read a cell as a formula: a check of its own, not the code's."""
    kept = cell.lstrip("\"' \u00a0\u200b\ufeff\u3000" + "".join(map(chr, range(1, 32))))
    opened = cell.lstrip('" \u00a0\u200b\ufeff\u3000\x1f')
    return bool(kept) and kept[0] in STARTS and opened[:1] != "'" and not NUMBER.fullmatch(cell)


class Records(Result):
    """Records as they are."""

    def __init__(self, records):
        self.listed = records

    def parts(self):
        return [Layout(["a"], [["b"]])]

    def records(self):
        return self.listed


def small_benchmark(text):
    """Two pictures and two captions; one id of each is the text."""
    truth = Truth(
        "own",
        Judgments([0, 1], [0, 1], sources=[Provenance("original")]),
        {"i2t": np.arange(2), "t2i": np.arange(2)},
    )
    images, captions = Ids([text, "b"], kind="image"), Ids([text, "c"], kind="caption")
    return Benchmark("small", images, captions, {"own": truth}, caption_image=np.arange(2), texts=[text, "x"])


def write_result(text, path):
    Records([{"run": text, text: 1.0, "n": -0.5, "mixed": text}, {"run": "b", "n": 2, "mixed": -0.5}]).save(
        path
    )


def write_scorecard(text, path):
    run = karat.load_run(np.eye(2), name=text)
    karat.evaluate(run, small_benchmark("a"), "R@1").save(path)


def write_per_query(text, path):
    run = karat.load_run(np.eye(2), name="run")
    karat.evaluate(run, small_benchmark(text), "R@1").save(path, per_query=True)


def write_reviews(text, path):
    row = dict(zip(COLUMNS, [1, text, text, text, text, "", "yes", True]))
    path.write_text(as_csv([row]), encoding="utf-8", newline="")


def write_invalid(text, path):
    row = dict(zip(INVALID_COLUMNS, ["caption", text, "remove", text, text]))
    guard_table(invalid_table([row])).write_csv(path)


WRITERS = [write_result, write_scorecard, write_per_query, write_reviews, write_invalid]


@pytest.mark.parametrize("write", WRITERS)
def test_no_cell_is_a_formula(write, tmp_path):
    path = tmp_path / "out.csv"

    @few
    @given(texts)
    def check(text):
        # Ids and names are not blank.
        if text.strip():
            write(text, path)
            assert [cell for cell in cells_of(path) if would_run(cell)] == []

    check()


@settings(max_examples=300, deadline=None, derandomize=True)
@given(texts)
def test_a_guarded_text_comes_back(text):
    assert unguard(guard(text)) == text
    assert not would_run(guard(text))
    frame = pl.DataFrame({"a": [text, None], "b": [-0.5, 1.0]})
    there = guard_table(frame)
    assert there["a"][0] == (text if NUMBER.fullmatch(text) else guard(text))
    assert unguard_table(there).equals(frame)


def test_numbers_stay_numbers(tmp_path):
    write_result("=x", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "run,'=x,n,mixed\n'=x,1.0,-0.5,'=x\nb,,2.0,-0.5\n"


@few
@given(texts)
def test_tables_are_read_as_they_were(tmp_path, text):
    path = tmp_path / "out.csv"
    # Blanks around the names of columns and in blank lines were never kept.
    if text != text.strip("\ufeff ") or not text.strip() or text in ("run", "n", "mixed"):
        return
    write_result(text, path)
    cells = read_cells(path)
    assert cells.frame["run"].to_list() == [text, "b"]
    assert cells.frame.columns == ["run", text, "n", "mixed"]
    np.testing.assert_array_equal(cells.numbers("n"), [-0.5, 2])


def test_a_board_is_read_as_it_was(tmp_path):
    Records([{"run": "=1+1", "-R": 0.5, "@k": -0.5}, {"run": "'=x", "-R": 1.0, "@k": 0.0}]).save(
        tmp_path / "board.csv"
    )
    board = read_leaderboard(tmp_path / "board.csv")
    assert (board.systems, board.metrics) == (("=1+1", "'=x"), ("-R", "@k"))


@few
@given(texts)
def test_marks_are_read_as_they_were(tmp_path, text):
    path = tmp_path / "invalid.csv"
    if text.strip():
        write_invalid(text, path)
        assert read_marks(path, small_benchmark(text)) == [("caption", 0, True, text)]


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "'=x", "＝x", "x"])
def test_approvals_are_read_as_they_were(tmp_path, text):
    write_approvals({text: True, "b": False}, tmp_path / "approved.csv")
    assert not any(map(would_run, cells_of(tmp_path / "approved.csv")))

    class Named:
        id = np.array([text, "b"])

    named: Instances = Named()  # type: ignore[assignment]
    assert read_approvals(tmp_path / "approved.csv", named) == {text: True, "b": False}


def test_tasks_and_answers_have_no_formulas(tmp_path):
    with make_project(tmp_path) as made:
        export_tasks(made, tmp_path / "tasks.csv")
        export_tasks(made, tmp_path / "batch.csv", "mturk", " =1/{name}")
        fill(made)
        export_answers(made, tmp_path / "answers.csv")
        export_answers(made, tmp_path / "results.csv", "mturk")
    for name in ("tasks", "batch", "answers", "results"):
        assert [cell for cell in cells_of(tmp_path / f"{name}.csv") if would_run(cell)] == []


TO_PROGRAMS = {
    "runs/formats/csv.py": "a run: ids have to be those of the benchmark, byte by byte",
    "runs/formats/trec.py": "a run in TREC's format",
    "benchmarks/sources/trec.py": "qrels in TREC's format",
    "store/bulk.py": "rows for PostgreSQL",
    "_util/result.py": "guarded",
    "scores/scorecard.py": "guarded",
    "judging/publication/publication.py": "guarded",
    "judging/quality/reviews.py": "guarded",
    "judging/exchange/csv_format.py": "guarded",
}
"""Which files write csv, and why their cells are safe or have to be exact."""


def test_every_writer_of_csv_is_known():
    found = set()
    for path in MODULES.values():
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "write_csv" in text or "import csv" in text else ():
            if isinstance(node, ast.Attribute) and (
                node.attr == "write_csv"
                or (node.attr in ("writer", "DictWriter") and getattr(node.value, "id", "") == "csv")
            ):
                found.add(path.as_posix().partition("src/karat/")[2])
    assert found == TO_PROGRAMS.keys()
