"""A run that is encoded file by file: killed and continued it has the same bytes; nothing else goes on."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.errors import InputError, KaratError
from karat.models import Encoder, encoding
from karat.world import make_world, save_world
from strangers import UNIX, WRITTEN
from tiny_models import edit_json

MODULE = """
import os, pathlib, time, zlib
import numpy as np

def vectors(items):
    if pathlib.Path("stop").exists() and pathlib.Path(OUT, "captions-00001.safetensors").exists():
        pathlib.Path("stopped").touch()
        time.sleep(120)
    return [np.random.default_rng(zlib.crc32(os.path.basename(item).encode())).random(8) for item in items]

OUT = "run"
images = texts = vectors
"""
COMMAND = (
    "import sys; from karat.models import encoding; encoding.ROWS = 7\n"
    "sys.argv = ['karat', 'encode', 'killed:images,texts', '-b', 'my', '-o', 'run']\n"
    "from karat.cli.main import main; main()"
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world") / "my"
    save_world(make_world(10, captions=3, seed=4), folder)
    return folder


def content(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_killed_and_continued_gives_the_same_bytes(world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my").symlink_to(world)
    (tmp_path / "killed.py").write_text(MODULE)
    (tmp_path / "stop").touch()
    process = subprocess.Popen([sys.executable, "-c", COMMAND], stderr=subprocess.DEVNULL)
    for _ in range(600):
        if (tmp_path / "stopped").exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    left = content(tmp_path / "run")
    assert "index.json" not in left
    assert {"unfinished.json", "images-00001.safetensors", "captions-00001.safetensors"} <= left.keys()
    with pytest.raises(KaratError, match="run: is not finished; run the same karat encode again"):
        karat.load_run("run")
    # What a killed writer leaves behind.
    (tmp_path / "run" / ".images-00001.0123abcd.part.safetensors").write_bytes(b"half")
    (tmp_path / "stop").unlink()
    subprocess.run([sys.executable, "-c", COMMAND], check=True, capture_output=True)
    killed = content(tmp_path / "run")
    assert left.items() - killed.items() == {("unfinished.json", left["unfinished.json"])}
    (tmp_path / "run").rename(tmp_path / "before")
    subprocess.run([sys.executable, "-c", COMMAND], check=True, capture_output=True)
    assert content(tmp_path / "run") == killed
    assert len(killed) == 2 + 5 + 1


def noise(seed=0, width=8):
    """A model that gives random vectors, and remembers what it was asked."""
    asked = []

    def vectors(items):
        asked.extend(items)
        return np.random.default_rng(seed).random((len(items), width))

    return Encoder("noise", vectors, vectors, facts=lambda: {"seed": seed}), asked


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(encoding, "ROWS", 7)


def test_a_folder_is_read_as_the_run_that_was_written(world, tmp_path, small):
    model, asked = noise()
    bench = karat.load_benchmark(world)
    run = karat.encode(model, bench, output=tmp_path / "run")
    assert len(asked) == bench.images.size + bench.captions.size
    assert run.name == "noise"
    # How many captions it cut, a model that states no limit does not say.
    assert run.made_with.facts == {"model": "noise", "encoding.version": 1, "text.prompt": "{}", "seed": 0}
    assert list(run.ids["captions"]) == bench.captions.gallery.tolist()
    assert karat.evaluate(str(tmp_path / "run"), bench, "R@1").runs == ["run"]
    karat.convert(tmp_path / "run", target=tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as stored:
        assert stored["images"].shape == (10, 8)
        np.testing.assert_allclose(np.linalg.norm(stored["captions"], axis=1), 1)
    with pytest.raises(InputError, match="already exists; name a new folder"):
        karat.encode(model, bench, output=tmp_path / "run")


def interrupted(world, folder):
    """Begin a run, and stop after the pictures."""
    model, _ = noise()

    def stop(texts):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        karat.encode(Encoder("noise", model.images, stop, facts=model.facts), world, output=folder)


def test_another_model_or_benchmark_does_not_continue(world, tmp_path, small):
    interrupted(world, tmp_path / "run")
    with pytest.raises(
        InputError, match=r"begun with another model \(seed was 0 and is 1\); delete the folder"
    ):
        karat.encode(noise(seed=1)[0], world, output=tmp_path / "run")
    bench = karat.load_benchmark(world)
    queries = {str(bench.captions.gallery[0]): "a changed caption"}
    with pytest.raises(InputError, match="was begun with other captions or pictures"):
        karat.encode(noise()[0], bench, queries=queries, output=tmp_path / "run")
    picture, copy = Path(bench.image_paths[0]), tmp_path / "copy"
    shutil.copytree(world, copy)
    other = copy / picture.relative_to(world)
    content = other.read_bytes()
    # As many bytes as before.
    other.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(InputError, match="was begun with other captions or pictures"):
        karat.encode(noise()[0], copy, output=tmp_path / "run")
    model, asked = noise()
    karat.encode(model, world, output=tmp_path / "run")
    # The pictures are there already.
    assert len(asked) == bench.captions.size


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda folder: (folder / "images-00001.safetensors").unlink(),
            "images-00001.safetensors: is missing",
        ),
        (lambda folder: (folder / "index.json").write_text("{}"), "is not the index of a run"),
        (lambda folder: edit_json(folder / "index.json", rows=0), "index.json: has the rows 0; encode it"),
        (lambda folder: edit_json(folder / "index.json", rows=-7), "index.json: has the rows -7; encode it"),
        (lambda folder: edit_json(folder / "index.json", width=0), "index.json: has the width 0; encode it"),
        (
            lambda folder: edit_json(folder / "index.json", counts={"images": 0, "captions": 20}),
            "has the counts.images 0",
        ),
        (lambda folder: (folder / "images-00001.safetensors").write_bytes(b""), "not a complete safetensors"),
        (
            lambda folder: os.replace(
                folder / "images-00000.safetensors", folder / "images-00001.safetensors"
            ),
            "images-00000.safetensors: is missing",
        ),
        (
            lambda folder: (folder / "images-00001.safetensors").write_bytes(
                (folder / "images-00000.safetensors").read_bytes()
            ),
            r"has vectors of shape \(7, 8\), but the index says \(3, 8\)",
        ),
    ],
)
def test_a_damaged_folder_is_refused(world, tmp_path, small, damage, message):
    karat.encode(noise()[0], world, output=tmp_path / "run")
    damage(tmp_path / "run")
    with pytest.raises(KaratError, match=message) as caught:
        karat.load_run(tmp_path / "run")
    assert "\n" not in str(caught.value)


def test_what_cannot_be_sharded_is_refused(world, tmp_path, small):
    with pytest.raises(InputError, match="encodes no pictures and gives a table of scores"):
        karat.encode(lambda texts: [[1.0]] * len(texts), world, output=tmp_path / "run")
    wide, narrow = noise()[0], noise(width=4)[0]
    with pytest.raises(InputError, match="rows have 4 numbers, but those before have 8"):
        karat.encode(Encoder("two", wide.images, narrow.texts), world, output=tmp_path / "run")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("")
    with pytest.raises(InputError, match="already exists"):
        karat.encode(wide, world, output=tmp_path / "full")
    assert json.loads((tmp_path / "run" / "unfinished.json").read_text())["rows"] == 7


@UNIX
@pytest.mark.parametrize("spoil", WRITTEN)
@pytest.mark.parametrize("what", ["unfinished.json", "images-00000.safetensors", "."])
def test_what_others_may_have_begun_does_not_go_on(world, tmp_path, small, what, spoil):
    interrupted(world, tmp_path / "run")
    spoil(tmp_path / "run" / what)
    with pytest.raises(InputError, match=r"if you trust it, make it yours alone .*; else delete it"):
        interrupted(world, tmp_path / "run")
