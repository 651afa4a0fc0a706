"""The tables of a published folder: every answer, every pair, conflicts, qrels."""

import numpy as np
import polars as pl
import pytest

import karat
from karat._util import guard
from karat.benchmarks import Judgments, Provenance, Truth
from karat.judging import publish
from tests.judging.publication.published import bytes_of, small_evidence


def test_every_answer_is_there_without_names(made):
    evidence, found = made
    table = pl.read_parquet(found.folder / "answers.parquet")
    said = evidence.answers
    assert len(table) == len(said)
    assert table["image"].to_list() == evidence.benchmark.images[said.image].tolist()
    assert table["rating"].to_list() == said.rating.tolist()
    assert set(table["worker"]) == {f"w00{k}" for k in range(1, 7)}
    for content in bytes_of(found.folder).values():
        assert b"person 1" not in content


def test_every_pair_says_who_suggested_it(made):
    evidence, found = made
    pool, table = evidence.pool, pl.read_parquet(found.folder / "pairs.parquet")
    pooled = table.filter(pl.col("pool") == "pooled")
    assert len(pooled) == len(pool)
    assert pooled["image"].to_list() == evidence.benchmark.images[pool.image].tolist()
    for pair in (0, 17, len(pool) - 1):
        rows = pool.place_pair == pair
        assert pooled["systems"][pair].to_list() == [pool.systems[k] for k in pool.place_system[rows]]
        assert pooled["ranks"][pair].to_list() == pool.place_rank[rows].tolist()
        assert set(pooled["directions"][pair]) <= {"i2t", "t2i"}
    judged = table.filter(pl.col("grade").is_not_null())
    assert len(judged) == len(found.correction.merged)
    assert (judged["sources"].list.len() > 0).all()
    assert np.allclose(pooled["posterior"].list.sum(), 1)
    # Answers about invalid items are kept, and not published.
    assert table.filter(pl.col("answered_grade").is_not_null() & pl.col("grade").is_null()).height > 0


def test_qrels_read_back(made):
    _, found = made
    truth = found.correction.truth
    for direction in ("i2t", "t2i"):
        read = karat.load_benchmark(
            "trec", qrels=found.folder / f"qrels-{direction}.trec", direction=direction
        )
        got = read.truth("qrels").judged(direction)
        mine = truth.judged(direction)
        assert len(got.item) == len(mine.item)
        bench = found.correction.benchmark
        own = {
            (str(bench.queries(direction)[q]), str(bench.items(direction)[i])): g
            for q, i, g in zip(mine.query_of_row.tolist(), mine.item.tolist(), mine.grade.tolist())
        }
        for q, i, g in zip(got.query_of_row.tolist(), got.item.tolist(), got.grade.tolist()):
            assert own[str(read.queries(direction)[q]), str(read.items(direction)[i])] == g


def test_another_set_is_merged_and_its_conflicts_are_listed(tmp_path):
    evidence = small_evidence(right=1.0)
    asked = evidence.pool
    # A set that says yes to everything that was asked.
    table = Judgments(asked.image, asked.caption, sources=[Provenance("kind")])
    kind = Truth("kind", table, {"i2t": np.arange(40), "t2i": np.arange(80)})
    found = publish(evidence, tmp_path / "out", merge=[kind], policy="union")
    own, theirs = found.facts.conflicts.counts()
    no = int((found.correction.verdicts.grade == 0).sum())
    assert theirs == {"set": "kind", "both": len(asked), "set_yes": no, "answers_yes": 0, "published_yes": no}
    assert own["set"] == "original"
    assert len(pl.read_csv(tmp_path / "out" / "conflicts.csv")) == len(found.facts.conflicts)
    strict = publish(evidence, tmp_path / "strict", merge=[kind], policy="people")
    assert strict.facts.conflicts.counts()[1]["published_yes"] == 0


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "\tx"])
def test_spreadsheets_compute_nothing(text):
    assert guard(text) == f"'{text}"
