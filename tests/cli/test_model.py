"""``--model``: from a model to scores and a report in one command, and once only."""

import json

import numpy as np
import pytest

import karat
from karat.errors import InputError
from karat.models.encoders import hf
from tiny_models import TEXTS, save_models, save_pictures


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return save_models(tmp_path_factory.mktemp("models"), ("clip", "siglip"))


def test_the_whole_command(both, folders, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my").mkdir()
    lines = ["image,caption"]
    save_pictures(tmp_path / "my")
    for k in range(5):
        lines += [f"{k}.png,{text}" for text in (f"a dog {'runs ' * k}", TEXTS[-1] if k == 1 else f"two {k}")]
    (tmp_path / "my" / "captions.csv").write_text("\n".join(lines))
    names = [f"hf:{folders / name}" for name in ("clip", "siglip")]
    np.save("noise.npy", np.random.default_rng(0).random((5, 10)))

    words = ["evaluate", "noise.npy", "--model", names[0], "--model", names[1], "-b", "my", "-m", "R@1,MedR"]
    done = both(*words, "-o", "report.html", "--json", "first.json")
    assert "siglip: 1 caption is longer than the model reads and is cut after 12 tokens, first" in done.err
    assert "siglip" in (tmp_path / "report.html").read_text()
    monkeypatch.setattr(hf.HuggingFaceFiles, "load", None)
    both(*words, "--json", "again.json")
    first, again = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("first", "again"))
    assert first == again
    assert {record["run"] for record in first} == {"noise", "clip", "siglip"}
    # A run in a folder, and Python, give the same.
    both("encode", names[0], "-b", "my", "-o", "run")
    run = karat.load_run("run")
    assert run.made_with.facts["captions.truncated"] == 3
    assert run.made_with.facts["architecture"] == "CLIPModel"
    for source in (run, karat.load_model(names[0])):
        card = karat.evaluate(source, "my", "MedR")
        expected = [
            r for r in first if (r["run"], r["measure"]) == ("clip", "MedR") and r["direction"] == "i2t"
        ]
        assert card.value("MedR", direction="i2t") == expected[0]["value"]
    # By its name in place of a run's file, everywhere.
    named = ["noise.npy", names[0], "-b", "my"]
    both("compare", *named, "-m", "MedR", "--json", "named.json")
    assert json.loads((tmp_path / "named.json").read_text())
    both("project", "pool", *named, "--top", "2", "-o", "project.db")
    assert karat.load_run(names[0], karat.load_benchmark("my"), name="mine").name == "mine"
    with pytest.raises(InputError, match="a model needs a benchmark"):
        karat.load_run(names[0])
    assert "no run was given" in both("evaluate", "-b", "my", code=2).err
    assert "there is no folder 'nowhere'" in both("evaluate", "--model", "hf:nowhere", "-b", "my", code=2).err
    assert "already exists" in both("encode", names[0], "-b", "my", "-o", "run", code=2).err
    (tmp_path / "my" / "3.png").unlink()
    gone = both("evaluate", "--model", names[0], "-b", "my", code=2).err
    assert "3.png" in gone


def test_the_name_of_a_run_imports_nothing(both, tmp_path, monkeypatch):
    """A project names the runs of its goal: a file must not be able to name code."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')\ndef encode(texts): pass\n")
    both("world", "make", "-o", "my", "--images", "10")
    for name in ("evil:encode", "function:evil:encode"):
        assert f"{name}: there is no such file" in both("evaluate", name, "-b", "my", code=2).err
