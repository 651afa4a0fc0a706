"""Scorecards: the contract's records, files in every format, several runs side by side."""

import json

import numpy as np
import polars as pl
import pytest

import karat
from karat.benchmarks import Benchmark, Fold, Ids, Judgments, Provenance, Truth
from karat.scores import RECORD


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
    assert r"good \& bad" in card.to_latex()
    assert r"own\_1" in card.to_latex()
    assert card.to_latex().count(r"\\") == 1 + 7


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
