"""``karat explain``: whose fault."""

import numpy as np

from karat.world import make_world, simulate


def test_marks_are_counted_and_left_out(tmp_path, command):
    world = make_world(40, captions=3, seed=5)
    world.save(tmp_path / "w", pictures=False)
    np.save(tmp_path / "s.npy", simulate(world, strength=3).scores)
    shown = command(
        "explain", str(tmp_path / "s.npy"), "-b", str(tmp_path / "w"), "--better", "complete",
        "--keywords", "2", "--without", "alternative", "--without", "keywords", "--direction", "t2i",
    )  # fmt: skip
    assert "alternatives  few keywords  left out" in shown


def test_the_page_of_failures(tmp_path, command):
    world = make_world(30, captions=2, seed=5)
    world.save(tmp_path / "w")
    np.save(tmp_path / "s.npy", simulate(world, strength=3).scores)
    page = tmp_path / "failures.html"
    shown = command(
        "explain", str(tmp_path / "s.npy"), "-b", str(tmp_path / "w"), "-o", str(page),
        "--clean", str(tmp_path / "clean.csv"),
    )  # fmt: skip
    assert f"wrote {page}" in shown
    head = (tmp_path / "clean.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head == "caption,image,score,reasons,concepts,words,rank,text"
    text = page.read_text(encoding="utf-8")
    assert "<title>" in text
    assert "karat explain" in text
    assert "data:image/" in text
