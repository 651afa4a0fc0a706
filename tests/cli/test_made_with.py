"""What runs were made with: the wrong preprocessing is visible wherever two runs meet."""

import json
import re

import numpy as np
import pytest

import karat
from karat.benchmarks import save_benchmark
from karat.runs import Fingerprint, convert
from karat.scores import RECORD, read_leaderboard
from karat.world import make_world, simulate

RIGHT = Fingerprint({
    "weights.sha256": "9f" * 32, "image.resize": 224, "image.interpolation": "bicubic",
    "text.prompt": "a photo of {}", "captions.truncated": 0,
})  # fmt: skip
WRONG = RIGHT.with_facts({"image.resize": 256, "image.interpolation": "bilinear", "captions.truncated": 3})
DIFFER = (
    "right and wrong have the same model (weights.sha256), but differ in image.interpolation (bicubic, "
    "bilinear) and image.resize (224, 256): a difference between their scores is not due to the model"
)
CUT = "wrong: 3 captions are longer than the model reads and are cut"


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two runs of the same weights, one with another preprocessing, and one that states nothing."""
    monkeypatch.chdir(tmp_path)
    world = make_world(20, seed=3)
    save_benchmark(world.benchmark(), "my")
    for name, made_with, strength in (("right", RIGHT, 3), ("wrong", WRONG, 2), ("silent", None, 1)):
        scores = simulate(world, strength=strength, seed=1).scores
        convert(scores, target=tmp_path / f"{name}.npz", benchmark=world.benchmark(), made_with=made_with)
    return ("-b", "my", "-m", "R@1,R@5", "--truth", "original")


@pytest.mark.parametrize("verb", ["evaluate", "compare"])
def test_the_wrong_preprocessing_is_visible(both, runs, verb):
    captured = both(verb, "right.npz", "wrong.npz", "silent.npz", *runs)
    assert f"note: {CUT}\nnote: {DIFFER}\n" in captured.err
    assert "silent" not in "".join(re.findall(r"note: .* differ .*", captured.err))
    alone = both(verb, "right.npz", "silent.npz", *runs)
    assert "differ in" not in alone.err


def test_inspect_prints_it(command, runs):
    out = command("inspect", "wrong.npz", "-b", "my")
    facts = (
        "captions.truncated 3, image.interpolation bilinear, image.resize 256, text.prompt a photo of {}, "
    )
    assert f"\n  made with {facts}" in out
    assert "made with" not in command("inspect", "silent.npz", "-b", "my")


def test_records_keep_their_keys_and_the_facts_are_beside_them(both, command, runs, tmp_path):
    for name in ("right", "wrong", "silent"):
        command("evaluate", f"{name}.npz", *runs, "--json", f"{name}.json")
        assert set(json.loads((tmp_path / f"{name}.json").read_text())[0]) == set(RECORD)
    assert json.loads((tmp_path / "wrong.runs.json").read_text()) == {"wrong": dict(WRONG.facts)}
    assert not (tmp_path / "silent.runs.json").exists()
    # The record of the run itself, beside which the scores lie, is another file.
    assert karat.load_run("wrong.npz").made_with == WRONG
    board = read_leaderboard("right.json", "wrong.json", "silent.json")
    assert board.notes == (CUT, DIFFER)
    # A folder's files of facts are not taken for scores.
    assert DIFFER in both("board", "report", ".", "-o", "board.html").err


def test_facts_of_earlier_scores_do_not_stay(command, runs, tmp_path):
    command("evaluate", "wrong.npz", *runs, "--json", "scores.json")
    command("evaluate", "silent.npz", "--name", "wrong", *runs, "--json", "scores.json")
    assert json.loads((tmp_path / "scores.runs.json").read_text()) == {}
    (tmp_path / "scores.runs.json").write_text('{"wrong": [1]}')
    error = command("board", "correlate", "scores.json", code=2)
    assert "scores.runs.json, wrong: what the run was made with is not a list of facts" in error


def test_a_comparison_as_json_has_the_facts(command, runs, tmp_path):
    command("compare", "right.npz", "silent.npz", *runs, "--json", "found.json")
    assert json.loads((tmp_path / "found.json").read_text())["made_with"] == {"right": dict(RIGHT.facts)}


def test_the_report_shows_what_differs_first_and_folds_the_rest(command, runs, tmp_path):
    command("compare", "right.npz", "wrong.npz", "silent.npz", *runs, "-o", "report.html")
    page = (tmp_path / "report.html").read_text()
    part = page[page.index('<section id="fingerprints"') :].split("</section>")[0]
    differ, same = part.split("<details")
    assert re.findall(r'<th scope="row"><bdi>([^<]*)', differ) == [
        "captions.truncated", "image.interpolation", "image.resize",
    ]  # fmt: skip
    assert re.findall(r'<th scope="row"><bdi>([^<]*)', same) == ["text.prompt", "weights.sha256"]
    assert 'Nothing is stated about <bdi class="called">silent</bdi>' in differ
    command("evaluate", "silent.npz", *runs, "-o", "report.html")
    assert "fingerprints" not in (tmp_path / "report.html").read_text()


def test_a_fused_run_says_what_was_fused(command, runs, tmp_path):
    out = command("fuse", "right.npz", "wrong.npz", "-b", "my", "--weight", "2,1", "-o", "both.json")
    assert out == "wrote both.json and both.made_with.json\n"
    facts = karat.load_run("both.json").made_with.facts
    assert facts["fusion.method"] == "borda"
    assert (facts["fusion.run1.name"], facts["fusion.run1.weight"]) == ("right", 2.0)
    assert (facts["run1.image.resize"], facts["run2.image.resize"]) == (224, 256)
    assert facts["weights.sha256"] == RIGHT.facts["weights.sha256"]
    assert command("fuse", "silent.npz", "silent.npz", "-b", "my", "-o", "more.json") == "wrote more.json\n"


def test_choices_keep_it(tmp_path):
    from karat.benchmarks import ChoiceExample, build_choices

    pair = ChoiceExample("0", ["a.jpg", "b.jpg"], ["a cup on a mat", "a mat on a cup"], [(0, 0), (1, 1)])
    bench = build_choices("cups", [pair], where="cups.json", about="")
    np.save(tmp_path / "run.npy", np.array([[[0.9, 0.2], [0.3, 0.8]]]))
    (tmp_path / "run.made_with.json").write_text(RIGHT.to_json())
    card = karat.evaluate(tmp_path / "run.npy", bench)
    assert card.made_with == {"run": RIGHT}
