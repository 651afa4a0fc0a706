"""``karat project publish``: a folder that the other commands read, or a sentence that says why not."""

import json

import numpy as np
import pytest

from tests.judging.publication.published import small_project


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return small_project(tmp_path_factory.mktemp("project"))


def test_a_published_folder_is_scored(place, tmp_path, command):
    out = command(
        "project", "publish", place, "-o", tmp_path / "out", "-a", "majority", "--json", tmp_path / "how.json"
    )
    assert f"karat evaluate RUN --benchmark {tmp_path / 'out'}" in out
    assert json.loads((tmp_path / "how.json").read_text())["choices"]["control"] == 0.7
    scores = np.zeros((30, 60), np.float32)
    np.save(tmp_path / "run.npy", scores)
    scored = command(
        "evaluate", tmp_path / "run.npy", "--benchmark", tmp_path / "out", "--truth", "corrected"
    )
    assert "mAP@R" in scored
    failed = command("project", "publish", place, "-o", tmp_path, code=2)
    assert "did not publish" in failed
    (tmp_path / "invalid.csv").write_text("kind,id,status\ncaption,nope,remove\n")
    failed = command(
        "project", "publish", place, "-o", tmp_path / "two", "--invalid", tmp_path / "invalid.csv", code=2
    )
    assert "row 2: caption id nope is not in the benchmark" in failed
    assert not (tmp_path / "two").exists()


def test_a_published_folder_is_scored_with_uncertain_labels(place, tmp_path, command):
    """Annotators disagree on few pairs here; what matters is that the folder carries the probabilities."""
    command("project", "publish", place, "-o", tmp_path / "out")
    assert "--label-uncertainty" in (tmp_path / "out" / "README.md").read_text("utf-8")
    np.save(tmp_path / "run.npy", np.random.default_rng(1).normal(size=(30, 60)).astype(np.float32))
    evaluate = ("evaluate", tmp_path / "run.npy", "-b", tmp_path / "out", "-m", "R@1,RP")
    chosen = ("--label-uncertainty", "--resamples", 200)
    said = command(*evaluate, "--truth", "corrected", *chosen, "--json", tmp_path / "scores.json")
    assert "200 resamples of images with their captions, and 200 draws of uncertain labels" in said
    assert "200 versions of the labels were drawn from their probabilities" in said
    records = json.loads((tmp_path / "scores.json").read_text())
    assert all(record["low"] <= record["high"] for record in records)
    refused = command(*evaluate, *chosen, code=2)
    assert "the labels of truth 'original' have no probabilities" in refused
    assert "--truth corrected" in refused
    command("project", "publish", place, "-o", tmp_path / "plain", "-a", "majority")
    assert "--label-uncertainty" not in (tmp_path / "plain" / "README.md").read_text("utf-8")
    refused = command(
        "evaluate", tmp_path / "run.npy", "-b", tmp_path / "plain", "--truth", "corrected", *chosen, code=2
    )
    assert "-a dawid-skene" in refused
