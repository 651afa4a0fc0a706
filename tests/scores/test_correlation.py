"""Leaderboards in all their forms, and the table of correlations made from them."""

import json
import re

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karat
from karat.scores.correlation import correlate
from karat.scores.leaderboard import Leaderboard, as_leaderboard, read_leaderboard
from karat.stats import Intervals

QUICK = Intervals(resamples=200)


@pytest.fixture
def board(rng):
    strength = rng.normal(size=12)
    values = np.column_stack([strength + rng.normal(0, 0.5, 12) for _ in range(3)])
    values = np.column_stack([values, 50 - 10 * strength + rng.normal(0, 1, 12)])
    return Leaderboard(tuple(f"s{k}" for k in range(12)), ("R@1", "eccv RP", "mAP@R", "MedR"), values)


def write(path, board, sign=","):
    rows = [["system", *board.metrics], *([s, *map(str, row)] for s, row in zip(board.systems, board.values))]
    path.write_text("\n".join(sign.join(row) for row in rows) + "\n", encoding="utf-8")
    return path


def test_values_signs_and_words(board):
    table = correlate(board, intervals=QUICK)
    for a, b, one in table.pairs():
        x, y = (board.values[:, board.metrics.index(name)] for name in (a, b))
        sign = -1 if b == "MedR" else 1
        assert one.value == pytest.approx(sign * stats.kendalltau(x, y).statistic, abs=1e-12)
    assert table.turned == ("MedR",)
    assert table.pair("R@1", "MedR").value > 0
    text = str(table)
    assert "low is good for MedR: its sign is changed" in text
    assert "of 66" in text  # 12 systems make 66 pairs
    assert repr(table) == "CorrelationTable(Kendall's tau-b of 4 metrics over 12 systems)"
    with pytest.raises(karat.KaratError, match="has no metric 'R@2'; did you mean R@1"):
        table.pair("R@2", "R@1")


@pytest.mark.parametrize("method", ["spearman", "pearson"])
def test_other_coefficients(board, method):
    table = correlate(board, method, metric=["mAP@R", "R@1"], intervals=QUICK)
    oracle = {"spearman": stats.spearmanr, "pearson": stats.pearsonr}[method]
    expected = oracle(board.values[:, 2], board.values[:, 0]).statistic
    assert table.pair("mAP@R", "R@1").value == pytest.approx(expected, abs=1e-12)
    assert table.board.metrics == ("mAP@R", "R@1")


def test_files_say_the_same(board, tmp_path):
    plain = write(tmp_path / "board.csv", board)
    tabs = write(tmp_path / "board.tsv", board, "\t")
    columns = {"system": board.systems, **{m: board.values[:, k] for k, m in enumerate(board.metrics)}}
    pl.DataFrame(columns).write_parquet(tmp_path / "board.parquet")
    for path in (plain, tabs, tmp_path / "board.parquet", str(plain)):
        read = as_leaderboard(path)
        assert read.systems == board.systems
        assert read.metrics == board.metrics
        assert np.array_equal(read.values, board.values)


def test_gaps_and_columns_of_names(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text("system,backbone,R@1,R@5,err\nA,ViT,1,2,9\nB,RN50,2,,8\nC,,3,4,7\nD,ViT,n/a,5,6\n")
    table = correlate(path, lower_is_better=["err"], intervals=QUICK)
    assert table.board.metrics == ("R@1", "R@5", "err")
    assert [one.n for _, _, one in table.pairs()] == [2, 3, 3]
    assert table.pair("R@1", "err").value == 1
    assert any("columns without numbers are left out: backbone" in note for note in table.notes)
    assert any("2 cells without a value" in note for note in table.notes)
    turned = correlate(path, intervals=QUICK)
    assert any("err is negatively correlated with all other metrics" in note for note in turned.notes)


def test_answers_are_no_metric(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text("system,open,R@1,R@5\nA,yes,1,2\nB,no,2,3\nC,Yes,3,4\n")
    board = read_leaderboard(path)
    assert board.metrics == ("R@1", "R@5")
    assert board.notes == ("columns without numbers are left out: open",)
    pl.DataFrame({"system": ["A", "B"], "open": [True, False], "R@1": [1, 2], "R@5": [2, 3]}).write_parquet(
        tmp_path / "board.parquet"
    )
    assert read_leaderboard(tmp_path / "board.parquet").metrics == ("R@1", "R@5")
    path.write_text("system,R@1,R@5\nA,1,2\nB,yes,3\nC,3,4\n")
    with pytest.raises(karat.KaratError, match="row 3, column 'R@1' is 'yes', not a number"):
        read_leaderboard(path)


def record(run, truth, direction, measure, value):
    rest = dict.fromkeys(("low", "high", "lower_bound", "upper_bound"))
    return {"run": run, "truth": truth, "direction": direction, "measure": measure, "value": value,
            **rest, "n": 5}  # fmt: skip


def board_of(path, records):
    path.write_text(json.dumps(records))
    return read_leaderboard(path)


def test_a_run_with_one_direction_stays(tmp_path):
    ways = ("i2t", "t2i", "mean")
    records = [
        record(run, "coco", way, measure, value)
        for run, value in (("a", 0.1), ("b", 0.2))
        for way in ways
        for measure in ("R@1", "RP")
    ]
    usual = board_of(tmp_path / "all.json", records)
    assert (usual.metrics, usual.notes) == (("R@1", "RP"), ())
    # c has one direction of R@1, and its mean is null; RP keeps its mean.
    late = [record("c", "coco", "i2t", "R@1", 0.3), record("c", "coco", "mean", "R@1", None)]
    board = board_of(tmp_path / "some.json", [*records, *late, record("d", "coco", "i2t", "RP", None)])
    assert board.systems == ("a", "b", "c")
    assert board.metrics == ("R@1 i→t", "R@1 t→i", "RP")
    assert np.array_equal(board.values[2], [0.3, np.nan, np.nan], equal_nan=True)
    assert board.notes == (
        "the mean of both directions of R@1 on coco is missing for c: the directions are listed instead",
        "systems without a value are left out: d",
    )
    # e has nothing but the mean: it stays, too.
    both = board_of(tmp_path / "both.json", [*records, *late, record("e", "coco", "mean", "R@1", 0.4)])
    assert both.systems == ("a", "b", "c", "e")
    assert both.metrics == ("R@1 i→t", "R@1 t→i", "R@1", "RP")
    assert both.notes[0].endswith("is missing for c: the directions are listed as well")


def test_records_of_evaluate(tmp_path):
    for run, value in (("a", 0.1), ("b", 0.2), ("c", 0.4)):
        records = [record(run, "coco", d, "R@1", value) for d in ("i2t", "t2i", "mean")]
        records += [record(run, "eccv", "i2t", "MedR", 10 * value), record(run, "eccv", "mean", "RP", None)]
        (tmp_path / f"{run}.json").write_text(json.dumps(records))
    files = [tmp_path / f"{run}.json" for run in "abc"]
    board = read_leaderboard(*files)
    assert board.systems == ("a", "b", "c")
    assert board.metrics == ("coco R@1", "eccv MedR i→t")
    assert board.notes == ("metrics without a value are left out: eccv RP",)
    assert correlate(files, intervals=QUICK).pair(*board.metrics).value == -1
    (tmp_path / "d.json").write_text(json.dumps([record("a", "coco", "mean", "R@1", 0.9)]))
    with pytest.raises(karat.KaratError, match="has two values of R@1 on coco for a"):
        correlate([*files, tmp_path / "d.json"])


def test_scorecards(rng):
    from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth

    own = Judgments(range(20), range(20), sources=[Provenance("original")])
    truth = Truth("own", own, {"i2t": np.arange(20), "t2i": np.arange(20)})
    bench = Benchmark("b", Ids(range(20), kind="image"), Ids(range(20), kind="caption"), {"own": truth})
    runs = [karat.load_run(np.eye(20) * k + rng.normal(size=(20, 20)), name=f"run {k}") for k in range(5)]
    cards = [karat.evaluate(run, bench, ["R@1", "MedR"]) for run in runs]
    table = correlate(cards, intervals=QUICK)
    assert table.board.systems == tuple(f"run {k}" for k in range(5))
    assert table.board.metrics == ("R@1", "MedR")
    assert table.pair("R@1", "MedR").value > 0.5


def test_saving(board, tmp_path):
    table = correlate(board, intervals=QUICK)
    for name in ("t.json", "t.csv", "t.md", "t.tex"):
        table.save(tmp_path / name)
    records = json.loads((tmp_path / "t.json").read_text())
    assert len(records) == 6
    assert set(records[0]) == {
        "first", "second", "method", "value", "low", "high", "p", "level", "interval", "n",
    }  # fmt: skip
    assert pl.read_csv(tmp_path / "t.csv")["value"].to_list() == pytest.approx([r["value"] for r in records])
    assert (tmp_path / "t.md").read_text().count("| R@1 |") >= 4
    with pytest.raises(
        karat.KaratError, match=r"has the extension '\.xls'; use one of \.json, \.csv, \.parquet"
    ):
        table.save(tmp_path / "t.xls")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("system,R@1,R@5\n", "has no rows below its header"),
        ("system,R@1\nA,1\nB,2\nC,3\n", "has 1 column of numbers beside the systems' names"),
        ("system,R@1,R@1\nA,1,2\n", "has two columns 'R@1'"),
        ("system,R@1,R@5\nA,1,2\nA,2,3\nB,1,1\n", "row 3 repeats the system A of row 2"),
        ("system,R@1,R@5\nA,1,2\nB,two,3\nC,3,4\n", "row 3, column 'R@1' is 'two', not a number"),
        ("system,R@1,R@5\nA,1,2\nB,inf,3\nC,3,4\n", "row 3, column 'R@1' is infinite"),
        ("system,R@1,R@5\n,1,2\nB,1,3\nC,3,4\n", "row 2 has no system"),
        ("system,R@1,R@5\nA,1,2\nB,2,3\n", "the leaderboard has 2 systems; correlation needs 3"),
        ("system,R@1,R@5\nA,1,2,3\n", "is not a table with commas between cells"),
        ("\0\0", "is not text"),
    ],
)
def test_mistakes_in_a_leaderboard(tmp_path, text, message):
    path = tmp_path / "board.csv"
    path.write_text(text)
    with pytest.raises(karat.KaratError, match=re.escape(message)) as caught:
        correlate(path)
    assert caught.value.fix


@pytest.mark.parametrize("text", ["{", "[]", "{}", "[1]", '[{"run": "a"}]', "[" * 100_000])
def test_mistakes_in_records(tmp_path, text):
    path = tmp_path / "records.json"
    path.write_text(text)
    with pytest.raises(karat.KaratError, match=r"records\.json"):
        correlate(path)


def test_other_mistakes(board, tmp_path):
    (tmp_path / "x.parquet").write_text("no")
    for source, options, message in (
        (board, {"coefficient": "phi"}, "coefficient is 'phi'"),
        (board, {"metric": ["R@1"]}, "1 metric; correlation needs two"),
        (board, {"metric": ["R@1", "RQ"]}, "has no metric 'RQ'"),
        (board, {"lower_is_better": ["loss"]}, "has no metric 'loss'"),
        (3, {}, "int is not a leaderboard"),
        ("none.csv", {}, "there is no such file"),
        (tmp_path, {}, "has no json file"),
        (["a.csv", "b.json"], {}, "there are 2 files and not all are json"),
        ("board.xls", {}, "there is no such file"),
        (tmp_path / "x.parquet", {}, "is not a Parquet table"),
    ):
        with pytest.raises(karat.KaratError, match=re.escape(message)):
            correlate(source, **options)
