"""Publishing: what is in the folder, that it loads and scores, and that nothing is lost or leaked."""

import json
import os
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karat
from karat.benchmarks import Judgments, Provenance, Truth
from karat.errors import InputError
from karat.judging.pools.pair_keys import key_of
from karat.judging.publishing.correction import correct
from karat.judging.publishing.publish import publish
from tests.judging.published import RUNS, WORLD, small_evidence

# Invalid items that a system ranks first most often, so that leaving them out shows.
CAPTION, IMAGE = (int(np.bincount(RUNS[0].scores.argmax(axis=side)).argmax()) for side in (1, 0))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A published folder, with a caption and an image marked invalid."""
    evidence = small_evidence(marked={"caption": {CAPTION: "no image"}, "image": {IMAGE: "a copy"}})
    folder = tmp_path_factory.mktemp("publish") / "out"
    return evidence, publish(evidence, folder)


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_folder_loads_with_all_truths(made):
    _, found = made
    bench = karat.load_benchmark(found.folder)
    assert list(bench.truths) == ["original", "complete", "corrected"]
    truth, saved = found.correction.truth, bench.truth("corrected")
    assert saved.about == truth.about
    for direction in ("i2t", "t2i"):
        mine, theirs = truth.judged(direction), saved.judged(direction)
        assert mine.item.tolist() == theirs.item.tolist()
        assert mine.grade.tolist() == theirs.grade.tolist()


def test_invalid_items_neither_ask_nor_are_ranked(made):
    _, found = made
    bench = karat.load_benchmark(found.folder)
    truth = bench.truth("corrected")
    assert CAPTION not in truth.queries["t2i"]
    assert IMAGE not in truth.queries["i2t"]
    assert not ((truth.judgments.image == IMAGE) | (truth.judgments.caption == CAPTION)).any()
    card = karat.evaluate(RUNS[0], bench, ["R@1"], truth="corrected")
    grade = np.zeros((40, 80))
    grade[truth.judgments.image, truth.judgments.caption] = truth.judgments.grade
    everything = RUNS[0].scores.astype(float)
    # By hand: the invalid ones are out of the table.
    valid = everything.copy()
    valid[IMAGE], valid[:, CAPTION] = -np.inf, -np.inf
    for direction, side in (("i2t", 1), ("t2i", 0)):
        hits, with_invalid = (
            first_is_right(scores, grade, truth.queries[direction], side) for scores in (valid, everything)
        )
        assert card.value("R@1", truth="corrected", direction=direction) == pytest.approx(hits)
        assert hits != with_invalid


def first_is_right(scores, grade, queries, side):
    """The share of queries with a positive whose first item is one."""
    scores, grade = (scores, grade) if side == 1 else (scores.T, grade.T)
    known = queries[grade[queries].sum(axis=1) > 0]
    return (grade[known, scores[known].argmax(axis=1)] > 0).mean()


def test_the_truth_is_people_and_originals(made):
    evidence, found = made
    verdicts, truth = found.correction.verdicts, found.correction.truth
    expected = dict(zip(key_of(verdicts.image, verdicts.caption).tolist(), verdicts.grade.tolist()))
    own = evidence.benchmark.truth("original").judgments
    for key in key_of(own.image, own.caption).tolist():
        expected[key] = 1.0
    gone = {k for k in expected if k >> 32 == IMAGE or k & 0xFFFFFFFF == CAPTION}
    pairs = truth.judgments.pairs()
    got = dict(zip(key_of(pairs.image, pairs.caption).tolist(), pairs.grade.tolist()))
    assert got == {key: grade for key, grade in expected.items() if key not in gone}


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


def test_the_same_input_gives_the_same_bytes(made, tmp_path):
    evidence, found = made
    again = publish(evidence, tmp_path / "again")
    assert bytes_of(again.folder) == bytes_of(found.folder)
    publish(evidence, tmp_path / "again")
    assert bytes_of(again.folder) == bytes_of(found.folder)
    assert os.listdir(tmp_path) == ["again"]
    dated = publish(evidence, tmp_path / "dated", made="2026-01-01")
    assert "2026-01-01" in (dated.folder / "README.md").read_text(encoding="utf-8")


def test_nothing_that_somebody_made_is_replaced(made, tmp_path):
    evidence, _ = made
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="did not publish"):
        publish(evidence, folder, force=True)
    assert os.listdir(folder) == ["thesis.tex"]
    (folder / "thesis.tex").unlink()
    publish(evidence, folder)
    (folder / "README.md").write_text("with a licence")
    with pytest.raises(InputError, match=r"'README.md' was changed"):
        publish(evidence, folder)
    assert (folder / "README.md").read_text() == "with a licence"
    publish(evidence, folder, force=True)
    assert (folder / "README.md").read_text(encoding="utf-8").startswith("# world-corrected")
    (folder / "more.txt").write_text("x")
    with pytest.raises(InputError, match=r"'more.txt' was changed"):
        publish(evidence, folder)
    link = tmp_path / "link"
    link.symlink_to(folder)
    for place in (link, tmp_path / "none" / "out", folder / "README.md"):
        with pytest.raises(InputError):
            publish(evidence, place)


def test_a_failure_leaves_what_was_there(made, tmp_path, monkeypatch):
    evidence, _ = made
    folder = publish(evidence, tmp_path / "out").folder
    before = bytes_of(folder)

    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("karat.judging.publishing.publish.write_provenance", fail)
    with pytest.raises(InputError, match="No space left"):
        publish(evidence, folder)
    assert bytes_of(folder) == before
    assert os.listdir(tmp_path) == ["out"]


def test_answers_that_do_not_count(tmp_path):
    evidence = small_evidence()
    used = evidence.answers.worker != 2
    found = publish(replace(evidence, used=used), tmp_path / "out")
    assert found.facts.counts["answers_used"] == used.sum()
    assert pl.read_parquet(tmp_path / "out" / "answers.parquet")["used"].to_list() == used.tolist()
    with pytest.raises(InputError, match="no answer counts"):
        publish(replace(evidence, used=np.zeros(len(used), bool)), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_machines_are_named(tmp_path):
    some = publish(small_evidence(machines=2), tmp_path / "some")
    card = (tmp_path / "some" / "README.md").read_text(encoding="utf-8")
    assert "**Machine judges gave" in card
    assert "vlm-0" in card
    assert not some.correction.truth.machine
    pairs = pl.read_parquet(tmp_path / "some" / "pairs.parquet")
    # Three people answer one half of the pairs; a person and two machines the other.
    assert set(pairs["judged_by"]) - {""} == {"people", "people and machines"}
    named = pairs.filter(pl.col("judged_by") == "people and machines")["sources"]
    assert all("people and machines" in sources for sources in named.to_list())
    assert "people and machines" in some.correction.truth.about
    everything = publish(small_evidence(machines=6), tmp_path / "all")
    truth = karat.load_benchmark(tmp_path / "all").truth("machine(corrected)")
    assert truth.machine
    assert everything.correction.truth.machine
    assert "Machines alone" in (tmp_path / "all" / "README.md").read_text(encoding="utf-8")


def test_people_may_reject_originals():
    evidence = small_evidence()
    wrong = np.flatnonzero(
        WORLD.benchmark().caption_image[evidence.answers.caption] == evidence.answers.image
    )
    rating = evidence.answers.rating.copy()
    rating[wrong] = 1
    evidence = replace(evidence, answers=replace(evidence.answers, rating=rating))
    kept = correct(evidence, aggregation="majority")
    gone = correct(evidence, aggregation="majority", original_policy="people")
    own = key_of(WORLD.benchmark().caption_image, np.arange(80))
    asked = np.isin(own, key_of(evidence.pool.image, evidence.pool.caption))
    assert asked.sum() > 40
    for found, expected in ((kept, 1.0), (gone, 0.0)):
        pairs = found.truth.judgments.pairs()
        grade = dict(zip(key_of(pairs.image, pairs.caption).tolist(), pairs.grade.tolist()))
        assert {grade[key] for key in own[asked].tolist()} == {expected}
        assert {grade[key] for key in own[~asked].tolist()} <= {1.0}


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


def test_wrong_names_are_refused(tmp_path):
    evidence = small_evidence()
    for name, message in (("a\n# b", "cannot be the name"), ("original", "already")):
        with pytest.raises(InputError, match=message):
            publish(evidence, tmp_path / "out", truth_name=name)
    with pytest.raises(InputError, match="no truth 'cxc'"):
        publish(evidence, tmp_path / "out", merge=["cxc"])
    with pytest.raises(InputError, match="aggregation"):
        publish(evidence, tmp_path / "out", aggregate="loudest")
    everything = {"image": dict.fromkeys(range(40), ""), "caption": dict.fromkeys(range(80), "")}
    with pytest.raises(InputError, match="no valid query"):
        publish(replace(evidence, marked=everything), tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_the_provenance_tells_how(made):
    evidence, found = made
    image, caption = evidence.benchmark.images[IMAGE], evidence.benchmark.captions[CAPTION]
    data = json.loads((found.folder / "karat-judging.json").read_text(encoding="utf-8"))
    assert data["format"] == "karat-judging"
    assert data["aggregation"]["method"] == "dawid-skene"
    assert data["invalid"] == {"caption": {caption: "no image"}, "image": {image: "a copy"}}
    assert set(data["files"]) == {path.name for path in found.folder.iterdir()} - {"karat-judging.json"}
    assert data["counts"]["people"] == 6
    assert data["made"] == ""


def test_one_direction_alone(tmp_path):
    evidence = small_evidence()
    pool = replace(evidence.pool, queries={"i2t": np.arange(20)})
    found = publish(replace(evidence, pool=pool), tmp_path / "out")
    truth = karat.load_benchmark(tmp_path / "out").truth("corrected")
    assert truth.queries["i2t"].tolist() == list(range(20))
    assert len(truth.queries["t2i"]) == 0
    # Originals that could never be scored are not there; everything that was answered is.
    own = np.flatnonzero(truth.judgments.source == len(truth.judgments.sources) - 1)
    assert truth.judgments.image[own].max() < 20
    assert len(found.correction.verdicts) == len(pool)
    assert not (tmp_path / "out" / "qrels-t2i.trec").exists()
    assert "nan" not in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    card = karat.evaluate(
        RUNS[0], karat.load_benchmark(tmp_path / "out"), truth="corrected", direction=["i2t"]
    )
    assert card.value("R@1", truth="corrected", direction="i2t") > 0


def test_a_pool_without_queries_asks_what_its_pairs_hold(tmp_path):
    evidence = small_evidence()
    found = correct(replace(evidence, pool=replace(evidence.pool, queries={})))
    assert found.truth.queries["i2t"].tolist() == np.unique(evidence.pool.image).tolist()
    assert found.truth.queries["t2i"].tolist() == np.unique(evidence.pool.caption).tolist()
