"""Publishing: what is in the folder, that it loads and scores, and that nothing is lost or leaked."""

import json
import os
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karat
from karat.errors import InputError
from karat.judging import AcceptanceRule, publish
from karat.store import open_project
from karat.world import make_world
from tests.judging.publication.published import (
    CAPTION,
    IMAGE,
    RUNS,
    bytes_of,
    small_evidence,
    small_project,
)


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


def test_invalid_items_are_neither_queries_nor_ranked(made):
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

    monkeypatch.setattr("karat.judging.publication.publication.write_provenance", fail)
    with pytest.raises(InputError, match="No space left"):
        publish(evidence, folder)
    assert bytes_of(folder) == before
    assert os.listdir(tmp_path) == ["out"]


def test_answers_that_do_not_count(tmp_path):
    evidence = small_evidence()
    used = evidence.answers.annotator != 2
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
    assert "250 by people and machine judges" in some.correction.truth.about
    everything = publish(small_evidence(machines=6), tmp_path / "all")
    truth = karat.load_benchmark(tmp_path / "all").truth("machine(corrected)")
    assert truth.machine
    assert everything.correction.truth.machine
    assert "Machine judges alone" in (tmp_path / "all" / "README.md").read_text(encoding="utf-8")


def test_wrong_names_are_refused(tmp_path):
    evidence = small_evidence()
    for name, message in (("a\n# b", "cannot be the name"), ("original", "already")):
        with pytest.raises(InputError, match=message):
            publish(evidence, tmp_path / "out", truth_name=name)
    with pytest.raises(InputError, match="no truth 'cxc'"):
        publish(evidence, tmp_path / "out", merge=["cxc"])
    with pytest.raises(InputError, match="aggregation"):
        publish(evidence, tmp_path / "out", acceptance=AcceptanceRule("loudest"))
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


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return small_project(tmp_path_factory.mktemp("project"))


def test_a_project_is_published(place, tmp_path):
    with open_project(place) as project:
        found = publish(project, tmp_path / "out")
        answers, assignments = project.answers.read(), project.queue.assignments()
    table = pl.read_parquet(tmp_path / "out" / "answers.parquet")
    rejected = answers.assignment == assignments.assignment[0]
    assert rejected.any()
    assert (~table["used"]).to_list() == rejected.tolist()
    assert found.notes[0].endswith("of rejected assignments are left out")
    truth = karat.load_benchmark(tmp_path / "out").truth("corrected")
    assert 4 not in truth.queries["t2i"]
    data = json.loads((tmp_path / "out" / "karat-judging.json").read_text(encoding="utf-8"))
    assert data["counts"]["hand_ins"] == {"approve": 0, "reject": 1}
    assert data["choices"]["control"] is None
    assert data["project"] == "try"
    # Careful people say "yes" where every statement holds, "partially" where most do.
    pairs = found.correction.answered.judgments.pairs()
    world = make_world(images=30, captions=2, seed=5)
    right = (world.pair_relevance(pairs.image, pairs.caption) > 0) == (pairs.grade == 1)
    assert right.mean() > 0.95


def test_gold_pairs_have_no_verdicts(place, tmp_path):
    with open_project(place) as project:
        plan, pool = project.pools.plan(), project.pools.read()
        found = publish(project, tmp_path / "out")
    verdicts = found.correction.verdicts
    pooled = set(zip(pool.image.tolist(), pool.caption.tolist()))
    assert set(zip(verdicts.image.tolist(), verdicts.caption.tolist())) <= pooled
    assert found.facts.counts["gold_items"] == (plan.gold >= 0).sum()


def test_nobody_was_approved_yet(place, tmp_path):
    with open_project(place) as project, pytest.raises(InputError, match="no answer counts"):
        publish(project, tmp_path / "out", acceptance=AcceptanceRule(approved_only=True))
