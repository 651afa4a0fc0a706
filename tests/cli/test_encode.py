"""``karat encode`` with models that are named, and with changed captions."""

import json

import numpy as np
import pytest

import karat

MODULE = """
def words(texts):
    return [[text.split().count(word) + 0.1 for word in ("a", "two", "red", "blue", "cat")] for text in texts]
"""


@pytest.fixture
def here(tmp_path, monkeypatch, command):
    """A folder with a benchmark, changed captions and a user's module."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "worded.py").write_text(MODULE)
    (tmp_path / "pets.csv").write_text(
        "image,caption\nx.jpg,a red cat\nx.jpg,a cat\ny.jpg,two red dogs\ny.jpg,two dogs\n"
    )
    photos = tmp_path / "my"
    photos.mkdir()
    (tmp_path / "pets.csv").rename(photos / "captions.csv")
    for name in ("x.jpg", "y.jpg"):
        (photos / name).write_bytes(b"not read")
    command("perturb", "my", "--kind", "colour", "-o", "queries.tsv")
    return tmp_path


def test_a_model_of_texts_writes_scores_and_says_so(both, here):
    done = both("encode", "worded:words", "-b", "my", "-o", "before.npy")
    assert "wrote before.npy" in done.out
    assert "worded:words encodes no pictures: an image is the mean of its captions' vectors" in done.err
    assert np.load("before.npy").shape == (2, 4)
    assert "R@1" in both("evaluate", "before.npy", "-b", "my").out
    both("encode", "worded:words", "-b", "my", "-o", "short.npy", "--summarise", "extractive")
    assert not np.array_equal(np.load("short.npy"), np.load("before.npy"))


@pytest.mark.parametrize("target", ["after.npy", "after.npz", "after.parquet"])
def test_changed_captions_keep_their_ids_and_order(command, here, target):
    command("encode", "worded:words", "-b", "my", "-o", target, "--queries", "queries.tsv")
    rows = [line.split("\t") for line in (here / "queries.tsv").read_text().splitlines()[1:]]
    assert len(rows) == 2
    run = karat.load_run(target)
    assert [str(name) for name in run.ids["captions"]] == [row[0] for row in rows]
    command("captions", "table", "my", "-m", "bow", "--leave-out", "--queries", "queries.tsv", "-o", "b.npy")
    assert np.load("b.npy").shape == (2, 2)
    ids = json.loads((here / "b.ids.json").read_text())["captions"]
    assert [str(name) for name in ids] == [row[0] for row in rows]


def test_mistakes(command, here):
    assert "encodes no pictures" in command("search", "worded:words", "a cat", "--in", "my", code=2)
    assert "no_such" in command("encode", "no_such:f", "-b", "my", "-o", "a.npy", code=2)
    missing = command("encode", "worded:words", "-b", "my", "-o", "a.npy", "--queries", "none.tsv", code=2)
    assert "none.tsv" in missing
    assert not (here / "a.npy").exists()


@pytest.mark.parametrize("ending", [".json", ".trec"])
def test_files_of_ranked_lists_are_refused_before_the_work(here, ending):
    import subprocess
    import sys

    words = ["encode", "no_such_module:words", "-b", "my", "-o", f"x{ending}"]
    done = subprocess.run([sys.executable, "-m", "karat", *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert (
        f"a {ending} file holds ranked lists, not vectors or scores; use one of .safetensors" in done.stderr
    )
