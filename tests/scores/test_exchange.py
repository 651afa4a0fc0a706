"""Scores for other programs: what Every Eval Ever asks for, and what the Hugging Face Hub reads."""

import json
import re
from datetime import UTC, datetime

import numpy as np
import pytest

import karat
from karat.benchmarks import ChoiceExample, build_choices
from karat.errors import InputError
from karat.runs import Fingerprint
from karat.scores import EXCHANGES, Scorecard, every_eval_ever, model_index
from karat.stats import Intervals
from karat.world import make_world, simulate

WORLD = make_world(20, seed=2)
FACTS = Fingerprint({
    "weights.sha256": "9f" * 32, "image.resize": 224, "text.prompt": None, "text.lower_case": True,
    "text.suffix": "\x7f: # \n☃😀",
})  # fmt: skip
HOSTILE = "a/b: #\x7f\n\"'☃😀"
MEASURES = ["R@1", "mAP@R", "MedR", "MRR@10", "nDCG@10", "RSUM"]
MADE = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def scored(*names, **options):
    runs = [simulate(WORLD, strength=2 + k, seed=k) for k in range(len(names))]
    for run in runs:
        run.made_with = FACTS
    return karat.evaluate(
        runs, WORLD.benchmark(), MEASURES, loading=karat.Loading(name=list(names)), **options
    )


@pytest.fixture(scope="module")
def card():
    return scored(HOSTILE, intervals=Intervals(resamples=99))


def texts(record):
    """Check that a dictionary of additional details holds text alone, as the schema asks."""
    assert all(isinstance(value, str) for value in record.values()), record
    return record


def check(record):
    """Check what the schema's version 0.3.0 requires of the parts that karat writes, in our own words."""
    assert record.keys() == {
        "schema_version", "evaluation_id", "evaluation_timestamp", "retrieved_timestamp", "source_metadata",
        "eval_library", "model_info", "evaluation_results",
    }  # fmt: skip
    assert record["schema_version"] == "0.3.0"
    assert re.fullmatch(r"\d+", record["retrieved_timestamp"])
    source = record["source_metadata"]
    assert source["source_type"] == "evaluation_run"
    assert source["evaluator_relationship"] in ("first_party", "third_party", "collaborative", "other")
    assert isinstance(source["source_organization_name"], str)
    assert {"name", "version"} <= record["eval_library"].keys()
    texts(record["eval_library"]["additional_details"])
    details = texts(record["model_info"]["additional_details"])
    assert details["deployment_type"] == details["model_availability"] == "unknown"
    assert record["evaluation_results"]
    for result in record["evaluation_results"]:
        assert {"evaluation_name", "source_data", "metric_config", "score_details"} <= result.keys()
        assert (result["source_data"]["source_type"], result["source_data"]["dataset_name"]) == (
            "other",
            "world",
        )
        texts(result["source_data"]["additional_details"])
        metric, score = result["metric_config"], result["score_details"]
        assert isinstance(metric["lower_is_better"], bool)
        assert metric["score_type"] == "continuous"
        assert metric["min_score"] <= score["score"] <= float(metric["max_score"])
        texts(metric["additional_details"])
        texts(score["details"])
        assert isinstance(score["uncertainty"]["num_samples"], int)


def test_a_record_says_every_score_with_its_interval(card):
    record = every_eval_ever(card, made=MADE)
    check(record)
    assert record["evaluation_id"] == f"world/{HOSTILE}/1772600767"
    assert record["model_info"]["additional_details"]["image.resize"] == "224"
    assert record["model_info"]["additional_details"]["text.prompt"] == "null"
    assert len(record["evaluation_results"]) == len(card)
    for column, result in zip(card, record["evaluation_results"]):
        assert result["score_details"]["score"] == column.value
        interval = result["score_details"]["uncertainty"]["confidence_interval"]
        assert (interval["lower"], interval["upper"]) == (column.low, column.high)
        assert interval["confidence_level"] == 0.95
        assert result["metric_config"]["additional_details"] == {
            "direction": column.direction, "truth": column.truth,
        }  # fmt: skip
        assert result["score_details"]["uncertainty"]["num_samples"] == column.n
    lower = {r["metric_config"]["metric_name"]: r["metric_config"]["lower_is_better"]
             for r in record["evaluation_results"]}  # fmt: skip
    assert [name for name, low in lower.items() if low] == ["MedR"]
    ids = [result["evaluation_result_id"] for result in record["evaluation_results"]]
    assert len(set(ids)) == len(ids)


def test_without_intervals_there_is_none(tmp_path):
    card = scored("plain", unjudged="bounds")
    card.save(tmp_path / "scores.eee.json")
    record = json.loads((tmp_path / "scores.eee.json").read_text(encoding="utf-8"))
    check(record)
    uncertain = [result["score_details"]["uncertainty"] for result in record["evaluation_results"]]
    assert all(entry.keys() == {"num_samples"} for entry in uncertain)
    bounds = record["evaluation_results"][0]["score_details"]["details"]
    assert float(bounds["lower_bound"]) <= float(bounds["upper_bound"])


def test_each_of_several_runs_has_its_file(tmp_path):
    card = scored("clip", HOSTILE, "a-b-☃")
    for ending in EXCHANGES:
        card.save(tmp_path / f"scores{ending}")
        assert {file.name for file in tmp_path.glob(f"*{ending}")} == {
            f"scores.clip{ending}", f"scores.a-b{ending}", f"scores.a-b-2{ending}",
        }  # fmt: skip
    with pytest.raises(InputError, match="the scorecard has 3 runs; say which: clip"):
        every_eval_ever(card)
    with pytest.raises(InputError, match="unknown run 'clop'; did you mean clip"):
        model_index(card, "clop")


def test_choices_have_no_unjudged_pairs(tmp_path):
    pair = ChoiceExample("0", ["a.jpg", "b.jpg"], ["a cup on a mat", "a mat on a cup"], [(0, 0), (1, 1)])
    bench = build_choices("world", [pair], where="cups.json", about="")
    card = karat.evaluate(
        np.array([[[0.9, 0.2], [0.3, 0.8]]]), bench, loading=karat.Loading(name="cups"), intervals=True
    )
    card.save(tmp_path / "cups.eee.json")
    record = json.loads((tmp_path / "cups.eee.json").read_text(encoding="utf-8"))
    check(record)
    assert record["eval_library"]["additional_details"] == {"ties": "pessimistic"}
    assert "chance" in record["evaluation_results"][0]["score_details"]["details"]
    assert model_index(card)[0]["results"]


def test_names_are_checked_before_the_work_starts():
    for ending in EXCHANGES:
        Scorecard.check_path(f"scores{ending}")
    with pytest.raises(InputError, match=r"has the extension '\.yml'"):
        Scorecard.check_path("scores.yml")


def test_the_hub_reads_the_model_index(card, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    yaml = pytest.importorskip("yaml")
    from huggingface_hub.repocard_data import model_index_to_eval_results

    card.save(tmp_path / "model-index.yaml")
    text = (tmp_path / "model-index.yaml").read_text(encoding="utf-8")
    block = yaml.safe_load(text)["model-index"]
    assert block == model_index(card)
    name, results = model_index_to_eval_results(block)
    assert name == HOSTILE

    def told(result):
        told = result.metric_args
        place = (result.dataset_type, result.dataset_config, told["direction"], result.metric_type)
        return (*place, result.metric_value, told["low"], told["high"], told["queries"], told["better"])

    def known(column):
        measure = str(getattr(column.measure, "measure", column.measure))
        place = ("world", column.truth, column.direction, measure)
        return (*place, column.value, column.low, column.high, column.n, column.measure.better)

    assert {*map(told, results)} == {*map(known, card)}
    # The card of a model keeps it when it is read and written again.
    again = hub.ModelCard(str(hub.ModelCard(f"---\n{text}---\n# My model\n")))
    assert {*map(told, again.data.eval_results)} == {*map(known, card)}


def test_facts_are_comments_of_the_block(card, tmp_path):
    card.save(tmp_path / "model-index.yaml")
    comments = (tmp_path / "model-index.yaml").read_text(encoding="utf-8").split("model-index:")[0]
    assert all(line.startswith("# ") for line in comments.splitlines())
    assert f"#   weights.sha256: {'9f' * 32}" in comments.splitlines()
