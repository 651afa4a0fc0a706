"""`make demo`, made small: the story that it tells and the files that it leaves."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from karat.baselines import ImageTextModel
from karat.world import make_world

DEMO = Path(__file__).parent.parent / "examples" / "demo.py"


@pytest.fixture
def demo(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "DEMO", tmp_path / "demo")
    return module


def test_the_demo_tells_its_story(demo, capsys):
    demo.main(images=60, trained=60)
    said = capsys.readouterr().out
    orders = re.findall(r"by (?:R@1|mAP@R): +(.+)", said)
    systems = ["colour-blind", "kcca", "learner", "memoriser", "number-blind", "seer", "short-sighted"]
    assert [sorted(order.split(" > ")) for order in orders] == [systems, systems]
    # Ten guesses among sixty pictures, by the labels.
    assert re.search(r"pictures for a caption +[\d.]+% +\(16\.7%\)", said)
    assert max(map(len, said.splitlines())) <= 106
    assert "kcca" in (demo.DEMO / "report.html").read_text(encoding="utf-8")
    assert np.load(demo.DEMO / "kcca.npy").shape == (60, 300)
    assert ImageTextModel.load(demo.DEMO / "model").image == "histogram"


def test_the_demo_learns_from_other_pictures(demo):
    scored, learned = (
        make_world(images, demo.CAPTIONS, seed)
        for images, seed in ((demo.IMAGES, demo.SEED), (demo.TRAINED, demo.TRAINING_SEED))
    )
    seen = {learned.picture(number).tobytes() for number in range(demo.TRAINED)}
    assert seen.isdisjoint(scored.picture(number).tobytes() for number in range(demo.IMAGES))
