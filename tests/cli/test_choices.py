"""Benchmarks of choices on the command line."""

import json

import numpy as np
import pytest

from tests import choice_files


@pytest.fixture
def runs(tmp_path):
    file = choice_files.winoground(tmp_path)
    for seed, name in enumerate(("a", "b")):
        np.save(tmp_path / f"{name}.npy", np.random.default_rng(seed).normal(size=(12, 2, 2)))
    return file, tmp_path / "a.npy", tmp_path / "b.npy"


def test_evaluate(command, runs, tmp_path):
    file, run, _ = runs
    out = command("evaluate", run, "-b", "winoground", "--set", f"file={file}", "--json", tmp_path / "a.json")
    assert "truth" in out
    assert "chance" in out
    records = json.loads((tmp_path / "a.json").read_text())
    chances = {record["measure"]: round(100 * record["chance"], 2) for record in records}
    assert chances == {"Text": 25.0, "Image": 25.0, "Group": 16.67}
    command("evaluate", run, "-b", file, "-o", tmp_path / "page.html")
    assert "collapsed_tag=Both" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_compare_and_report(command, runs, tmp_path):
    file, *both = runs
    out = command("compare", *both, "-b", file, "--resamples", 99, "--truth", "all")
    assert "Differences on all, a − b" in out
    command("report", *both, "-b", file, "-o", tmp_path / "report.html", "--resamples", 99)
    assert "Differences" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_benchmarks(command, runs, monkeypatch):
    monkeypatch.delenv("KARAT_DATA", raising=False)
    assert "winoground  Winoground: examples.jsonl" in command("benchmarks")
    assert "12 examples by 2 images by 2 captions" in command("benchmarks", "show", runs[0])
    error = command("benchmarks", "show", "winoground", code=2)
    assert "winoground comes without examples.jsonl; name the file: --set file=examples.jsonl" in error


def test_errors_are_one_line(command, runs, tmp_path):
    file, run, _ = runs
    np.save(tmp_path / "flat.npy", np.zeros((12, 4)))
    error = command("evaluate", tmp_path / "flat.npy", "-b", file, code=2)
    assert "has 12 by 4 scores, but winoground has 12 examples by 2 images by 2 captions" in error
    error = command("evaluate", run, "-b", file, "--text-only", "nothing", code=2)
    assert "no text-only control of this name" in error


@pytest.mark.parametrize(
    "words",
    [("inspect",), ("explain",), ("project", "pool", "-o", "p.db"), ("fuse", "-o", "f.csv"), ("plan",)],
)
def test_what_needs_a_gallery_refuses(command, runs, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file, *both = runs
    given = both[: 2 if "fuse" in words else 1]
    assert "has no gallery to rank" in command(*words, *given, "-b", file, code=2)
