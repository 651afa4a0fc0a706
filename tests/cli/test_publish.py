"""``karat publish``: a folder that the other commands read, or a sentence that says why not."""

import json

import numpy as np
import pytest

from tests.judging.publication.published import small_project


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return small_project(tmp_path_factory.mktemp("project"))


def test_a_published_folder_is_scored(place, tmp_path, command):
    out = command("publish", place, "-o", tmp_path / "out", "-a", "majority", "--json", tmp_path / "how.json")
    assert f"karat evaluate RUN --benchmark {tmp_path / 'out'}" in out
    assert json.loads((tmp_path / "how.json").read_text())["choices"]["control"] == 0.7
    scores = np.zeros((30, 60), np.float32)
    np.save(tmp_path / "run.npy", scores)
    scored = command(
        "evaluate", tmp_path / "run.npy", "--benchmark", tmp_path / "out", "--truth", "corrected"
    )
    assert "mAP@R" in scored
    failed = command("publish", place, "-o", tmp_path, code=2)
    assert "did not publish" in failed
    (tmp_path / "invalid.csv").write_text("kind,id,status\ncaption,nope,remove\n")
    failed = command("publish", place, "-o", tmp_path / "two", "--invalid", tmp_path / "invalid.csv", code=2)
    assert "row 2: caption id nope is not in the benchmark" in failed
    assert not (tmp_path / "two").exists()
