"""``karat captions curve``, ``--phi`` and machine-made truths as a user meets them."""

import json

import numpy as np
import pytest

from karat.benchmarks import save_benchmark
from karat.world import make_world, simulate


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small world and two runs on disk."""
    folder = tmp_path_factory.mktemp("curve")
    world = make_world(40, seed=3)
    save_benchmark(world.benchmark(), folder / "world")
    for strength in (1, 4):
        np.save(folder / f"s{strength}.npy", simulate(world, strength, seed=1).scores)
    np.save(folder / "N.npy", np.exp(simulate(world, 8, seed=9).scores))
    return folder


def test_curve(command, folder, tmp_path):
    out = command(
        "captions", "curve", folder / "s1.npy", folder / "s4.npy", "-b", folder / "world", "--m", "1,5,10",
        "--truth", "original", "--json", tmp_path / "curve.json", "-o", tmp_path / "curve.html",
    )  # fmt: skip
    assert "SR(cider, m=5, gt=no)@5" in out
    assert "any=yes" in out
    assert "\nValues in percent; ties are pessimistic." in out
    records = json.loads((tmp_path / "curve.json").read_text())
    assert len(records) == 2 * 2 * 3 * 3
    assert "Recall by meaning" in (tmp_path / "curve.html").read_text(encoding="utf-8")
    assert "whole numbers" in command(
        "captions", "curve", folder / "s1.npy", "-b", folder / "world", "--m", "0", code=2
    )
    assert "similarity 'cidre'" in command(
        "captions", "curve", folder / "s1.npy", "-b", folder / "world", "--by", "cidre", code=2
    )


def test_own_similarity(command, folder):
    out = command(
        "evaluate", folder / "s4.npy", "-b", folder / "world", "-m", "NCS(mine)@5,NSUM(mine)",
        "--phi", f"mine={folder / 'N.npy'}", "--truth", "original",
    )  # fmt: skip
    assert "NCS(mine)@5" in out
    said = command("evaluate", folder / "s4.npy", "-b", folder / "world", "-m", "NCS(mine)@5", code=2)
    assert "similarity 'mine'" in said


def test_machine_truth(both, folder):
    found = both(
        "evaluate", folder / "s4.npy", "-b", folder / "world", "-m", "RP,nDCG@5",
        "--truth", "original,Machine(CIDEr>=1.0)",
    )  # fmt: skip
    assert "machine(cider>=1)" in found.out
    assert "no person judged" in found.out + found.err
    wrong = ("evaluate", folder / "s4.npy", "-b", folder / "world", "--truth", "machine(cider)")
    assert "not a machine-made truth" in both(*wrong, code=2).err


def test_captions_are_missing(command, folder, monkeypatch):
    monkeypatch.delenv("KARAT_DATA", raising=False)
    said = command("evaluate", folder / "s4.npy", "-b", "coco", "-m", "NCS(cider)@5", code=2)
    assert "needs the captions of coco" in said
