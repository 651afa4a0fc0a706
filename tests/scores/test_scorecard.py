"""Scorecards: the contract's records, files in every format, several runs side by side."""

import json

import numpy as np
import polars as pl
import pytest

import karat
from karat.benchmarks import Benchmark, Fold, Ids, Judgments, Provenance, Truth
from karat.scores import RECORD, tie_notes

from latex import read_latex
from made import make_benchmark, make_run


@pytest.fixture
def bench() -> Benchmark:
    own = Judgments([0, 0, 1, 1, 2], [0, 1, 2, 3, 4], sources=[Provenance("original")])
    truth = Truth("own_1", own, {"i2t": np.arange(3), "t2i": np.arange(5)})
    return Benchmark(
        "tiny",
        Ids([70, 80, 90], kind="image"),
        Ids(range(5), kind="caption"),
        {"own_1": truth},
        caption_image=np.array([0, 0, 1, 1, 2]),
        defaults={"own_1": ("R@1", "MedR", "RSUM")},
    )


@pytest.fixture
def card(bench, rng) -> karat.Scorecard:
    runs = [karat.load_run(rng.random((3, 5)), name=name) for name in ("good & bad", "b|c")]
    return karat.evaluate(runs, bench)


def test_records_are_the_contract(card):
    records = json.loads(card.to_json())
    assert all(tuple(record) == RECORD for record in records)
    assert [r["direction"] for r in records[:3]] == ["i2t", "t2i", "mean"]
    assert {r["measure"] for r in records} == {"R@1", "MedR", "RSUM"}
    first = records[0]
    assert (first["run"], first["truth"], first["n"]) == ("good & bad", "own_1", 3)
    assert 0 <= first["value"] <= 1
    assert first["low"] is first["lower_bound"] is None
    assert records[2]["n"] == 8


def test_rsum_is_the_sum_of_six(bench, rng):
    card = karat.evaluate(rng.random((3, 5)), bench, ["R@1", "R@5", "R@10", "RSUM"])
    parts = [card.value(f"R@{k}", direction=d) for k in (1, 5, 10) for d in ("i2t", "t2i")]
    assert card.value("RSUM", direction="both") == pytest.approx(sum(parts))


def test_per_query_values(card):
    frame = card.per_query()
    assert frame.columns == ["run", "truth", "direction", "measure", "query", "fold", "cluster", "value"]
    rows = frame.filter(pl.col("run") == "b|c", pl.col("direction") == "t2i", pl.col("measure") == "R@1")
    assert rows["query"].to_list() == [0, 1, 2, 3, 4]
    assert rows["cluster"].to_list() == ["70", "70", "80", "80", "90"]
    assert card.value("s@1", run="b|c") == card.value("R@1", run="b|c")
    assert rows["value"].mean() == pytest.approx(card.value("R@1", direction="t2i", run="b|c"))
    images = frame.filter(pl.col("direction") == "i2t")
    assert images["query"].unique().sort().to_list() == [70, 80, 90]


def test_files(card, tmp_path):
    for name in ("card.json", "card.csv", "card.parquet", "card.md", "card.tex"):
        card.save(tmp_path / name)
    values = [c.value for c in card]
    assert pl.read_csv(tmp_path / "card.csv")["value"].to_list() == pytest.approx(values)
    assert pl.read_parquet(tmp_path / "card.parquet")["value"].to_list() == values
    assert json.loads((tmp_path / "card.json").read_text())[0]["value"] == values[0]
    card.save(tmp_path / "queries.parquet", per_query=True)
    assert pl.read_parquet(tmp_path / "queries.parquet").equals(card.per_query())
    with pytest.raises(karat.KaratError, match=r"extension '.xls'; use one of .json"):
        card.save(tmp_path / "card.xls")
    with pytest.raises(karat.KaratError, match=r"use one of .csv, .parquet"):
        card.save(tmp_path / "card.md", per_query=True)
    with pytest.raises(karat.KaratError, match="there is no folder"):
        card.save(tmp_path / "no" / "card.md")


def test_tables_escape_names(card):
    assert r"b\|c" in card.to_markdown()
    (table,) = read_latex(card.to_latex())
    assert [row[0] for row in table.cells()] == ["", "Model", r"good \& bad", r"b\textbar{}c"]


def test_latex_has_runs_as_rows_and_measures_as_columns(bench):
    good = np.eye(5)[[0, 2, 4]] + np.eye(5)[[1, 3, 4]]
    runs = [karat.load_run(scores, name=name) for name, scores in (("_good", good), ("[bad]", -good))]
    card = karat.evaluate(runs, bench, ["R@1", "MeanR", "RSUM"])
    text = card.to_latex()
    (table,) = read_latex(text)
    arrow = r"$\rightarrow$"
    assert table.rows[0] == [
        ("", 1),
        (f"image{arrow}text", 2),
        (f"text{arrow}image", 2),
        ("mean", 2),
        ("", 1),
    ]
    down = r"MeanR $\downarrow$"
    assert table.cells()[1] == ["Model", "R@1", down, "R@1", down, "R@1", down, "RSUM"]
    # The best is bold, which of ranks is the lowest.
    best = [r"\textbf{100.00}", r"\textbf{1}"]
    assert table.cells()[2] == [r"\_good", *best * 3, r"\textbf{600.00}"]
    assert table.cells()[3][:3] == ["{}[bad]", "0.00", "4.33"]
    assert len(table.rows) == 4
    assert "% tiny, own_1\n" in text
    assert f"% {str(card).splitlines()[-1]}" in text
    # A choice of directions, as most papers print them.
    (table,) = read_latex(card.to_latex(direction=["i2t", "t2i", "both"]))
    assert [span for _, span in table.rows[0]] == [1, 2, 2, 1]
    with pytest.raises(karat.KaratError, match="direction is 'up'"):
        card.to_latex(direction="up")


def test_latex_of_one_run_marks_nothing_and_truths_have_their_tables():
    bench = make_benchmark(12)
    card = karat.evaluate(
        make_run(bench, 2, 1, "a"), bench, ["R@1"], unjudged="bounds", intervals=True, resamples=50
    )
    tables = read_latex(card.to_latex())
    assert [table.cells()[0][0] for table in tables] == ["own", "halves"]
    assert "textbf" not in card.to_latex()
    column = card.column("R@1", truth="own", direction="i2t")
    ends = [f"{100 * end:.2f}" for end in (column.low, column.high, column.lower_bound, column.upper_bound)]
    assert [row[1] for row in tables[0].cells()[2:]] == [
        f"{100 * column.value:.2f}",
        rf"{{\scriptsize ({ends[0]}--{ends[1]})}}",
        rf"{{\scriptsize [{ends[2]}, {ends[3]}]}}",
    ]
    assert "In parentheses 95%" in card.to_latex()
    short = card.to_latex(intervals=False)
    assert len(read_latex(short)[0].rows) == 2 + 2
    assert "In parentheses" not in short


def test_text_has_a_line_for_each_direction(card):
    lines = str(card).splitlines()
    assert lines[0].split() == ["truth", "measure", "direction", "good", "&", "bad", "b|c"]
    assert len(lines) == 2 + 3 + 3 + 1 + 2


def test_the_best_value_is_marked(bench):
    good = np.eye(5)[[0, 2, 4]] + np.eye(5)[[1, 3, 4]]
    runs = [karat.load_run(good, name="good"), karat.load_run(-good, name="bad")]
    table = karat.evaluate(runs, bench, ["R@1", "MeanR"]).to_markdown()
    assert "| **100.00** | 0.00 |" in table
    assert "| **1** |" in table


def test_columns_are_found_or_named(card):
    with pytest.raises(karat.KaratError, match=r"2 runs; say which: good & bad, b.c"):
        card.value("R@1")
    with pytest.raises(karat.KaratError, match=r"b.c on own_1 has no column 'R@7 mean'"):
        card.value("R@7", run="b|c")
    assert repr(card) == "Scorecard(14 columns of good & bad, b|c on tiny)"
    assert len(card) == 14


def test_ties_are_reported(bench):
    card = karat.evaluate(karat.load_run(np.zeros((3, 5)), name="flat"), bench)
    report = card.tie_reports[0]
    assert (report.tied_queries, report.queries, report.largest) == (3, 3, 5)
    assert report.range["R@1"] == (0.0, 1.0)
    assert "R@1 on own_1 (i2t) lies between 0.00 and 100.00" in card.notes[0]
    expected = karat.evaluate(np.zeros((3, 5)), bench, ["R@1"], ties="expected")
    assert expected.value("R@1", direction="i2t") == pytest.approx((2 / 5 + 2 / 5 + 1 / 5) / 3)


def test_ties_that_change_nothing_have_no_note(bench):
    # Both captions of an image tie at the top, and whatever the order, a relevant item comes first.
    own = np.eye(3)[:, [0, 0, 1, 1, 2]]
    card = karat.evaluate(karat.load_run(own, name="own"), bench, ["R@1", "MedR"], direction="i2t")
    assert card.tie_reports[0].tied_queries == 2
    assert card.notes == []
    # Deep below the cut-off the order changes ranks, and R@1 not at all: the note names what changes.
    deep = np.array([[5, 5, 9, 8, 7], [1, 2, 0, 0, 0], [4, 3, 2, 1, 9.0]])
    run = karat.load_run(deep, name="deep")
    assert karat.evaluate(run, bench, ["R@1"], direction="i2t").notes == []
    ends = [
        karat.evaluate(run, bench, ["MeanR"], direction="i2t", ties=policy).value("MeanR", direction="i2t")
        for policy in ("optimistic", "pessimistic")
    ]
    assert ends == pytest.approx([(4 + 3 + 1) / 3, (4 + 4 + 1) / 3])
    (note,) = karat.evaluate(run, bench, ["R@1", "MeanR"], direction="i2t").notes
    assert note.endswith("by their order, MeanR on own_1 (i2t) lies between 2.67 and 3")


def test_every_run_whose_ties_change_something_has_a_note(bench, rng):
    runs = [karat.load_run(np.zeros((3, 5)), name=name) for name in ("flat", "level")]
    card = karat.evaluate([*runs, karat.load_run(rng.random((3, 5)), name="free")], bench, ["R@1"])
    assert [note.partition(":")[0] for note in tie_notes(card.tie_reports)] == ["flat", "level"]
    assert set(tie_notes(card.tie_reports)) <= set(card.notes)


def test_the_two_readings_of_recall_are_told_apart():
    bench = make_benchmark(20)
    run = make_run(bench, 2, 1, "a")
    own = bench.caption_image == np.arange(20)[:, None]
    first = own[np.arange(20), run.scores.argmax(axis=1)]
    share, hit = (f"{100 * first.mean() / n:.2f}" for n in (3, 1))
    for measures in (["Recall@1"], ["R@1", "Recall@1"], ["Recall@1", "Recall@20"]):
        card = karat.evaluate(run, bench, measures, truth="own")
        (note,) = card.notes
        assert note == (
            "Recall@1 and R@1 differ: on own (i2t) Recall@1, the share of a query's right answers that are "
            f"in first place, is {share}, and R@1, the share of queries with a right answer in first place, "
            f"is {hit}; "
            "papers on image–text retrieval print R@1"
        )
        # Nothing else is in the scorecard than what was requested.
        assert [str(c.measure) for c in card if c.direction == "i2t"] == measures
    # Of one caption there is one image, and of what ties there is no word on R@1.
    assert karat.evaluate(run, bench, ["R@1", "Recall@1"], truth="own", direction="t2i").notes == []
    assert karat.evaluate(run, bench, ["R@1"], truth="own").notes == []
    flat = karat.evaluate(np.zeros((20, 60)), bench, ["Recall@1"], truth="own")
    assert set(flat.tie_reports[0].range) == {"Recall@1"}
    two = karat.evaluate([run, make_run(bench, 1, 2, "b")], bench, ["Recall@5"], truth="own")
    assert two.notes[0].startswith("Recall@5 and R@5 differ: for b on own (i2t) Recall@5, ")
    assert "among the first 5, is" in two.notes[0]


def test_readings_of_one_sided_truths_are_explained(bench, rng):
    for reading, words in (("left-out", "as high as they can be"), ("bounds", "anything is possible")):
        card = karat.evaluate(rng.random((3, 5)), bench, ["R@1"], unjudged=reading)
        assert words in card.notes[-1]
    assert card.unjudged == "bounds"


def test_wrong_requests(bench, rng):
    scores = rng.random((3, 5))
    for options, message in (
        ({"ties": "random"}, "ties is 'random'; choose one of pessimistic"),
        ({"unjudged": "maybe"}, "unjudged is 'maybe'"),
        ({"truth": ["own"]}, "tiny has no truth 'own'; did you mean own_1"),
        ({"direction": ["i2i"]}, "unknown direction 'i2i'"),
        ({"direction": []}, "no direction was given"),
        ({"measure": []}, "nothing to compute"),
    ):
        with pytest.raises(karat.KaratError, match=message):
            karat.evaluate(scores, bench, **options)
    with pytest.raises(karat.KaratError, match="two runs are called 'run'"):
        karat.evaluate([karat.load_run(scores), karat.load_run(scores)], bench)
    with pytest.raises(karat.KaratError, match="no run was given"):
        karat.evaluate([], bench)
    assert len(karat.evaluate([scores, karat.load_run(scores, name="b")], bench, ["R@1"]).runs) == 2
    assert karat.evaluate((np.eye(3, 2), np.eye(5, 2)), bench, ["R@1"]).runs == ["run"]
    with pytest.raises(karat.KaratError, match="3 sources do not make a run"):
        karat.load_run(scores, scores, scores)


def test_the_aggregate_is_the_mean_over_folds(bench, rng):
    own = bench.truth("own_1").judgments
    folds = [Fold("a", np.array([0]), np.array([0, 1])), Fold("b", np.array([1, 2]), np.array([2, 3, 4]))]
    asked = {"i2t": np.arange(3), "t2i": np.arange(5)}
    parted = Benchmark("parted", bench.images, bench.captions, {"f": Truth("f", own, asked, folds=folds)})
    column = karat.evaluate(rng.random((3, 5)), parted, ["P@2"]).column("P@2", direction="i2t")
    per_fold = [column.values[column.fold == fold].mean() for fold in (0, 1)]
    assert per_fold[0] != per_fold[1]
    assert column.value == pytest.approx(np.mean(per_fold))


def test_one_direction_has_no_mean(bench, rng):
    card = karat.evaluate(rng.random((3, 5)), bench, ["R@1", "RSUM"], direction=["t2i"])
    assert [(c.direction, c.value is None) for c in card] == [("t2i", False), ("both", True)]
    assert "needs both directions" in card.notes[0]
