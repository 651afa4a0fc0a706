"""Active testing: the parts of its replication on small data; the full run takes minutes."""

import importlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.benchmarks import Truth
from karat.captions.metric import CAPTION_METRICS
from karat.captions.similarity import pair_scores
from karat.estimation import Curve, Simulated
from karat.measures import parse_measure
from karat.models import TextMetric
from karat.runs import MatrixRun
from karat.world import make_world

FOLDER = Path(__file__).parents[2] / "replications"
KEYS = ["table", "row", "column", "paper", "ours", "note"]
PARTS = (
    "_active_curves",
    "_active_nuswide",
    "_active_retrieval",
    "_text_systems",
    "active_testing",
    "_active_segmentation",
)
DIRECTIONS = ("t2i", "i2t")


@pytest.fixture(scope="module")
def parts():
    """The modules of the replication by name."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in PARTS}
    finally:
        sys.path.remove(str(FOLDER))
        for name in (*PARTS, "_paper", "_hodosh_store", "_nuswide_systems"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def bench():
    return make_world(images=12, captions=3, seed=2).benchmark()


def embedded(texts):
    """Embeddings of a made-up sentence model: counts of letters."""
    return np.array(
        [[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], float
    )


def check_contract(records, tables):
    assert {record["table"] for record in records} == tables
    for record in records:
        assert list(record) == KEYS
        assert record["ours"] is not None or record["note"]
    assert len({(r["table"], r["row"], r["column"]) for r in records}) == len(records)


@pytest.fixture
def metrics():
    return [CAPTION_METRICS["bow"], TextMetric(embedded), CAPTION_METRICS["cider"]]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_tables_of_some_queries_hold_what_single_pairs_have(parts, bench, metrics, direction):
    """A table by blocks and a list of pairs are two ways to the same numbers."""
    queries = np.array([1, 4, 7])
    for metric in metrics:
        table = parts["_text_systems"].query_table(bench, metric, direction, queries)
        image, caption = (side.ravel() for side in np.indices((bench.images.size, bench.captions.size)))
        whole = pair_scores(bench, metric, image, caption, leave_out=True)
        whole = whole.reshape(bench.images.size, -1)
        expected = whole[:, queries] if direction == "t2i" else whole[queries]
        np.testing.assert_allclose(table, expected, atol=1e-5)


def test_a_caption_never_meets_itself():
    """An own caption scores as if it were not among the captions of its image: by hand, with numpy."""
    texts = ["dog dog cat", "cat bird", "cat", "fish", "sun", "sea"]
    tiny = karat.benchmarks.build("tiny", list("wxyz"), range(6), list("wwwxyz"), texts, where="", about="")
    bags = CAPTION_METRICS["bow"]
    own = pair_scores(tiny, bags, [0, 0], [0, 3], leave_out=True)
    words = ["dog", "cat", "bird", "fish"]
    # Every word is in the captions of one image, so all have the same idf.
    counts = np.array([[text.split().count(word) for word in words] for text in texts], float)
    rest, asked = counts[1] + counts[2], counts[0]
    assert own[0] == pytest.approx(rest @ asked / np.linalg.norm(rest) / np.linalg.norm(asked))
    assert own[1] == 0
    sentences = TextMetric(embedded)
    rows = embedded(texts) / np.linalg.norm(embedded(texts), axis=1, keepdims=True)
    rest = rows[1] + rows[2]
    expected = rest @ rows[0] / np.linalg.norm(rest)
    assert pair_scores(tiny, sentences, [0], [0], leave_out=True)[0] == pytest.approx(expected)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_only_queries_scores_as_the_whole_benchmark(parts, bench, direction):
    scores = np.random.default_rng(0).normal(size=(bench.images.size, bench.captions.size))
    queries = np.array([2, 5, 6])
    truth = bench.truth("complete")
    small = parts["_text_systems"].only_queries(bench, {"complete": truth}, direction, queries)
    cut = scores[:, queries] if direction == "t2i" else scores[queries]
    whole = karat.evaluate(
        MatrixRun(scores), bench, "RP", truth="complete", direction=direction, ties="stable"
    )
    part = karat.evaluate(MatrixRun(cut), small, "RP", direction=direction, ties="stable")
    values = whole.columns[0].values[queries]
    np.testing.assert_allclose(part.columns[0].values, values, atol=1e-12)


def test_borda_orders_lists_as_fuse_does(parts, bench):
    rng = np.random.default_rng(1)
    tables = {name: rng.normal(size=(bench.images.size, bench.captions.size)) for name in "abc"}
    fused = karat.fuse([MatrixRun(table, name) for name, table in tables.items()], bench, direction=["i2t"])
    query = np.repeat(np.arange(bench.images.size), bench.captions.size)
    score = parts["_active_retrieval"].borda(query, {name: table.ravel() for name, table in tables.items()})
    score = score.reshape(bench.images.size, -1)
    for image, name in enumerate(bench.images.gallery.tolist()):
        order = bench.captions.index(fused.raw["i2t"][name])
        assert (np.diff(score[image, order]) <= 1e-12).all()


def test_paired_intervals_and_outcomes(parts):
    mean, low, high = parts["_active_curves"].paired(
        np.array([0.03, 0.05, 0.04]), np.array([0.02, 0.02, 0.02])
    )
    # By hand: differences 1, 3, 2 points; t of 2 degrees of freedom is 4.3027.
    assert (mean, high - mean, mean - low) == pytest.approx((2, 4.3027 / 3**0.5, 4.3027 / 3**0.5), abs=1e-4)
    estimate = np.array([[[0.5, 0.2]], [[0.7, 0.8]]])
    curve = Curve(
        "random+naive", np.array([0.2]), estimate, np.array([[0.1], [0.3]]), np.full((2, 1), np.nan)
    )
    result = Simulated(
        parse_measure("RP"), "t2i", ("a", "b"), np.array([0.5, 0.4]), np.zeros(2), 10, 10, 1.0, (curve,)
    )
    found = parts["_active_retrieval"].outcome(result, curve)
    assert found == pytest.approx(
        {
            "largest |bias| of a system": 10.0,  # of 0 and +0.2, and of −0.2 and +0.4
            "mean |error| of a score": 20.0,
            "absolute error per query": 20.0,
            "squared error of gaps": 1e4 * (0.2**2 + 0.2**2) / 2,
            "wrong order": 50.0,
        }
    )


def test_nuswide_in_small(parts, data, monkeypatch, capsys):
    """All figures on six tags, with made-up scores in place of the classifiers, which take long to fit."""
    module = parts["_active_nuswide"]
    labels = np.zeros((107859, 71), np.float32)
    pairs = module.benchmark(data).truth("gt").judgments.pairs()
    labels[pairs.image, pairs.caption] = 1

    noise = np.random.default_rng(0).standard_normal(labels.shape, dtype=np.float32)

    def made_up(data_dir, systems):
        return [MatrixRun(noise + k * labels, name) for k, name in enumerate(systems, start=1)]

    monkeypatch.setattr(module, "matrix_runs", made_up)
    monkeypatch.setattr(module, "SYSTEMS", ("logistic", "logistic-10"))
    makers = {
        "4.1": module.section_4_1, "5": module.figure_5, "S1": module.supplement_1, "6": module.figure_6,
        "8": module.figure_8,
    }  # fmt: skip
    records = [record for make in makers.values() for record in make(data, times=2, tags=6)]
    check_contract(records, set(makers))
    found = {(r["table"], r["row"], r["column"]): r["ours"] for r in records}
    assert found["4.1", "noisy tags", "recall"] == pytest.approx(2.656, abs=0.001)
    assert (
        found["5", "random+naive", "absolute error at 50%"] < found["5", "naive", "error of the mean at 0%"]
    )
    assert found["S1", "NUS-WIDE", "true Precision@48"] > 0
    shown = capsys.readouterr().out
    assert all(method in shown for method in ("mcm+naive", "meec+learned", "meec+direct"))
    assert "100%" in shown
    assert "0.00 ± 0.00" in shown


def test_instance_segmentation(parts, data, monkeypatch, capsys):
    """COCO's sample, with the quick estimator and two of the systems."""
    module = parts["_active_segmentation"]
    quick = ("whole-images+vetted-only", "random+naive", "meec+direct")
    for name, value in {
        "DETECTION_METHODS": quick, "FURTHER": (), "LEARNED": "meec+direct", "COMPARING": quick, "BATCH": 0.5,
        "DRAWS": 8,
    }.items():  # fmt: skip
        monkeypatch.setattr(module, name, value)
    systems = module.systems
    monkeypatch.setattr(module, "systems", lambda data: systems(data)[:2])
    records = [*module.figure_3(data), *module.figure_7(data, times=2), *module.figure_8(data, times=2)]
    check_contract(records, {"3", "7", "8"})
    found = {(r["table"], r["row"], r["column"]): r["ours"] for r in records}
    assert found["3", "detections with masks", "COCO's AP by masks"] == pytest.approx(31.95, abs=0.01)
    assert found["3", "detections with masks", "COCO's AP by boxes"] == pytest.approx(12.62, abs=0.01)
    assert found["7", "meec+direct − random+naive", "absolute error per category, difference"] < 0
    assert found["8", "detections, vetted only", "wrong order at 50% vetted, text"] is not None
    assert "Pairs in the wrong order" in capsys.readouterr().out


@pytest.fixture
def retrieval(parts, monkeypatch):
    """The simulation with two quick systems."""
    module = parts["_active_retrieval"]
    quick = {name: CAPTION_METRICS[name] for name in ("bow", "hodosh-bleu")}
    monkeypatch.setattr(module, "text_metrics", lambda: (quick, "quick systems"))
    return module


def test_retrieval_within_candidates(retrieval, bench, monkeypatch, capsys):
    """A world in place of COCO: its complete labels stand for those of ECCV Caption."""
    original, complete = bench.truth("original"), bench.truth("complete")
    truths = {"coco-5k": original, "eccv": Truth("eccv", complete.judgments, complete.queries)}
    monkeypatch.setattr(retrieval, "load_coco", lambda data: replace(bench, truths=truths))
    monkeypatch.setattr(retrieval, "DEPTH", 3)
    monkeypatch.setattr(retrieval, "SAMPLE", 1)
    task = retrieval.eccv(None, "t2i", None)
    records = retrieval.task_records("eccv t2i", task, times=2)
    check_contract(records, {"retrieval"})
    found = {(r["row"], r["column"]): r["ours"] for r in records}
    positives = int((complete.judged("t2i").grade > 0).sum())
    assert task.positives == positives
    assert found["eccv t2i", "recall of the candidates"] == pytest.approx(
        100 * task.relevant.sum() / positives
    )
    assert found["eccv t2i: whole-queries+vetted-only", "absolute error per query at 20%"] is None
    assert set(task.candidates.scores) == set(task.candidates.runs) == {"bow", "hodosh-bleu", "fusion"}
    assert "are not listed in eccv and count as vetted no" in capsys.readouterr().out


def test_retrieval_in_condensed_lists(retrieval, data):
    """The experts of Flickr8k, for few images."""
    records = retrieval.retrieval(data, times=2, queries=40, tasks=("expert i2t",))
    check_contract(records, {"retrieval"})
    found = {(r["row"], r["column"]): r["ours"] for r in records}
    assert found["expert i2t", "recall of the candidates"] == 100
    assert found["expert i2t", "queries"] == 40
    bench = retrieval.flickr8k(data)
    image = bench.truth("expert").judgments.pairs().image
    assert found["expert i2t", "candidates"] == np.isin(image, np.unique(image)[:40]).sum()


def test_the_command_line_without_data(tmp_path):
    run = [sys.executable, FOLDER / "active_testing.py"]
    env = {key: value for key, value in os.environ.items() if key != "KARAT_DATA"}
    subprocess.run([*run, "--times", "2", "--json", tmp_path / "all.json"], check=True, env=env)
    records = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    check_contract(records, {"3", "4.1", "5", "S1", "6", "7", "8", "retrieval"})
    assert all(record["ours"] is None for record in records)
    assert sum(record["paper"] is not None for record in records) == 14
    wrong = subprocess.run([*run, "--times", "0"], capture_output=True, text=True, env=env)
    assert wrong.returncode == 2
    assert "times is 0; give a whole number from 1" in wrong.stderr
