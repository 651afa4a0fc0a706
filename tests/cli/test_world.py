"""``karat world make``: a folder that the other commands read, or a sentence that says why not."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

import karat
from karat.cli import show


def test_a_world_with_pictures(command, tmp_path):
    out = command("world", "make", "-o", tmp_path / "w", "--images", 12, "--captions", 3, "--seed", 7)
    lines = out.splitlines()
    assert lines[0] == f"{tmp_path / 'w'}: 12 images with 36 captions, seed 7"
    assert lines[1].startswith("a caption is true of ")
    assert "the original labels contain 36 of the " in lines[2]
    assert lines[3] == "wrote the benchmark, images/*.png"
    assert lines[4] == f"next: karat evaluate YOUR-SCORES.npy --benchmark {tmp_path / 'w'}"
    assert len(list((tmp_path / "w" / "images").glob("*.png"))) == 12
    assert json.loads((tmp_path / "w" / "world.json").read_text())["seed"] == 7
    bench = karat.load_benchmark(tmp_path / "w")
    assert (bench.images.size, bench.captions.size) == (12, 36)


def test_runs_whose_true_order_is_another(command, tmp_path):
    out = command("world", "make", "-o", tmp_path / "w", "--images", 150, "--no-images", "--systems")
    assert "6 runs in runs/" in out
    assert not (tmp_path / "w" / "images").exists()
    runs = sorted((tmp_path / "w" / "runs").glob("*.npy"))
    assert len(runs) == 6
    out = command("evaluate", *runs, "--benchmark", tmp_path / "w", "--json", tmp_path / "out.json")
    assert "complete" in out
    records = json.loads((tmp_path / "out.json").read_text())

    def order(truth: str, measure: str) -> list[str]:
        scores: dict[str, list[float]] = {}
        for record in records:
            if record["truth"] == truth and record["measure"] == measure and record["direction"] == "t2i":
                scores.setdefault(record["run"], []).append(record["value"])
        return sorted(scores, key=lambda run: -np.mean(scores[run]))

    assert order("complete", "mAP@R")[0] == "seer"
    assert set(order("original", "R@1")[:2]) == {"memoriser", "short-sighted"}


def test_a_terminal_shows_how_far_it_is(both, tmp_path, monkeypatch):
    options = ["world", "make", "--images", 3, "--captions", 1, "--systems"]
    assert both(*options, "-o", tmp_path / "piped").err == ""
    screen = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(show, "console", lambda stderr=False: screen)
    both(*options, "-o", tmp_path / "seen")
    shown = screen.file.getvalue()
    assert "making 3 scenes" in shown


def test_the_same_seed_gives_the_same_files(command, tmp_path):
    for name in ("a", "b"):
        command("world", "make", "-o", tmp_path / name, "--images", 3, "--captions", 2, "--seed", 5)
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--images", 0], "images is 0; give a whole number from 1 to"),
        (["--captions", 0], "captions is 0"),
        (["--captions", 99], "captions is 99"),
        (["--seed", -3], "--seed"),
        (["--images", "many"], "--images"),
    ],
)
def test_wrong_numbers_are_one_line(command, tmp_path, arguments, message):
    error = command("world", "make", "-o", tmp_path / "w", *arguments, code=2)
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "w").exists()


def test_folders_that_cannot_be_used(command, tmp_path):
    (tmp_path / "file").write_text("")
    assert "is a file; give the name of a folder" in command("world", "make", "-o", tmp_path / "file", code=2)
    assert "cannot create a folder there" in command("world", "make", "-o", tmp_path / "file" / "w", code=2)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    options = ["world", "make", "-o", tmp_path / "full", "--images", 2, "--no-images"]
    assert "is not empty; choose another folder, or pass --force" in command(*options, code=2)
    command(*options, "--force")
    assert (tmp_path / "full" / "notes.txt").read_text() == "mine"
    assert "-o" in command("world", "make", code=2)
