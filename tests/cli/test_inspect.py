"""``karat inspect --duplicates``: prints and writes what the library returns."""

import json

import numpy as np
import pytest

import karat
from karat.benchmarks import build, save_benchmark

TEXTS = ["a dog", "two dogs run", "Two dogs run.", "a cat", "two dogs run"]


@pytest.fixture
def pets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bench = build("pets", ["x", "y", "z"], range(5), ["x", "x", "y", "z", "z"], TEXTS, where="", about="")
    save_benchmark(bench, "pets")
    return karat.load_benchmark("pets")


def test_a_benchmark_alone(command, pets):
    out = command("inspect", "-b", "pets", "--duplicates", "--json", "pairs.json", "-o", "page.html")
    assert out.rstrip("\n") == str(karat.find_duplicates(pets))
    with open("pairs.json", encoding="utf-8") as file:
        assert json.load(file) == karat.find_duplicates(pets).records()
    with open("page.html", encoding="utf-8") as file:
        assert "same words" in file.read()


def test_a_run_is_scored_with_duplicates(command, pets):
    np.save("sims.npy", np.eye(3, 5))
    out = command("inspect", "sims.npy", "-b", "pets", "--duplicates")
    assert "duplicates(original)" in out


def test_against_a_training_set(command, pets):
    out = command("inspect", "-b", "pets", "--duplicates", "--against", "pets", "--near", "words=0.5")
    assert "captions  same text       5   5  100.00%" in out
    np.save("images.npy", np.eye(3, 4))
    np.save("captions.npy", np.eye(5, 4) + 1)
    np.save("train.npy", np.eye(4)[:1])
    out = command(
        "inspect", "images.npy", "captions.npy", "-b", "pets", "--duplicates", "--against", "train.npy"
    )
    assert "images    same vector      1   3  33.33%" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no run was given; name its file, or pass --duplicates"),
        (["sims.npy", "--against", "pets"], "about duplicates; pass --duplicates"),
        (["--duplicates", "--near", "pixels=1"], "--near has no 'pixels'; choose picture, words, vector"),
        (["--duplicates", "--near", "words=2"], "near_words is 2"),
        (["--duplicates", "--against", "nowhere"], "nowhere"),
    ],
)
def test_what_is_wrong(command, pets, arguments, message):
    np.save("sims.npy", np.eye(3, 5))
    assert message in command("inspect", *arguments, "-b", "pets", code=2)
